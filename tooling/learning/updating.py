"""Brings a clone up to date and keeps the reader's answers.

`git pull` refuses to change a problem file with uncommitted edits, and `--ff-only` a branch with commits of
its own. Here the edited files are copied and put aside, the clone is brought to the new version, and every
answer is carried over into the new version of its file: first by a three-way merge, then by its regions.
Where neither works, the new version stays, and the copy has the answer.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
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
_GIT_FAILED = Text("`git {command}` failed, and your files are as they were")
_REASON = Text("{reason} (git: {said})")
_NO_GIT = Text("git is not installed")
_NEEDS_GIT = Text("a clone is brought up to date with git")
_INSTALL_GIT = Text("install git, for example with `sudo apt install git`, or put it on PATH")
_SEE_MORE = Text("`git pull` in this folder shows more")
_REASONS = (
    (
        r"dubious ownership",
        Text("the checkout belongs to another user, so git does not use it"),
        Text("if you trust it: `git config --global --add safe.directory {top}`"),
    ),
    (
        r"permission denied \(publickey|authentication failed|could not read (user|pass)",
        Text("the remote does not accept your credentials"),
        Text("`git fetch` in this folder shows what it asks for"),
    ),
    (
        r"could not resolve|network is unreachable|failed to connect|timed out|couldn't connect",
        Text("the remote cannot be reached"),
        Text("check the network connection, then `tooling update`"),
    ),
    (
        r"does not appear to be a git repository|repository .*not found|does not exist|not read from remote",
        Text("the remote is not there, or cannot be read"),
        Text("`git remote -v` shows its address; `git remote set-url origin ADDRESS` changes it"),
    ),
    (
        r"HEAD does not point to a branch",
        Text("no branch is checked out"),
        Text("`git switch main`, then `tooling update`"),
    ),
    (
        r"no upstream configured|no such branch",
        Text("the branch does not follow a branch of a remote"),
        Text("`git branch --set-upstream-to=origin/main`, then `tooling update`"),
    ),
    (
        r"would be overwritten",
        Text("the new version changes files that you have edited and that are not answers"),
        Text("`git stash`, then `tooling update`, then `git stash pop`"),
    ),
    (
        r"unable to auto-detect email|tell me who you are|empty ident",
        Text("git does not know your name, which a merge with your commits needs"),
        Text("set it with `git config --global user.name NAME` and `git config --global user.email ADDRESS`"),
    ),
    (
        r"no space left|disk quota",
        Text("the disk is full"),
        Text("free space there, then `tooling update`"),
    ),
    (
        r"permission denied|read-only file system|unable to create",
        Text("the checkout cannot be written"),
        Text("run the command as the user to whom it belongs: `ls -ld {top}`"),
    ),
    (
        r"conflict",
        Text("your commits and the new version do not fit together"),
        Text("`git merge @{{upstream}}` in this folder, then solve the conflicts that git names"),
    ),
)
"""What git says, as a pattern; the reason; what to try."""


class UpdateFailed(ToolingError):
    """The clone could not be brought up to date; the reader's files are as they were."""

    exit_code = ExitCode.NOT_POSSIBLE


class Update(Struct, frozen=True):
    """What an update did.

    Attributes:
        carried: the files of the reader that changed.
        restored: the problem files that were missing, and are the skeleton now.
    """

    carried: tuple[Carried, ...]
    restored: tuple[Path, ...] = ()


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


class Edited(Struct, frozen=True):
    """A problem file that the reader has edited.

    Attributes:
        base: its text where the reader's branch and that of the remote part.
        committed: its text in the last commit of the reader's branch.
        mine: its text in the folder.
    """

    base: bytes
    committed: bytes
    mine: bytes


def pull(project: Project) -> Update:
    """Brings the clone to the version of its remote, and carries the answers over, committed or not.

    Returns:
        The files of the reader that the new version changes, of which the copies of others are removed, and
        the problem files that were missing.

    Raises:
        UpdateFailed: this is no clone, or git failed, with its reason; the files are as they were.
        CopyFailed: a file cannot be copied; nothing was changed.
    """
    top = checkout_root(project.root)
    if top is None:
        raise UpdateFailed(
            Text("{root} is not a clone").of(root=project.root),
            why=Text("there is no git repository around it"),
            hint=Text("git clone it"),
        )
    require_git(top)
    _as_reader(top, ["fetch", "--quiet"])
    new = _git(top, ["rev-parse", "--verify", "@{upstream}"]).decode().strip()
    base = _git(top, ["merge-base", "HEAD", new]).decode().strip()
    edited = {
        path: Edited(_at(top, base, path), _at(top, "HEAD", path), path.read_bytes())
        for path in _changed(top, project, base, "M")
    }
    missing = list(_changed(top, project, "HEAD", "D"))
    copies = {path: keep_copy(path) for path in edited}
    carried: list[Carried | None] = []
    try:
        for path, each in edited.items():
            _exchange(path, each.committed, each.mine)
        _merge(top, new)
        for path, each in edited.items():
            carried.append(_carry(top, path, copies[path], each, new))
    except BaseException:
        for path, each in list(edited.items())[len(carried) :]:
            try:
                _carry(top, path, copies[path], each, new)  # the merge may have changed the file already
            except BaseException:  # noqa: BLE001 - once more: each file has a copy, and the others come back
                with contextlib.suppress(OSError, UpdateFailed):
                    _exchange(path, each.mine, each.committed, _at(top, "HEAD", path))
        raise
    for path in missing:
        if not path.exists():
            with contextlib.suppress(UpdateFailed):  # the new version has no such file
                write_atomically(path, _at(top, "HEAD", path))
    return Update(tuple(each for each in carried if each), tuple(path for path in missing if path.exists()))


