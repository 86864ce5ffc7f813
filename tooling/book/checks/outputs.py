"""Checks that outputs in pages are recorded with the current program and not typed by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tooling.book import recordings
from tooling.book.checks.context import CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.book.directives import replays
from tooling.book.directives.runs import Shown, shown_outputs
from tooling.book.errors import BookError
from tooling.book.recordings import Recording
from tooling.book.verdict_recordings import RecordedVerdict, authored_texts, load_verdict
from tooling.catalog.model import ModeKind
from tooling.mdbook.markup import Fence
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.replay.trace import Trace
from tooling.reports.console import verdict_lines
from tooling.simulator.checks.findings import explain
from tooling.text import languages
from tooling.text.plain import read_fact

_PRINTED = re.compile(r"(?:Host|Device)Buffer\(\[|^(?:out|expected): |^Puzzle \d+ complete", re.MULTILINE)


def check_outputs(context: CheckContext) -> Iterator[BookFinding]:
    """Every recording exists, is complete, and was made with today's program."""
    try:
        every = list(shown_outputs(context.project))
    except ToolingError:
        return  # a directive that names no run: `check_directives` reports it with its line
    for shown in every:
        which = f"{shown.run}: " if shown.run else ""
        messages = []
        try:
            recording = _load(shown)
            if recording.program != shown.program(context.project):
                messages.append(f"{which}the program has changed since this was recorded")
            messages += [f"{which}{each}" for each in _contradictions(context, shown, recording)]
        except BookError as error:
            messages.append(f"{error.what} ({error.why})")
        for message in messages:
            yield BookFinding(context.name(shown.path), 0, "output", message, _update(shown))


def _load(shown: Shown) -> Recording | RecordedVerdict | replays.Replay:
    if shown.replay:
        return replays.load(shown.path)
    return load_verdict(shown.path) if shown.judged else recordings.load(shown.path.parent, shown.run)


def _contradictions(
    context: CheckContext, shown: Shown, recording: Recording | RecordedVerdict | replays.Replay
) -> Iterator[str]:
    match recording:
        case replays.Replay(trace=trace):
            yield from _of_another_run(shown, recording.command, recording.state)
            yield from _outdated_replay(trace)
        case RecordedVerdict(state, verdict=verdict):
            yield from _of_another_run(shown, verdict.command, state)
            yield from _outdated(context, shown, recording)
            if shown.state != "solved" and verdict.outcome.exit_code == ExitCode.PASSED:
                yield "the judge accepts this wrong answer"
            if shown.state == "solved" and verdict.outcome.exit_code != ExitCode.PASSED:
                yield "the judge does not accept the solution"
        case Recording():
            yield from _of_another_run(shown, recording.command, recording.state)
            yield from _contradictions_of_output(shown, recording)


def _outdated_replay(trace: Trace) -> Iterator[str]:
    """A message of a replay that is no longer there, or that needs a fact which was not recorded."""
    try:
        for language in languages():
            for mark in trace.marks:
                explain(mark.finding, language)
            if trace.fault:
                read_fact(trace.fault).render(language)
    except LookupError as error:
        yield f"a message of this replay, or a fact that it needs, no longer exists: {error}"


def _outdated(context: CheckContext, shown: Shown, recording: RecordedVerdict) -> Iterator[str]:
    """A message of a verdict that is no longer there, or that needs a fact which was not recorded."""
    record = recording.readable(authored_texts(context.project, shown.selection.puzzle))
    try:
        for language in languages():
            verdict_lines(record, language)
    except KeyError as error:
        yield f"a message of the judge needs the fact {error}, which was not recorded"


def _of_another_run(shown: Shown, command: str, state: str) -> Iterator[str]:
    if (command, state) != (shown.command, shown.state):
        yield f"this is a recording of `{command}` ({state})"


def _contradictions_of_output(shown: Shown, recording: Recording) -> Iterator[str]:
    mode = shown.selection.mode
    judged_by_values = mode.kind is ModeKind.PUZZLE and not mode.needs_counters
    if judged_by_values and shown.state == "unsolved" and recording.exit_status == 0:
        yield "the unsolved program reports success"
    if shown.state == "solved" and recording.exit_status != 0:
        yield f"the solved program ended with status {recording.exit_status}"
    if not recording.lines:
        yield "the program printed nothing"


def _update(shown: Shown) -> str:
    return f"tooling book outputs --update {max(shown.names, key=len)}"


def check_pasted(context: CheckContext) -> Iterator[BookFinding]:
    """Finds output of programs that was typed into a page."""
    for chapter in context.chapters:
        for mark in chapter.page.structure.marks:
            if (
                isinstance(mark, Fence)
                and mark.language in ("text", "", "console")
                and _PRINTED.search(mark.code)
            ):
                yield context.finding(
                    chapter,
                    mark.line,
                    "pasted-output",
                    "this looks like the output of a program, typed by hand",
                    "write {{#output PROGRAM [FLAGS] unsolved}}",
                )


def check_unused_recordings(context: CheckContext) -> Iterator[BookFinding]:
    """Recordings that no page shows."""
    try:
        every = list(shown_outputs(context.project))
    except ToolingError:
        return
    shown = {each.path for each in every}
    runs = {(each.path, each.run) for each in every}
    for path in sorted((context.project.recordings / "outputs").rglob("*.json")):
        unused = [] if path in shown else ["this recording"]
        if path.name == recordings.RUNS:
            unused = [f"`{run}`" for run in _runs(path.parent) if (path, run) not in runs]
        for what in unused:
            yield BookFinding(context.name(path), 0, "unused-file", f"no page shows {what}", "delete it")


def _runs(folder: Path) -> Iterable[str]:
    try:
        return recordings.load_all(folder)
    except BookError:
        return ()  # `check_outputs` reports it
