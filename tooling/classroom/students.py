"""Finds the students and their answers. Their files are not trusted: links are not followed."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from tooling.catalog.catalogue import known_names
from tooling.catalog.model import ModeKind, Program, ProgramLanguage, Puzzle
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.git_command import git_environment
from tooling.platform.processes import run_captured, temporary_folder
from tooling.platform.regular_files import OutsideRoot, WrongSize, read_regular
from tooling.text import Sentence, Text, joined

_ADDRESS = re.compile(r"(?:https?|ssh|git|file)://|[\w.-]+@[\w.-]+:")
_ANSWER = re.compile(r"p\d\d(_\w+)?\.mojo")
_LARGEST = 1 << 20  # bytes of a program
_CLONED_FOR = 300.0  # seconds

_NO_FOLDER = Text("there is no folder `{source}`")
_NEITHER = Text("it is neither a folder nor the address of a Git repository")
_NOBODY = Text("there are no answers in `{source}`")
_LOOKED_FOR = Text("answers are files such as p15.mojo, in a student's folder or in `problems/p15` there")
_NOT_CLONED = Text("the repository `{source}` cannot be fetched")
_NOT_ENDED = Text("git did not end within {seconds} seconds")
_NOT_READ = Text("`{name}` cannot be read")
_IS_LINK = Text("it is a symbolic link, or in a folder that is one, and links are not followed")
_TOO_LARGE = Text("it has more than {limit} bytes")
_NOT_TEXT = Text("it is not UTF-8")
_NOTHING = Text("no student has answered a puzzle")
_SKELETONS = Text("every file is missing or equal to the problem file, or is a program in Python")


class NoAnswers(ToolingError):
    """There is nothing to judge."""


class NotFetched(ToolingError):
    """A repository could not be fetched."""

    exit_code = ExitCode.NOT_POSSIBLE


class Student(Struct, frozen=True):
    """A student, by the name of the folder or repository."""

    name: str
    folder: Path


class Answer(Struct, frozen=True):
    """What a student has made of one program.

    Attributes:
        texts: its files by name below the puzzle's folder, the main one first.
        refused: why they were not read; they are empty then.
    """

    student: str
    program: str
    texts: dict[str, str]
    refused: str = ""


@contextlib.contextmanager
def students_of(sources: Sequence[str]) -> Iterator[tuple[Student, ...]]:
    """The students of folders and repositories; what was fetched is removed when the block is left.

    A folder with answers is one student's; otherwise each folder in it is. Two students of the same name get
    numbers.

    Raises:
        NoAnswers: a folder does not exist, or has neither answers nor folders.
        NotFetched: a repository cannot be fetched.
    """
    with temporary_folder("gpu-puzzle-class-") as fetched:
        found: list[Student] = []
        for number, source in enumerate(sources):
            if _ADDRESS.match(source):
                found.append(_cloned(source, fetched / str(number)))
            else:
                found += _in_folder(source)
        yield tuple(_numbered(found))


def _numbered(students: Sequence[Student]) -> Iterator[Student]:
    seen: dict[str, int] = {}
    for student in students:
        seen[student.name] = count = seen.get(student.name, 0) + 1
        yield student if count == 1 else Student(f"{student.name} ({count})", student.folder)


def _in_folder(source: str) -> list[Student]:
    folder = Path(source)
    if not folder.is_dir():
        raise NoAnswers(_NO_FOLDER.of(source=source), why=_NEITHER)
    if _has_answers(folder):
        return [Student(folder.resolve().name, folder)]
    inside = [each for each in sorted(folder.iterdir()) if not each.name.startswith(".")]
    students = [Student(each.name, each) for each in inside if each.is_dir() and not each.is_symlink()]
    if not students:
        raise NoAnswers(_NOBODY.of(source=source), where=Location(folder), why=_LOOKED_FOR)
    return students


def _has_answers(folder: Path) -> bool:
    return (folder / "problems").is_dir() or any(_ANSWER.fullmatch(each.name) for each in folder.iterdir())


def _cloned(source: str, folder: Path) -> Student:
    """A student's repository, without its history, submodules, filters and symbolic links."""
    command = ["git", "-c", "core.symlinks=false", "clone", "--quiet", "--depth", "1", "--no-tags"]
    command += ["--template=", "--", source, str(folder)]
    environment = {**git_environment(folder.parent, network=True), "GIT_LFS_SKIP_SMUDGE": "1"}
    try:
        done = run_captured(command, environment=environment, time_limit=_CLONED_FOR)
    except OSError as error:
        raise NotFetched(_NOT_CLONED.of(source=_without_secret(source)), why=str(error)) from error
    if done.timed_out:
        why: str | Sentence | None = _NOT_ENDED.of(seconds=int(_CLONED_FOR))
    else:
        why = done.last_message and done.last_message.replace(source, _without_secret(source))
    if done.timed_out or done.status != 0:
        raise NotFetched(_NOT_CLONED.of(source=_without_secret(source)), why=why)
    return Student(re.split(r"[/:]", source.rstrip("/"))[-1].removesuffix(".git"), folder)