def require_git(top: Path) -> None:
    """Raises UpdateFailed: git is not installed, or does not use this checkout."""
    _git(top, ["rev-parse", "HEAD"])


def _merge(top: Path, new: str) -> None:
    """Moves the branch to the new version, or merges it with the reader's commits.

    Where both change the same lines, those of the new version count: answers are carried over afterwards.
    """
    if _git(top, ["rev-list", "--count", f"{new}..HEAD"]).strip() == b"0":
        _as_reader(top, ["merge", "--quiet", "--ff-only", new])
    elif _git(top, ["rev-list", "--count", f"HEAD..{new}"]).strip() != b"0":
        try:
            _as_reader(top, ["merge", "--quiet", "--no-edit", "--strategy-option=theirs", new])
        except UpdateFailed:
            subprocess.run(["git", "-C", str(top), "merge", "--abort"], capture_output=True, check=False)
            raise


def _exchange(path: Path, wanted: bytes, *present: bytes) -> None:
    """Writes a file that has one of the present texts or is missing; another text is a newer save."""
    if not path.exists() or path.read_bytes() in present:
        write_atomically(path, wanted)


def _carry(top: Path, path: Path, copy: Path, edited: Edited, version: str) -> Carried | None:
    """Writes the new version with the answer; None, and no copy, if the reader's file is that already."""
    if not path.is_file():
        return Carried(path, copy, _REMOVED)
    present, new, mine = path.read_bytes(), _at(top, version, path), edited.mine
    known = (edited.base, edited.committed, mine, new, _at(top, "HEAD", path))
    if present not in known:  # the reader has saved it since
        copy, mine = keep_copy(path), present
    merged = carried_over(edited.base, mine, new)
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
        try:
            result = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        except FileNotFoundError:
            return None  # without git, regions alone are carried over
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


def _changed(top: Path, project: Project, commit: str, kind: str) -> Iterator[Path]:
    """The problem files that differ from a commit: edited ones (`M`), or missing ones (`D`)."""
    arguments = ["diff", "--name-only", "--no-ext-diff", "-z", f"--diff-filter={kind}", commit, "--"]
    for name in _git(top, [*arguments, str(project.problems)]).split(b"\0"):
        path = top / name.decode()
        if name and path.suffix in _SUFFIXES:
            yield path


def _at(top: Path, commit: str, path: Path) -> bytes:
    return _git(top, ["show", f"{commit}:{path.relative_to(top).as_posix()}"])


def _git(top: Path, arguments: list[str]) -> bytes:
    """What git prints, without anything that a checkout configures.

    Raises:
        UpdateFailed: git is not installed, or failed.
    """
    return _run(top, git_command(top, arguments), git_environment(top), arguments[0])


def _as_reader(top: Path, arguments: list[str]) -> None:
    """Runs git as the reader would, with hooks, credentials and the network; raises as `_git`."""
    _run(top, ["git", "-C", str(top), *arguments], {**os.environ, "LC_ALL": "C"}, arguments[0])


def _run(top: Path, command: list[str], environment: Mapping[str, str], name: str) -> bytes:
    try:
        result = subprocess.run(command, env=environment, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise UpdateFailed(_NO_GIT, why=_NEEDS_GIT, hint=_INSTALL_GIT) from error
    if result.returncode != 0:
        said = (result.stdout + result.stderr).decode("utf-8", "replace")
        raise _failure(name, said.strip(), top)
    return result.stdout


def _failure(name: str, said: str, top: Path) -> UpdateFailed:
    """The error of a git command that failed: the reason that is known for its message, or the message."""
    what = _GIT_FAILED.of(command=name)
    own = " ".join(line.strip() for line in said.splitlines() if not line.startswith("hint:"))
    for pattern, why, hint in _REASONS:
        if re.search(pattern, said, re.IGNORECASE):
            return UpdateFailed(
                what, where=Location(top), why=_REASON.of(reason=why, said=own), hint=hint.of(top=top)
            )
    return UpdateFailed(what, where=Location(top), why=own or None, hint=_SEE_MORE)
