"""What a learner reads after a typical mistake, in every language."""

from __future__ import annotations

import io
import re
from pathlib import Path

import yaml
from msgspec import Struct, convert

from tests.cli.conftest import REPOSITORY
from tooling.catalog.catalogue import Selection, select
from tooling.catalog.model import Program
from tooling.project import Project
from tooling.reports.console import show_verdict
from tooling.reports.terminal import ProgramOutput, Terminal
from tooling.targets.model import Choice
from tooling.targets.probing import SIMULATED
from tooling.toolchain import BuildFailed, find_toolchain, open_cache
from tooling.trials import Trial, build_trial, judge_trial

FOLDER = Path(__file__).parent
GOLDEN = FOLDER / "golden"
LANGUAGES = ("en", "ko")
_WIDTH = 10_000  # no line is wrapped: where one breaks would depend on the length of a path


class Mistake(Struct, frozen=True):
    """A mistake, as edits of a solution: what to replace, and with what."""

    name: str
    puzzle: str
    edits: dict[str, str]
    flags: tuple[str, ...] = ()
    count: int = 1  # how often the first text occurs
    skeleton: bool = False  # of the problem file instead

    @property
    def golden(self) -> Path:
        """The file of its messages."""
        return GOLDEN / f"{self.name}.txt"


def mistakes() -> list[Mistake]:
    return convert(yaml.safe_load((FOLDER / "mistakes.yaml").read_text("utf-8")), list[Mistake])


def messages(mistake: Mistake) -> str:
    """The text of a run in every language, each below a line with its name."""
    project = Project(REPOSITORY)
    selection = select(project, mistake.puzzle, mistake.flags, ())
    program = selection.program
    text = _with_mistake(mistake, program)
    source = open_cache().store_program(program.solution, {program.problem.name: text})  # a stable path
    texts = {language: _text(project, selection, mistake, source, language) for language in LANGUAGES}
    return "".join(f"[{language}]\n{_normal(said, source.parent)}" for language, said in texts.items())


def _with_mistake(mistake: Mistake, program: Program) -> str:
    text = (program.problem if mistake.skeleton else program.solution).read_text("utf-8")
    for index, (old, new) in enumerate(mistake.edits.items()):
        times = text.count(old)
        assert times == (1 if index else mistake.count), f"{mistake.name}: {old!r} occurs {times} times"
        text = text.replace(old, new)
    return text


def _text(project: Project, selection: Selection, mistake: Mistake, source: Path, language: str) -> str:
    stream = io.StringIO()
    terminal = Terminal(stream, colour=False, width=_WIDTH)
    trial = Trial(selection, Choice(SIMULATED, "a test"), source, language=language)
    try:
        toolchain, cache = find_toolchain(), open_cache()
        executable = build_trial(project, trial, toolchain, cache)
    except BuildFailed as error:
        error.speak(language)
        return f"{error}\n{error.details}\n"
    output = ProgramOutput(terminal, judged=True)
    verdict = judge_trial(trial, executable, project, toolchain, cache, output.show)
    output.end(passed=False)
    show_verdict(verdict, terminal, language)
    return stream.getvalue()


def _normal(text: str, folder: Path) -> str:
    """The text without what differs from machine to machine, and without the offer of hints at the end."""
    text = text.replace(f"{folder}/", "")
    text = re.sub(r"^  (hint|힌트): .*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"0x[0-9a-f]{8,}", "0x…", text)