def _without_secret(address: str) -> str:
    """An address without a password or token in it."""
    return re.sub(r"(?<=://)[^/@]*@", "", address)


def wanted_programs(puzzles: Sequence[Puzzle], names: Sequence[str]) -> list[tuple[Puzzle, Program]]:
    """The programs in Mojo that have something to answer; `names` are of puzzles or programs, none: all.

    Raises:
        UnknownPuzzle: a name is of neither.
    """
    known = {name for puzzle in puzzles for name in (puzzle.id, *(each.name for each in puzzle.programs))}
    wanted = known_names(names, known)
    return [
        (puzzle, program)
        for puzzle in puzzles
        for program in puzzle.programs
        if program.language is ProgramLanguage.MOJO
        and (not wanted or puzzle.id in wanted or program.name in wanted)
        and any(mode.kind is ModeKind.PUZZLE for mode in puzzle.modes_of(program.name))
    ]


def answers_of(
    students: Sequence[Student], programs: Sequence[tuple[Puzzle, Program]], language: str
) -> tuple[Answer, ...]:
    """Every answer: a program of which a file is there, and differs from the problem file.

    Args:
        language: of what is said about files that cannot be read.

    Raises:
        NoAnswers: there is none.
        OSError: a problem file cannot be read.
    """
    skeletons = {
        program.name: {each.name: _lines(each.problem.read_text("utf-8")) for each in program.sources}
        for _, program in programs
    }
    found = [
        answer
        for student in students
        for puzzle, program in programs
        if (answer := _answer(student, puzzle, program, skeletons[program.name], language))
    ]
    if not found:
        raise NoAnswers(_NOTHING, why=_SKELETONS)
    return tuple(found)


def _answer(
    student: Student, puzzle: Puzzle, program: Program, skeleton: dict[str, str], language: str
) -> Answer | None:
    texts = dict(skeleton)
    for name in skeleton:
        for place in (f"problems/{puzzle.id}/{name}", f"{puzzle.id}/{name}", name):
            try:
                texts[name] = _lines(_read(student.folder, place).decode("utf-8"))
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                refusal = joined((_NOT_READ.of(name=place), _reason(error)), ": ").render(language)
                return Answer(student.name, program.name, {}, refusal)
            break
    return None if texts == skeleton else Answer(student.name, program.name, texts)


def _reason(error: OSError | UnicodeDecodeError) -> str | Sentence:
    if isinstance(error, UnicodeDecodeError):
        return _NOT_TEXT
    if isinstance(error, WrongSize):
        return _TOO_LARGE.of(limit=_LARGEST)
    if isinstance(error, OutsideRoot):
        return _IS_LINK
    return error.strerror or str(error)


def _read(folder: Path, place: str) -> bytes:
    """A file of a student.

    Raises:
        OutsideRoot: a part of its path is a symbolic link.
        OSError: as `read_regular`.
    """
    path = folder
    for part in Path(place).parts:
        path /= part
        if path.is_symlink():
            raise OutsideRoot(errno.ELOOP, "a symbolic link", str(path))
    return read_regular(path, follow=False, limit=_LARGEST)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
