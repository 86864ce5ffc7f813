"""Checks that a sentence which explains a measured time names the record that shows it.

A wrong cause reads as well as a right one. So every sentence that explains something, in a paragraph that
gives a time, has an entry in `book/causes.toml`: the record of a counter or of a control experiment below
`tests/data`, with what must be in it, or the reason why it explains no time.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from tooling.book.checks.context import Chapter, CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_text
from tooling.project import Project
from tooling.text import ENGLISH

CAUSES = "book/causes.toml"
_SENTENCE_END = re.compile(r"(?<=[.?!:])[\"'”’)*_]*\s+")
_TIME = re.compile(
    r"\b[0-9][0-9.,]*\s?(?:µs|ns|ms|seconds?\b|GB/s|TB/s|TFLOP|GFLOP)|\btimes as (?:fast|long|slow)|"
    r"\b(?:faster|slower|fastest|slowest)\b|\b0\.\d+ of (?:a|the) "
    r"(?:speed|copy)|speed of a copy|\bmicroseconds?\b|"
    r"\b\d+% (?:less|more|longer|shorter|of the (?:time|cycles))\b|\btakes? (?:half|twice)\b|"
    r"\b(?:costs?|saves?|gains?) (?:\d|nothing|little)"
)
_CAUSE = re.compile(
    r"\b(?:because|since|due to|owing to|therefore|thanks to|the reason|explains?|explained|that is why|"
    r"which is why|caused?|causes|limited by|is limited|(?:is|are|not) (?:the|its) "
    r"limit|what (?:costs|limits)|decides?)\b|(?:^|[;,] )so (?!that\b|far\b|many\b|much\b)",
    re.IGNORECASE,
)


class CauseError(ToolingError):
    """The table of causes cannot be used."""


class Cause(Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of the table.

    Attributes:
        page: of the English edition, below `src`.
        says: the words with which the sentence begins; code in it is left out.
        record: a file below `tests/data` and the keys in it that lead to the record.
        shows: texts that the record contains, such as a time as it was printed.
        exempt: instead of a record: why the sentence explains no measured time.
    """

    page: str
    says: str
    record: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    exempt: str = ""


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    cause: tuple[Cause, ...] = ()


def read_causes(project: Project) -> tuple[Cause, ...]:
    """The entries of the table; none where the book has no table.

    Raises:
        CauseError: it is malformed, or an entry has neither a record nor a reason.
    """
    path = project.root / CAUSES
    if not path.is_file():
        return ()
    try:
        table = msgspec.convert(tomllib.loads(read_text(path)), _Table)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise CauseError("the table of causes is malformed", where=Location(path), why=str(error)) from error
    for entry in table.cause:
        if bool(entry.record and entry.shows) == bool(entry.exempt):
            raise CauseError(
                f"the cause “{entry.says}” names no evidence",
                where=Location(path),
                why="an entry has record and shows, or exempt",
            )
    return table.cause


def check_causes(context: CheckContext) -> Iterator[BookFinding]:
    """Reports causes without an entry, entries whose sentence is gone, and records that do not show them."""
    entries = [
        entry for entry in read_causes(context.project) if context.only is None or entry.page in context.only
    ]
    used: set[Cause] = set()
    record_of = cache(_record)  # for this check: a record may be another one at the next
    for path, chapter in context.chapters_of(ENGLISH).items():
        own = [entry for entry in entries if entry.page == path]
        for line, sentence in causes_of(chapter):
            entry = next((entry for entry in own if sentence.startswith(entry.says)), None)
            if entry is None:
                message = f"no record is named for the cause in “{_short(sentence)}”"
                hint = f"add the sentence to {CAUSES} with the record that shows it"
                yield context.finding(chapter, line, "cause", message, hint)
            else:
                used.add(entry)
    for entry in entries:
        if entry not in used:
            message = f"{entry.page} has no sentence with a cause that begins with “{_short(entry.says)}”"
            yield BookFinding(CAUSES, 0, "cause", message, "correct the entry, or delete it")
        elif entry.record:
            yield from _wrong_record(context.project, entry, record_of)


def causes_of(chapter: Chapter) -> Iterator[tuple[int, str]]:
    """The sentences of a page that explain something in a paragraph with a time, with their lines."""
    for block in chapter.page.structure.prose:
        if not _TIME.search(block.text):
            continue
        offset = 0
        for sentence in _SENTENCE_END.split(block.text):
            offset = block.text.index(sentence, offset)
            if _CAUSE.search(sentence):
                words = " ".join(sentence.replace("\N{OBJECT REPLACEMENT CHARACTER}", " ").split())
                yield block.line + block.text.count("\n", 0, offset), words


def _wrong_record(
    project: Project, entry: Cause, record_of: Callable[[Path], object]
) -> Iterator[BookFinding]:
    file, *keys = entry.record
    try:
        record = record_of(project.root / "tests/data" / file)
        for key in keys:
            record = record[key] if isinstance(record, dict) else None
    except (OSError, ValueError, KeyError):
        record = None
    if record is None:
        message = f"there is no record {' / '.join(entry.record)} for “{_short(entry.says)}”"
        yield BookFinding(CAUSES, 0, "cause", message, "name a file below tests/data and the keys in it")
        return
    text = json.dumps(record, ensure_ascii=False)
    for shown in entry.shows:
        if shown not in text:
            message = (
                f"the record {' / '.join(entry.record)} does not have {shown}, for “{_short(entry.says)}”"
            )
            yield BookFinding(CAUSES, 0, "cause", message, "correct the page, or measure again")


def _record(path: Path) -> object:
    content: object = json.loads(read_text(path))
    return content


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
