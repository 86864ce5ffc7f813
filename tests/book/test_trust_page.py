"""The page on the simulated GPU states how much was compared: its numbers are those of the recorded data."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests import test_recorded_runs as runs
from tests.simulator.checks import test_defects_on_h200 as defects
from tests.simulator.checks.test_defects import DEFECTS
from tests.simulator.counters import test_counters_on_h200 as counters
from tests.simulator.instructions.products import FORMS as SUMS
from tests.simulator.instructions.record_approximations import sweeps
from tests.simulator.machine_code.test_driver_code import OTHER_OPCODES
from tests.simulator.machine_code.test_driver_code import RECORDED as MACHINE_CODE
from tests.simulator.test_approximations import estimated
from tests.simulator.test_driver_answers import RECORDED as DRIVER_ANSWERS
from tests.simulator.test_instructions_on_h200 import recording
from tests.simulator.test_tensors_on_h200 import CASES as TENSORS
from tooling.simulator.counters.metrics import COMPARABLE
from tooling.verify.plan import Subject

ROOT = Path(__file__).parents[2]
PAGES = ("book/src/trust.md", "i18n/ko/book/src/trust.md")


def compared() -> dict[str, list[int]]:
    """The numbers of each row of the table, by the test that the row names."""
    instructions, _ = recording()
    exact = [sweep for sweep in sweeps() if not estimated(sweep)]
    debugged = [puzzle for puzzle in runs.ALL if puzzle not in runs.SEEDED]
    return {
        "tests/simulator/test_instructions_on_h200.py": [
            len(instructions),
            sum(results.size for results in instructions.values()),
        ],
        "tests/simulator/test_approximations.py": [
            len({sweep.text for sweep in exact}),
            sum(sweep.cases for sweep in exact),
        ],
        "tests/simulator/test_sums_on_h200.py": [len(SUMS)],
        "tests/simulator/test_tensors_on_h200.py": [len(TENSORS)],
        "tests/test_recorded_runs.py": [
            len(runs.cases(runs.ALL, Subject.SOLUTION)),
            len(runs.cases(debugged, Subject.SKELETON)),
            sum(case.trial.id not in runs.NOT_RECORDED for case in runs.DEFINED),
        ],
        "tests/simulator/test_driver_answers.py": [sum(map(len, DRIVER_ANSWERS.values()))],
        "tests/simulator/counters/test_counters_on_h200.py": [len(counters.CASES), len(COMPARABLE)],
        "tests/simulator/checks/test_defects_on_h200.py": [len(DEFECTS)],
        "tests/simulator/machine_code/test_driver_code.py": [len(MACHINE_CODE)],
    }


@pytest.mark.parametrize("page", PAGES)
def test_the_table_has_the_numbers_of_the_tests_that_it_names(page: str) -> None:
    rows = [line.split("|")[1:-1] for line in (ROOT / page).read_text("utf-8").splitlines()]
    found = {
        path[0]: [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", cells[1])]
        for cells in rows
        if len(cells) == 4 and (path := re.search(r"tests/[\w/.]+", cells[3]))
    }
    assert found == compared()


@pytest.mark.parametrize("page", PAGES)
def test_the_kernels_with_the_opcodes_of_the_driver_are_counted(page: str) -> None:
    (row,) = re.findall(
        r"^\| .*machine_code/test_driver_code.*$", (ROOT / page).read_text("utf-8"), re.MULTILINE
    )
    assert re.findall(r"\d+", row.split("|")[3]) == [str(len(MACHINE_CODE) - len(OTHER_OPCODES))]


@pytest.mark.parametrize("page", PAGES)
def test_the_findings_of_both_and_of_one_alone_are_counted(page: str) -> None:
    verdicts = Counter(one["verdict"] for one in defects.RECORDED["compared"].values())
    text = (ROOT / page).read_text("utf-8")
    section = re.split(r"^## ", text, flags=re.MULTILINE)[3]
    numbers = [int(number) for number in re.findall(r"\b\d+", section.split("\n\n")[1])]
    assert numbers == [len(DEFECTS), verdicts["same"], verdicts["better"]]


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_the_page_names_exists(page: str) -> None:
    named = set(re.findall(r"\btests/[\w/.]+", (ROOT / page).read_text("utf-8")))
    assert named
    assert [path for path in named if not (ROOT / path.rstrip(".")).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_short_answer_counts_the_estimates_of_the_table(page: str) -> None:
    lines = (ROOT / page).read_text("utf-8").splitlines()
    rows = [line.split("|")[1:-1] for line in lines if re.match(r"\| [^|]+ \| \d+ \| [\d.]+% \|", line)]
    compared, inside = (sum(int(row[column]) for row in rows) for column in (1, 5))
    answer = next(line for line in lines if re.search(r"\d%.*\]\(#", line))
    numbers = {int(number) for number in re.findall(r"\d+", answer)}
    assert numbers == {compared, inside, round(100 * inside / compared)}
