"""Right answers of other kinds than the solutions: the judge looks at results, not at the way to them.

Where a puzzle is about shared memory, the answer has to read some.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from pathlib import Path

import pytest
import yaml
from msgspec import Struct, convert

from tests.cli.conftest import REPOSITORY
from tests.machine import needs_simulated_gpu
from tooling.catalog.catalogue import load_catalogue, select
from tooling.catalog.model import ModeKind, ProgramLanguage
from tooling.judging.verdict import Outcome
from tooling.project import Project
from tooling.targets.model import Choice, TargetKind
from tooling.targets.probing import SIMULATED_GPUS
from tooling.toolchain import find_toolchain, open_cache
from tooling.trials import Trial, build_trial, judge_trial

_REGION = r"((?:def|comptime) {function}\b.*?\n)( *)# (FILL|FIX)\b[^\n]*\n.*?# END_\3\n"


class Answer(Struct, frozen=True):
    """What a learner may write instead of the solution's lines.

    Attributes:
        targets: the simulated GPUs that judge it
        function: the function, or the constant, that precedes the region; without it, there are only edits
        body: replaces the region's lines, indented as the region is
        edits: replaces other text of the solution, such as the number of threads; each key occurs once in it
    """

    name: str
    puzzle: str
    flags: tuple[str, ...] = ()
    targets: tuple[TargetKind, ...] = (TargetKind.SIM,)
    function: str = ""
    body: str = ""
    imports: str = ""
    edits: dict[str, str] = {}

    def applied_to(self, solution: str) -> str:
        text = self._with_body(solution) if self.function else solution
        for old, new in self.edits.items():
            assert text.count(old) == 1, f"{self.name}: not once in the program: {old}"
            text = text.replace(old, new)
        return f"{self.imports}\n{text}"

    def _with_body(self, solution: str) -> str:
        region = re.compile(_REGION.format(function=self.function), re.DOTALL)
        text, found = region.subn(
            lambda match: match.group(1) + textwrap.indent(self.body, match.group(2)), solution, count=1
        )
        assert found == 1, f"{self.name}: no such region"
        return text


ANSWERS = convert(yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text("utf-8")), list[Answer])
JUDGED = [(answer, kind) for answer in ANSWERS for kind in answer.targets]
_LEAST = 4
"""Answers to each puzzle that does not need MAX."""
_IDS = [f"{answer.puzzle}-{answer.name}-{kind.value}" for answer, kind in JUDGED]


def test_every_mode_has_right_answers_of_other_kinds() -> None:
    wanted = [
        (puzzle.id, mode.flags)
        for puzzle in load_catalogue(Project(REPOSITORY))
        for mode in puzzle.modes
        if mode.kind is ModeKind.PUZZLE
        and not any(program.language is ProgramLanguage.PYTHON for program in puzzle.programs)
    ]
    answered = {(answer.puzzle[:3], answer.flags) for answer in ANSWERS}
    assert [mode for mode in wanted if mode not in answered] == []
    counts = Counter(answer.puzzle[:3] for answer in ANSWERS)
    assert {puzzle: counts[puzzle] for puzzle, _ in wanted if counts[puzzle] < _LEAST} == {}


def test_an_answer_fits_its_program() -> None:
    project = Project(REPOSITORY)
    for answer in ANSWERS:
        solution = select(project, answer.puzzle, answer.flags, ()).program.solution
        answer.applied_to(solution.read_text("utf-8"))  # asserts that its region and its edits are there


@pytest.mark.slow
@pytest.mark.mojo
@needs_simulated_gpu
@pytest.mark.parametrize(("answer", "kind"), JUDGED, ids=_IDS)
def test_a_right_answer_passes(answer: Answer, kind: TargetKind) -> None:
    project = Project(REPOSITORY)
    selection = select(project, answer.puzzle, answer.flags, ())
    program = selection.program
    text = answer.applied_to(program.solution.read_text("utf-8"))
    source = open_cache().store_program(program.solution, {program.problem.name: text})
    trial = Trial(selection, Choice(SIMULATED_GPUS[kind], "a test"), source)
    executable = build_trial(project, trial, find_toolchain(), open_cache())
    verdict = judge_trial(trial, executable, project, find_toolchain(), open_cache())
    assert [problem.name for case in verdict.cases for problem in case.problems] == []
    assert [finding.kind for case in verdict.cases for finding in case.findings] == []
    assert verdict.outcome is Outcome.PASSED
