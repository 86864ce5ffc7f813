"""Brings a clone up to date and keeps the reader's answers.

`git pull` refuses to change a problem file with uncommitted edits. Here the edited files are copied and put
aside, the clone is pulled, and every answer is carried over into the new version of its file: first by a
three-way merge, then by its regions. Where neither works, the new version stays, and the copy has the answer.
"""

from __future__ import annotations

import contextlib
import difflib
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from tooling.generate.kept_files import keep_copy
from tooling.generate.skeletons import FILL_MARK
from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.git_command import checkout_root, git_command, git_environment
from tooling.project import Project
from tooling.text import Text

_SUFFIXES = (".mojo", ".py")
BOTH_CHANGED = Text("the new version changes the same lines as you")
_REMOVED = Text("the file no longer exists in the new version")


class UpdateFailed(ToolingError):
    """The clone could not be brought up to date; the reader's files are as they were."""

    exit_code = ExitCode.NOT_POSSIBLE


class Carried(Struct, frozen=True):
    """What became of one edited file.

    Attributes:
        path: the problem file.
        copy: the file as the reader had edited it.
        obstacle: why the answer could not be carried over; None if it was.
    """

    path: Path
    copy: Path
    obstacle: Text | None


def pull(project: Project) -> tuple[Carried, ...]:
    """Pulls the clone and carries the uncommitted answers over.

    Returns:
        The files of the reader that the new version changes; the copies of others are removed.

    Raises:
        UpdateFailed: this is no clone, or `git pull` failed, whose message was shown.
        CopyFailed: a file cannot be copied; nothing was changed.
    """
    top = checkout_root(project.root)
    if top is None:
        raise UpdateFailed(
            Text("{root} is not a clone").of(root=project.root),
            why=Text("there is no git repository around it"),
            hint=Text("git clone it"),
        )
    edited = {path: (_committed(top, path), path.read_bytes()) for path in _edited(top, project)}
    copies = {path: keep_copy(path) for path in edited}
    carried: list[Carried | None] = []
    try:
        for path, (base, mine) in edited.items():
            _exchange(path, base, mine)
        status = subprocess.run(
            ["git", "-C", str(top), "pull", "--quiet", "--ff-only"], check=False
        ).returncode
        if status != 0:
            raise UpdateFailed(
                Text("`git pull --ff-only` failed, and your files are as they were"),
                why=Text("its message is above"),
                hint=Text(
                    "if your branch has commits of its own: `git pull --rebase`, then `tooling update`"
                ),
            )
        for path, (base, mine) in edited.items():
            carried.append(_carry(top, path, copies[path], base, mine))
    except BaseException:
        for path, (base, mine) in list(edited.items())[len(carried) :]:
            try:
                _carry(top, path, copies[path], base, mine)  # the pull may have changed the file already
            except BaseException:  # noqa: BLE001 - once more: each file has a copy, and the others come back
                with contextlib.suppress(OSError, UpdateFailed):
                    _exchange(path, mine, base, _committed(top, path))
        raise
    return tuple(each for each in carried if each)


def _exchange(path: Path, wanted: bytes, *present: bytes) -> None:
    """Writes a file that has one of the present texts or is missing; another text is a newer save."""
    if not path.exists() or path.read_bytes() in present:
        write_atomically(path, wanted)


def _carry(top: Path, path: Path, copy: Path, base: bytes, mine: bytes) -> Carried | None:
    """Writes the new version with the answer; None, and no copy, if the reader's file is that already."""
    if not path.is_file():
        return Carried(path, copy, _REMOVED)
    present, new = path.read_bytes(), _committed(top, path)
    if present not in (base, mine, new):  # the reader has saved it since
        copy, mine = keep_copy(path), present
    merged = carried_over(base, mine, new)
    write_atomically(path, new if merged is None else merged)
    if merged == mine:
        copy.unlink()
        return None
    return Carried(path, copy, BOTH_CHANGED if merged is None else None)


def carried_over(base: bytes, mine: bytes, new: bytes) -> bytes | None:
    """The reader's changes from `base` to `mine`, applied to `new`; None if they cannot be."""
    if base == new:
        return mine
    merged = _merged_by_git({"mine": mine, "base": base, "new": new})
    if merged is not None:
        return merged
    try:
        lines = [text.decode("utf-8").splitlines(keepends=True) for text in (base, mine, new)]
    except UnicodeDecodeError:
        return None
    found = _carried_by_regions(*lines)
    return None if found is None else "".join(found).encode()


def _merged_by_git(texts: Mapping[str, bytes]) -> bytes | None:
    import tempfile  # noqa: PLC0415 - slow to import

    with tempfile.TemporaryDirectory(prefix="puzzle-") as folder:
        for name, text in texts.items():
            Path(folder, name).write_bytes(text)
        command = ["git", "merge-file", "--stdout", "--quiet", "mine", "base", "new"]
        result = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return result.stdout if result.returncode == 0 else None


def _carried_by_regions(base: list[str], mine: list[str], new: list[str]) -> list[str] | None:
    """Replaces the regions to fill in, where all changes of the reader are; their number must be the same."""
    marks = [index for index, line in enumerate(base) if FILL_MARK in line]
    new_marks = [index for index, line in enumerate(new) if FILL_MARK in line]
    if len(marks) != len(new_marks):
        return None
    result = list(new)
    changes = difflib.SequenceMatcher(None, base, mine, autojunk=False).get_opcodes()
    for tag, first, last, own_first, own_last in reversed(changes):
        if tag == "equal":
            continue
        near = [number for number, mark in enumerate(marks) if first <= mark + 1 and mark <= last]
        if len(near) != 1:
            return None
        shift = new_marks[near[0]] - marks[near[0]]
        if new[first + shift : last + shift] != base[first:last]:
            return None
        result[first + shift : last + shift] = mine[own_first:own_last]
    return result


def _edited(top: Path, project: Project) -> Iterator[Path]:
    """The problem files with uncommitted changes; deleted ones are not among them."""
    arguments = ["diff", "--name-only", "--no-ext-diff", "-z", "--diff-filter=M", "HEAD", "--"]
    for name in _git(top, [*arguments, str(project.problems)]).split(b"\0"):
        path = top / name.decode()
        if name and path.suffix in _SUFFIXES:
            yield path


def _committed(top: Path, path: Path) -> bytes:
    return _git(top, ["show", f"HEAD:{path.relative_to(top).as_posix()}"])


def _git(top: Path, arguments: list[str]) -> bytes:
    result = subprocess.run(
        git_command(top, arguments), env=git_environment(top), capture_output=True, check=False
    )
    if result.returncode != 0:
        raise UpdateFailed(
            Text("`git {command}` failed").of(command=arguments[0]),
            where=Location(top),
            why=result.stderr.decode("utf-8", "replace"),
        )
    return result.stdout
