"""Programs that print all that a solution prints and did not compute it: each must be judged wrong.

The stubs are small scripts in place of a built program, one test for every judged mode of every program in
the catalogue. They run as on a GPU, where launches are not counted: the buffers alone decide. A mode that is
smaller on the simulated GPU is tried there, and so is one whose right answer is the same with all data, which
could be written into a program: there it is the launch that is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.machine import NO_SIMULATED_GPU
from tooling.catalog.catalogue import Selection, every_selection, load_catalogue
from tooling.catalog.model import Mode, ModeKind
from tooling.execution.channel import VARIABLE
from tooling.judging.reference import Array, Reference, ReferenceCase, load_reference
from tooling.judging.verdict import Outcome, Verdict
from tooling.project import find_project
from tooling.targets.model import Choice, Target, TargetKind
from tooling.targets.probing import SIMULATED
from tooling.toolchain import BuildRequest, Executable
from tooling.trials import Trial, run_trial

pytestmark = [pytest.mark.slow, pytest.mark.mojo]  # the simulated GPU is built

PROJECT = find_project(Path(__file__).parent)
GPU = Target(TargetKind.NVIDIA, "a GPU", "sm_90a", (9, 0))
JUDGED = [
    each
    for each in every_selection(load_catalogue(PROJECT))
    if each.mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN)
]
SCRIPT = f"""\
#!/bin/sh
# What the program worked on and handed in lies ready for each data set; only the probe's is staged.
if [ -d "${VARIABLE}/in" ]; then cd "$(dirname "$0")/probe"; else cd "$(dirname "$0")/book"; fi
cp -r used out "${VARIABLE}"
cat text
"""
Buffers = Mapping[str, Array]
_MOST_SHOWN = 32  # elements that a line shows before it is cut short


def printed(case: ReferenceCase, number: int) -> str:
    """All that a solution prints, and more: every label, the right values, the word of success."""
    lines = []
    for name, array in case.expected.items():
        shown = [str(value) for value in array.ravel()[:_MOST_SHOWN].tolist()]
        values = ", ".join(shown + ["..."] * (array.size > _MOST_SHOWN))
        lines += [f"{name}: HostBuffer([{values}])", f"expected: HostBuffer([{values}])"]
    return "\n".join([*lines, f"Puzzle {number:02} complete ✅\n"])


def write(folder: Path, buffers: Buffers) -> None:
    folder.mkdir(parents=True)
    for name, array in buffers.items():
        content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        (folder / f"{name}.{array.dtype.name}.bin").write_bytes(content)


def judged(
    selection: Selection, target: Target, folder: Path, answers: Mapping[str, tuple[Buffers, Buffers, str]]
) -> Verdict:
    """The verdict on a stub with these (used, handed in, printed) for each data set."""
    for dataset, (used, out, text) in answers.items():
        write(folder / dataset / "used", used)
        write(folder / dataset / "out", out)
        (folder / dataset / "text").write_text(text, "utf-8")
    program = folder / "program"
    program.write_text(SCRIPT)
    program.chmod(0o755)
    trial = Trial(selection, Choice(target, "the test's"), program)
    return run_trial(trial, Executable(program, BuildRequest(program), key=""))


def with_last_changed(outputs: Buffers) -> Iterator[dict[str, Array]]:
    """The right outputs, but for the last element of one of them."""
    for name, array in outputs.items():
        changed = array.copy()
        last = changed.reshape(-1)[-1:]
        last[:] = last == 0 if last.dtype.kind == "b" else last.astype(np.float64) + 7
        yield {**outputs, name: changed}


def has_one_answer(reference: Reference, mode: Mode) -> bool:
    """Whether the right outputs are the same with all data sets."""
    book, *others = (reference.case(mode, dataset).expected for dataset in mode.datasets)
    return all(np.array_equal(book[name], each[name]) for each in others for name in each)


@pytest.mark.parametrize("selection", JUDGED, ids=lambda selection: selection.command)
def test_a_program_that_only_prints_success_is_judged_wrong(selection: Selection, tmp_path: Path) -> None:
    mode = selection.mode
    reference = load_reference(selection.puzzle)
    simulated = mode.scaled or has_one_answer(reference, mode)
    if simulated and NO_SIMULATED_GPU:
        pytest.skip(NO_SIMULATED_GPU)
    target = SIMULATED if simulated else GPU
    sized = target.sized(mode)
    cases = {dataset: reference.case(sized, dataset, simulated=simulated) for dataset in mode.datasets}
    texts = {dataset: printed(case, selection.puzzle.number) for dataset, case in cases.items()}
    book = cases["book"]

    def stub(
        used: Mapping[str, Buffers], out: Mapping[str, Buffers]
    ) -> dict[str, tuple[Buffers, Buffers, str]]:
        return {dataset: (used[dataset], out[dataset], texts[dataset]) for dataset in cases}

    nothing: dict[str, Buffers] = {dataset: {} for dataset in cases}
    used = {dataset: case.inputs for dataset, case in cases.items()}
    right = {dataset: case.expected for dataset, case in cases.items()}
    books_inputs = dict.fromkeys(cases, book.inputs)
    books_answer = dict.fromkeys(cases, book.expected)
    zeros = {
        dataset: {name: np.zeros_like(array) for name, array in case.expected.items()}
        for dataset, case in cases.items()
    }
    stubs = {
        "prints alone": stub(nothing, nothing),
        "stages, and submits nothing": stub(used, nothing),
        "submits, and stages nothing": stub(nothing, right),
        "submits zeros": stub(used, zeros),
        "knows the book's answer": stub(used, books_answer),
        "works on the book's data always": stub(books_inputs, books_answer),
    }
    for dataset in cases:
        for index, changed in enumerate(with_last_changed(right[dataset])):
            stubs[f"last element of output {index} wrong with {dataset}"] = stub(
                used, {**right, dataset: changed}
            )
    if not simulated:
        honest = judged(selection, target, tmp_path / "honest", stub(used, right))
        # Not wrong: what is judged above is the lie and nothing else.
        assert honest.outcome in (Outcome.PASSED, Outcome.UNDECIDED), honest.names
    for number, (name, answers) in enumerate(stubs.items()):
        verdict = judged(selection, target, tmp_path / str(number), answers)
        assert verdict.outcome is Outcome.WRONG, name
