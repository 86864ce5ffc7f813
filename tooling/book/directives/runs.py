"""Runs the programs whose output the book shows, to record it or to compare it with the recording."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from tooling.book import recordings
from tooling.book.chapters import chapter_files
from tooling.book.directives import demos, replays, verdicts
from tooling.book.editions import editions
from tooling.book.errors import BookError
from tooling.book.page import PageContext
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.recordings import Recording
from tooling.book.variants import versions
from tooling.book.verdict_recordings import authored_texts, load_verdict, save_verdict, verdict_path
from tooling.catalog.catalogue import Selection
from tooling.execution.program import Ending
from tooling.mdbook.includes import Directive, find_directives
from tooling.platform.exit_codes import ExitCode
from tooling.platform.state_file import encoded
from tooling.project import Project
from tooling.reports.console import verdict_lines
from tooling.target_run import RunOptions, run_on_target
from tooling.targets.selection import choose
from tooling.text import ENGLISH
from tooling.toolchain import find_toolchain, open_cache
from tooling.trials import Trial, build_trial, environment_of

Say = Callable[[str], None]
_TIME_LIMIT = 120.0  # seconds, where the mode's own limit is not longer


class Shown(Struct, frozen=True):
    """One output that a page shows.

    Attributes:
        state: `unsolved`, `solved`, or the name of a wrong answer.
        path: the file of the recording.
        run: what `path` calls it, if it has the recordings of several runs; else empty.
        judged: the verdict of the judge is shown, not the program's output.
        replay: a replay is shown.
        demo: a program next to the page; `selection` then only says which puzzle it belongs to.
    """

    selection: Selection
    state: str
    path: Path
    run: str = ""
    judged: bool = False
    demo: Path | None = None
    replay: bool = False

    @property
    def command(self) -> str:
        """The command, as the recording names it."""
        return self.demo.name if self.demo else self.selection.command

    @property
    def names(self) -> set[str]:
        """How the command line may call it."""
        if self.demo and not self.demo.parent.name.startswith("puzzle_"):
            return {self.demo.stem}
        every = {"replays"} if self.replay else set()
        return {self.selection.program.name, self.selection.puzzle.id, *every}

    @property
    def name(self) -> str:
        what = ", verdict" if self.judged else ", replay" if self.replay else ""
        return f"{self.command} ({self.state}{what})"

    def program(self, project: Project) -> str:
        """The digest of the current program."""
        if self.judged:
            return recordings.digest_texts(verdicts.answer(project, self.selection, self.state).values())
        if self.replay:
            return recordings.digest_texts(replays.program_of(project, self.selection, self.state).values())
        if self.demo:
            return recordings.digest(self.demo)
        return recordings.digest(*recordings.program_files(self.selection.program, self.state))


def shown_outputs(project: Project) -> Iterator[Shown]:
    """Every output that some page of some edition shows, once each.

    Raises:
        BookError: a directive names no run.
    """
    puzzle_index = PuzzleIndex(project)
    seen: set[tuple[Path, str]] = set()
    for edition in editions(project):
        for chapter in chapter_files(edition):
            page = PageContext(edition, chapter.path, chapter.text, puzzle_index)
            for directive in find_directives(chapter.text):
                for shown in _shown(page, directive):
                    if (shown.path, shown.run) not in seen:
                        seen.add((shown.path, shown.run))
                        yield shown


def _shown(page: PageContext, directive: Directive) -> Iterator[Shown]:
    words, project = directive.argument.split(), page.puzzle_index.project
    if directive.name == "output":
        selection, state = recordings.parse_words(page, words)
        runs = recordings.recordings_folder(project, selection.puzzle.id) / recordings.RUNS
        for version in versions(page, selection).values():
            yield Shown(version, state, runs, recordings.recording_name(version, state))
    if directive.name == "verdict":
        selection, state = verdicts.parse_words(page, words)
        solved = state == "solved"
        for version in versions(page, selection).values() if solved else (selection,):
            yield Shown(version, state, verdict_path(project, version, state), judged=True)
    if directive.name == "replay":
        selection, state = replays.parse_words(page, words)
        yield Shown(selection, state, replays.replay_path(project, selection, state), replay=True)
    if directive.name == "demo":
        program = demos.demo_file(page, words)
        folder = program.parent.name
        # A demo of no puzzle goes by its own name alone.
        owner = folder.replace("puzzle_", "p") if folder.startswith("puzzle_") else "p01"
        puzzle, main = page.puzzle_index.program(owner)
        selection = Selection(puzzle, main, puzzle.modes[0])
        where, run = demos.demo_recording(project, program)
        yield Shown(selection, "demo", where / recordings.RUNS, run, demo=program)


def update(project: Project, names: tuple[str, ...], target: str, say: Say) -> ExitCode:
    """Runs the programs and records their output."""
    for shown in _chosen(project, names):
        if shown.replay:
            replayed = replays.record(project, shown.selection, shown.state, target)
            replays.save(shown.path, replayed)
            say(f"recorded: {shown.name}, {len(replayed.trace.steps)} steps, on {replayed.target}")
        elif shown.judged:
            judged = verdicts.record(project, shown.selection, shown.state, target)
            save_verdict(shown.path, judged)
            say(f"recorded: {shown.name}, {judged.verdict.outcome.value}, on {judged.verdict.target.device}")
        else:
            recording = run(project, shown, target)
            recordings.save(shown.path.parent, shown.run, recording)
            say(f"recorded: {shown.name}, {len(recording.lines)} lines, on {recording.target}")
    return ExitCode.PASSED


def compare(project: Project, names: tuple[str, ...], target: str, say: Say) -> ExitCode:
    """Runs the programs and reports where their output differs from the recording."""
    status = ExitCode.PASSED
    for shown in _chosen(project, names):
        recorded, now = _recorded_and_now(project, shown, target)
        if recorded == now:
            say(f"as recorded: {shown.name}")
            continue
        status = ExitCode.WRONG
        say(f"differs: {shown.name}")
        if not shown.replay:
            for line in difflib.unified_diff(recorded, now, "recorded", "now", lineterm=""):
                say(f"    {line}")
    return status


def _recorded_and_now(project: Project, shown: Shown, target: str) -> tuple[Sequence[str], Sequence[str]]:
    """The lines of what is recorded, and of what the program does now."""
    if shown.replay:
        replayed = replays.load(shown.path), replays.record(project, shown.selection, shown.state, target)
        recorded, now = (encoded(each, indent=1).decode().splitlines() for each in replayed)
        return recorded, now
    if shown.judged:
        judged = load_verdict(shown.path), verdicts.record(project, shown.selection, shown.state, target)
        authored = authored_texts(project, shown.selection.puzzle)
        recorded, now = (verdict_lines(each.readable(authored), ENGLISH) for each in judged)
        return recorded, now
    runs = recordings.load(shown.path.parent, shown.run), run(project, shown, target)
    recorded, now = ([*each.lines, f"exit status {each.exit_status}"] for each in runs)
    return recorded, now


def _chosen(project: Project, names: tuple[str, ...]) -> list[Shown]:
    every = list(shown_outputs(project))
    chosen = [shown for shown in every if not names or shown.names & {*names}]
    if not chosen:
        known = ", ".join(dict.fromkeys(shown.selection.program.name for shown in every))
        raise BookError("no page shows such an output", hint=f"one of: {known}")
    return chosen


def run(project: Project, shown: Shown, target: str) -> Recording:
    """Builds and runs one program, as a reader would.

    Raises:
        BookError: the program was ended by a limit or by a signal.
        ToolingError: it cannot be built or run here.
    """
    if shown.demo:
        return demos.record(project, shown.demo)
    choice = choose(shown.selection, target)
    files = recordings.program_files(shown.selection.program, shown.state)
    toolchain = find_toolchain()
    trial = Trial(shown.selection, choice, files[0], shown.state == "solved")
    executable = build_trial(project, trial, toolchain, open_cache())
    transcript = run_on_target(
        [*executable.command, *shown.selection.mode.flags],
        choice.target,
        RunOptions(
            environment=environment_of(executable),
            time_limit=max(_TIME_LIMIT, trial.limit),  # a graph is compiled first
            graphs=executable.interpreter is not None,
            gpus=shown.selection.mode.gpus,
        ),
    ).transcript
    if transcript.ending is not Ending.EXITED:
        raise BookError(
            f"{shown.name} was ended by a limit or by a signal", why=transcript.stderr[-500:] or None
        )
    return Recording(
        command=shown.selection.command,
        state=shown.state,
        target=choice.target.device,
        mojo=toolchain.version,
        program=recordings.digest(*files),
        exit_status=transcript.status,
        lines=tuple(transcript.stdout.splitlines()),
    )
