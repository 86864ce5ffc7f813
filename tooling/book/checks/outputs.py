"""Checks that outputs in pages are recorded with the current program and not typed by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tooling.book import recordings
from tooling.book.checks.context import CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.book.checks.verdict_sentences import outdated_sentences
from tooling.book.directives import replays
from tooling.book.directives.runs import Shown, shown_outputs
from tooling.book.errors import BookError
from tooling.catalog.model import ModeKind
from tooling.catalog.mutants import mutants_path
from tooling.mdbook.markup import Fence
from tooling.platform.errors import ToolingError
from tooling.text.catalogues import ENGLISH

_PRINTED = re.compile(r"(?:Host|Device)Buffer\(\[|^(?:out|expected): |^Puzzle \d+ complete", re.MULTILINE)


def check_outputs(context: CheckContext) -> Iterator[BookFinding]:
    """Every recording exists, is complete, and was made with today's program."""
    try:
        every = list(shown_outputs(context.project))
    except ToolingError:
        return  # a directive that names no run: `check_directives` reports it with its line
    for shown in every:
        path = context.name(shown.path)
        try:
            recording = replays.load(shown.path) if shown.replay else recordings.load(shown.path)
        except BookError as error:
            yield BookFinding(path, 0, "output", f"{error.what} ({error.why})", _update(shown))
            continue
        if recording.program != shown.program(context.project):
            yield BookFinding(
                path, 0, "output", "the program has changed since this was recorded", _update(shown)
            )
        authored = (shown.selection.puzzle.manifest, mutants_path(context.project, shown.selection.puzzle))
        for language, lines in _judged(shown, recording):
            for line in outdated_sentences(lines, language, authored):
                message = f"the judge says no such sentence now: {line}"
                yield BookFinding(path, 0, "output", message, _update(shown))
        if isinstance(recording, replays.Replay):
            continue
        for message in _contradictions(shown, recording):
            yield BookFinding(path, 0, "output", message, _update(shown))


def _judged(
    shown: Shown, recording: recordings.Recording | replays.Replay
) -> Iterator[tuple[str, Sequence[str]]]:
    """What the judge or the checks of the simulated GPU said, by language."""
    if isinstance(recording, replays.Replay):
        for language in (ENGLISH, *recording.translations):
            marks = recording.in_language(language).marks
            yield language, [text for mark in marks for text in (mark.what, mark.why, mark.hint) if text]
    elif shown.judged_in:
        yield shown.judged_in, recording.lines


def _contradictions(shown: Shown, recording: recordings.Recording) -> Iterator[str]:
    if (recording.command, recording.state) != (shown.command, shown.state):
        yield f"this is a recording of `{recording.command}` ({recording.state})"
    mode = shown.selection.mode
    judged_by_values = mode.kind is ModeKind.PUZZLE and not mode.needs_counters
    if judged_by_values and not shown.judged_in and shown.state == "unsolved" and recording.exit_status == 0:
        yield "the unsolved program reports success"
    if shown.state == "solved" and recording.exit_status != 0:
        yield f"the solved program ended with status {recording.exit_status}"
    if shown.judged_in and shown.state != "solved" and recording.exit_status == 0:
        yield "the judge accepts this wrong answer"
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
        shown = {each.path for each in shown_outputs(context.project)}
    except ToolingError:
        return
    for path in sorted((context.project.recordings / "outputs").rglob("*.json")):
        if path not in shown:
            yield BookFinding(
                context.name(path), 0, "unused-file", "no page shows this recording", "delete it"
            )
