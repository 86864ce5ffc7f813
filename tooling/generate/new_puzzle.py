"""The first files of a new puzzle: a small one that passes every check, for its author to replace.

The texts are templates in `templates/puzzle`. Nothing that exists is overwritten.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from msgspec import Struct

from tooling.catalog.model import Puzzle
from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.project import Project
from tooling.text import Text

_TEMPLATES = Path(__file__).parent / "templates" / "puzzle"
_NAME = re.compile(r"p(\d\d+)")
_TITLE = re.compile(r"\w[\w ,'()+-]*")
_SUMMARIES = {"book/src/SUMMARY.md": "Puzzle", "i18n/ko/book/src/SUMMARY.md": "퍼즐"}
_FIGURES = {"book/src/figures.md": "figure.en.md", "i18n/ko/book/src/figures.md": "figure.ko.md"}
_ENTRY = re.compile(r"^\s*- \[.*\]\(puzzle_(\d+)/")


class NewPuzzle(Struct, frozen=True):
    """What a new puzzle is called.

    Attributes:
        id: such as `p36`.
        title: in English, `title_ko` in Korean.
        part: Roman numeral of the book's part.
    """

    id: str
    title: str
    title_ko: str
    part: str

    @property
    def number(self) -> int:
        return int(self.id[1:])

    @property
    def folder(self) -> str:
        """The folder of its pages, below `src`."""
        return f"puzzle_{self.id[1:]}"

    @property
    def kernel(self) -> str:
        """The name of its kernel, made from the title."""
        name = re.sub(r"[^a-z0-9]+", "_", self.title.lower()).strip("_")
        return name if name.isidentifier() and not keyword.iskeyword(name) else "kernel"

    @property
    def files(self) -> Mapping[str, str]:
        """The new files below the root of the project, and the template of each."""
        return {
            f"problems/{self.id}/puzzle.yaml": "puzzle.yaml",
            f"solutions/{self.id}/{self.id}.mojo": "solution.mojo",
            f"solutions/{self.id}/reference.py": "reference.py",
            f"tests/mutants/{self.id}.yaml": "mutants.yaml",
            f"book/src/{self.folder}/{self.folder}.md": "page.en.md",
            f"i18n/ko/book/src/{self.folder}/{self.folder}.md": "page.ko.md",
            f"tooling/book/figures/{self.id}.py": "figure.py",
        }


def named(puzzles: Sequence[Puzzle], name: str, title: str, title_ko: str) -> NewPuzzle:
    """A new puzzle, in the part of the puzzle before it.

    Raises:
        ToolingError: the name or title cannot be used, or the puzzle exists.
    """
    if not _NAME.fullmatch(name):
        raise ToolingError(
            Text("a puzzle cannot be called `{name}`").of(name=name),
            why=Text("the name is p and at least two digits"),
            hint="`p36`",
        )
    for each in (title, title_ko):
        if not _TITLE.fullmatch(each):
            raise ToolingError(
                Text("a puzzle cannot have the title `{title}`").of(title=each),
                why=Text(
                    "it contains letters, digits, spaces and ,'()+- only, since it is a heading and a link"
                ),
            )
    before = [puzzle for puzzle in puzzles if puzzle.number <= int(name[1:])]
    if not before or before[-1].number == int(name[1:]):
        highest = max((puzzle.number for puzzle in puzzles), default=0)
        raise ToolingError(
            Text("there is a puzzle {name} already").of(name=name),
            hint=Text("the next free one is {number}").of(number=f"p{highest + 1:02}"),
        )
    return NewPuzzle(name, title, title_ko, before[-1].part)


def write_puzzle(project: Project, puzzle: NewPuzzle) -> tuple[Path, ...]:
    """Writes the files of a new puzzle, and what both languages have of it in the contents and of its figure.

    Returns:
        The files written or changed.

    Raises:
        ToolingError: a file exists already, or this is no clone; nothing is written.
        OSError: a file cannot be written; the ones before it are.
    """
    values = {
        "id": puzzle.id,
        "digits": puzzle.id[1:],
        "number": str(puzzle.number),
        "title": puzzle.title,
        "title_ko": puzzle.title_ko,
        "quoted_title": json.dumps(puzzle.title),
        "quoted_title_ko": json.dumps(puzzle.title_ko, ensure_ascii=False),
        "part": puzzle.part,
        "folder": puzzle.folder,
        "kernel": puzzle.kernel,
    }
    texts = {}
    for name, template in puzzle.files.items():
        path = project.root / name
        if path.exists():
            raise ToolingError(Text("the file of a new puzzle exists already"), where=Location(path))
        texts[path] = Template((_TEMPLATES / f"{template}.in").read_text("utf-8")).substitute(values)
    for name, word in _SUMMARIES.items():
        path = _existing(project, name)
        title = puzzle.title if word == "Puzzle" else puzzle.title_ko
        line = f"- [{word} {puzzle.number}: {title}]({puzzle.folder}/{puzzle.folder}.md)"
        texts[path] = _with_entry(path.read_text("utf-8"), line, puzzle.number)
    for name, template in _FIGURES.items():
        path = _existing(project, name)
        section = Template((_TEMPLATES / f"{template}.in").read_text("utf-8")).substitute(values)
        texts[path] = f"{path.read_text('utf-8')}\n{section}"
    for path, text in texts.items():
        write_atomically(path, text.encode())
    return tuple(texts)


def _existing(project: Project, name: str) -> Path:
    path = project.root / name
    if not path.is_file():
        raise ToolingError(
            Text("a new puzzle needs a clone with the book"),
            where=Location(path),
            why=Text("it does not exist"),
        )
    return path


def _with_entry(summary: str, line: str, number: int) -> str:
    """The contents with a line after the entries of all puzzles with lower numbers."""
    lines = summary.splitlines()
    entries = [(index, int(match[1])) for index, text in enumerate(lines) if (match := _ENTRY.match(text))]
    last = max((index for index, each in entries if each < number), default=len(lines) - 1)
    return "\n".join([*lines[: last + 1], line, *lines[last + 1 :]]) + "\n"
