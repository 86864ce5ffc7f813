"""Verdicts of the judge: recorded like outputs, shown as a reader sees them.

The answer is the unsolved problem file, the solution, or one of the wrong answers in `tests/mutants/`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tooling.book import recordings
from tooling.book.code_breaks import breakable
from tooling.book.directives.captions import teaching_marks
from tooling.book.directives.changes import changed_code, replaced_code
from tooling.book.errors import BookError
from tooling.book.listings import Listing, opening_fence
from tooling.book.page import PageContext, Words
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.variants import each_version, unusual_api
from tooling.book.verdict_recordings import (
    RecordedVerdict,
    authored_texts,
    load_verdict,
    recorded_verdict,
    verdict_path,
)
from tooling.catalog.catalogue import Selection
from tooling.mdbook.includes import Kind, take
from tooling.platform.regular_files import read_text
from tooling.project import Project
from tooling.reports.html import verdict_html
from tooling.reports.parts import positions
from tooling.reports.verdict_record import VerdictRecord, record_of
from tooling.text import ENGLISH, languages

if TYPE_CHECKING:
    from tooling.catalog.mutants import Mutant

_UNSOLVED, _SOLVED = recordings.STATES
_FUNCTIONS = re.compile(r"\A(?s:.*?)^(?=def )", re.MULTILINE)
"""What precedes the first function."""
_TIME_LIMIT = 300.0  # seconds, however busy the machine is that records


def verdict(page: PageContext, words: Words) -> str:
    """`{{#verdict PROGRAM [FLAGS] unsolved|solved|MUTANT}}`: what `tooling run` says of that answer.

    What the wrong answer changes is above it, unless the page shows its code by `{{#wrong}}`. The verdict on
    the solution is shown in every version that the page shows.
    """
    project = page.puzzle_index.project
    selection, name = _split_words(page, words)

    def judge(version: Selection) -> str:
        language = page.language if page.language in languages() else ENGLISH
        return verdict_html(shown_verdict(project, version, name), language, lambda code: breakable(code, 0))

    if name == _SOLVED:
        return each_version(page, selection, judge)
    mutant = find_mutant(page.puzzle_index, selection, name) if name != _UNSOLVED else None
    judged = judge(selection)
    if mutant is None or f"{{{{#wrong {' '.join(words)} " in page.text:
        return judged
    right = {file.name: read_text(file.solution) for file in selection.program.sources}
    wrong = mutant.sources(selection.program)
    named, api = positions(shown_verdict(project, selection, name)), unusual_api(page, selection)
    return changed_code(selection, right, wrong, named, page.listings, api=api) + judged


def parse_words(page: PageContext, words: Words) -> tuple[Selection, str]:
    """What a verdict directive asks for: the run, and the answer's name.

    Raises:
        BookError: there is no such answer.
    """
    selection, answer = _split_words(page, words)
    if answer not in recordings.STATES:
        find_mutant(page.puzzle_index, selection, answer)
    return selection, answer


def _split_words(page: PageContext, words: Words) -> tuple[Selection, str]:
    *command, answer = words
    if not command:
        raise BookError(
            f"{{{{#verdict {answer}}}}} does not say which answer",
            hint="end it with `unsolved`, `solved` or the name of a mutant",
        )
    return page.puzzle_index.selection(command[0], command[1:]), answer


def find_mutant(puzzle_index: PuzzleIndex, selection: Selection, name: str) -> Mutant:
    """The wrong answer of a name.

    Raises:
        BookError: the puzzle has no answer of that name.
    """
    every = puzzle_index.mutants(selection.puzzle)
    for mutant in every:
        if mutant.name == name:
            return mutant
    known = ", ".join((*recordings.STATES, *(mutant.name for mutant in every)))
    raise BookError(f"{selection.puzzle.id} has no answer `{name}`", hint=f"one of: {known}")


def shown_verdict(project: Project, selection: Selection, name: str) -> VerdictRecord:
    """The recorded verdict on an answer.

    Raises:
        BookError: missing, or not usable any more.
    """
    recorded = load_verdict(verdict_path(project, selection, name))
    return recorded.readable(authored_texts(project, selection.puzzle))


def answer(project: Project, selection: Selection, name: str) -> dict[str, str]:
    """The files of the program that is judged, by name, the main one first."""
    if name in recordings.STATES:
        files = recordings.program_files(selection.program, name)
        names = (source.name for source in selection.program.sources)
        return {name: read_text(file) for name, file in zip(names, files, strict=True)}
    return find_mutant(PuzzleIndex(project), selection, name).sources(selection.program)


def wrong_code(page: PageContext, words: Words) -> str:
    """`{{#wrong PROGRAM [FLAGS] MUTANT ANCHOR}}`: the functions of a wrong answer that an anchor encloses.

    Raises:
        BookError: there is no such answer, or no such anchor in its files.
    """
    *command, anchor = words
    selection, name = parse_words(page, command)
    for file, text in answer(page.puzzle_index.project, selection, name).items():
        excerpt = take(Kind.INCLUDE, anchor, text)
        shown = _FUNCTIONS.sub("", excerpt.text, count=1).strip("\n") + "\n"
        if shown.strip():
            before = excerpt.text.count("\n", 0, excerpt.text.index(shown.strip("\n")))
            lines, numbers = shown.splitlines(keepends=True), excerpt.numbers[before:]
            kept, written = teaching_marks(lines)
            # A comment at the start is not wrong itself.
            wrong = tuple(
                (start + lines[kept[start]].lstrip().startswith("#"), stop) for start, stop in written
            )
            listing = Listing(file, tuple(numbers[row] for row in kept), wrong, changed=True)
            code = "".join(lines[row] for row in kept)
            return f"{opening_fence(listing, page.listings)}\n{code}```\n"
    raise BookError(f"the answer `{name}` has no anchor `{anchor}`", hint="name one of its solution file")


def corrected_code(page: PageContext, words: Words) -> str:
    """`{{#corrected PROGRAM [FLAGS] MUTANT}}`: the lines of the solution that a wrong answer changes."""
    project = page.puzzle_index.project
    selection, name = parse_words(page, words)
    wrong = answer(project, selection, name)
    file, right = next(
        each for each in answer(project, selection, _SOLVED).items() if each[1] != wrong[each[0]]
    )
    source = selection.program.solution.parent / file
    return replaced_code(source.relative_to(project.root).as_posix(), right, wrong[file], page.listings)


def record(project: Project, selection: Selection, name: str, target: str) -> RecordedVerdict:
    """Builds and judges an answer.

    Raises:
        BookError: the time limit ended the program, which depends on how busy this machine is.
        ToolingError: it cannot be built or run here.
    """
    from tooling.judging.verdict import Outcome  # noqa: PLC0415 - pages are mostly set without a run
    from tooling.targets.selection import choose  # noqa: PLC0415
    from tooling.toolchain import find_toolchain  # noqa: PLC0415
    from tooling.toolchain.cache import usable_cache  # noqa: PLC0415
    from tooling.trials import Trial, build_trial, judge_trial  # noqa: PLC0415

    toolchain, cache = find_toolchain(), usable_cache()
    files, program = answer(project, selection, name), selection.program
    if name in recordings.STATES:
        source, *_ = recordings.program_files(program, name)
    else:
        source = cache.store_program(program.solution, files)
    # Judged as a solution: the line that offers hints depends on how the reader called the tool.
    choice = choose(selection, target)
    trial = Trial(selection, choice, source, solution=True, time_limit=_TIME_LIMIT)
    executable = build_trial(project, trial, toolchain, cache)
    judged = judge_trial(trial, executable, project, toolchain, cache)
    if judged.outcome is Outcome.TIME_LIMIT:
        raise BookError(
            f"{selection.command} ({name}) was ended by its time limit of {trial.limit:.0f} s",
            hint="record its verdict while this machine is less busy",
        )
    program_digest = recordings.digest_texts(files.values())
    return recorded_verdict(name, toolchain.version, program_digest, record_of(judged))
