"""The history of the source pages, read in one pass over `git log`.

It gives the commits by which a translation is behind, renames, the commit that introduced a text, and the
commits that ask to be skipped. Freshness itself never depends on it.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct, field

from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_text
from tooling.text import Text
from tooling.translations.git.repository import History, Repository, RunningGit
from tooling.translations.pages import key_of

_FIELDS = ("%x01%H", "%P", "%ct", "%(trailers:key=I18n-Skip,valueonly,separator=%x02)", "%s")


IGNORE_REVS = ".i18n-ignore-revs"


class IgnoredRevisionError(ToolingError):
    """A line of `.i18n-ignore-revs` is not a commit id."""


def read_ignored_revisions(top: Path) -> frozenset[str]:
    """The commits listed in `.i18n-ignore-revs`: full ids, one a line, `#` begins a comment.

    Raises:
        IgnoredRevisionError: a line holds something else.
    """
    path = top / IGNORE_REVS
    if not path.is_file():
        return frozenset()
    found: set[str] = set()
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        value = line.partition("#")[0].strip()
        if not value:
            continue
        if re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", value) is None:
            raise IgnoredRevisionError(
                Text("not a full commit id: {value!r}").of(value=value),
                where=Location(path, number),
                why=Text("a shortened id can become ambiguous"),
                hint=Text("git rev-parse {value}").of(value=value),
            )
        found.add(value)
    return frozenset(found)


class Commit(Struct, frozen=True):
    """A commit that touched source pages.

    Attributes:
        skips: the globs of its `I18n-Skip` trailers.
        unmatched_skips: those that match no source page which the commit changed.
    """

    id: str
    time: int
    is_merge: bool
    skips: tuple[str, ...]
    unmatched_skips: tuple[str, ...]
    subject: str


class Revision(Struct, frozen=True):
    """One change of one page: from the blob `old` at `old_path` to the blob `new` at `path`."""

    commit: Commit
    old: str
    new: str
    old_path: str
    path: str


class Chain(Struct, frozen=True):
    """The revisions between two texts of a page, oldest first."""

    revisions: tuple[Revision, ...]

    @property
    def since(self) -> int | None:
        return self.revisions[0].commit.time if self.revisions else None


class PageHistory(Struct):
    """All known revisions of a page under all its names, newest first."""

    path: str
    revisions: list[Revision] = field(default_factory=list)

    def names(self) -> tuple[str, ...]:
        """Every path the page has had, today's first."""
        return tuple(
            dict.fromkeys([self.path, *(name for one in self.revisions for name in (one.path, one.old_path))])
        )

    def chain(self, old: str, new: str) -> Chain | None:
        """The shortest series of revisions from one text to another; None where history has none.

        An edit and its reversal cancel out. Merges show what their side branch already showed, so they are
        used only where no other revision continues (a text made in the merge itself).
        """
        plain = [one for one in self.revisions if not one.commit.is_merge]
        return _shortest(plain, old, new) or _shortest(self.revisions, old, new)

    def is_skipped(self, old: str, new: str, ignored: frozenset[str]) -> bool:
        """Whether every commit between the two texts asks to be skipped."""
        skipped = [
            one
            for one in self.revisions
            if one.commit.id in ignored or any(_covers(glob, one.path) for glob in one.commit.skips)
        ]
        return bool(skipped) and _shortest(skipped, old, new) is not None

    def introducing(self, blob: str) -> Revision | None:
        """The latest revision that introduced this text; a merge only where no other commit did."""
        made = [one for one in self.revisions if one.new == blob and one.old != blob]
        return next((one for one in made if not one.commit.is_merge), made[0] if made else None)


def _covers(glob: str, path: str) -> bool:
    return any(fnmatchcase(name, glob) for name in (path, path.rpartition("/")[2]))


def _shortest(revisions: Iterable[Revision], old: str, new: str) -> Chain | None:
    back: dict[str, list[Revision]] = {}
    for revision in revisions:
        back.setdefault(revision.new, []).append(revision)
    came: dict[str, Revision] = {}
    pending = deque((new,))
    while pending:
        blob = pending.popleft()
        if blob == old:
            chain: list[Revision] = []
            while blob != new:
                chain.append(came[blob])
                blob = came[blob].new
            return Chain(tuple(chain))
        for revision in back.get(blob, ()):
            if revision.old not in came and revision.old != new:
                came[revision.old] = revision
                pending.append(revision.old)
    return None


class Log(Struct, frozen=True):
    """The histories of the pages asked for, by path from the top folder."""

    pages: dict[str, PageHistory]
    renamed: dict[str, str]  # former path -> later path, over all pages

    def later_name(self, path: str) -> str | None:
        """The path today of a page that was moved away; None where it was not moved."""
        seen: set[str] = set()
        while path in self.renamed and path not in seen:
            seen.add(path)
            path = self.renamed[path]
        return path if seen else None


class HistoryReader:
    """Reads the pass over every commit that touched the source pages, in a git process of its own.

    Args:
        folder: of the source pages, from the top folder.
    """

    def __init__(self, repository: Repository, folder: str) -> None:
        self._repository = repository
        self._folder = folder
        self._running: RunningGit | None = None

    def start(self) -> None:
        """Starts git, if it was not started before; its output is awaited in `read`."""
        repository = self._repository
        if self._running is not None or repository.head is None:
            return
        # Looking for similar contents would fetch every candidate of a blobless clone.
        similarity = "-M100%" if repository.history is History.BLOBLESS else "-M50%"
        arguments = ["log", "-z", "--raw", "--no-abbrev", "--no-color", "--no-show-signature"]
        arguments += ["--no-ext-diff", "--diff-merges=first-parent", similarity, "-l1000"]
        arguments += [f"--format={'%x00'.join(_FIELDS)}", repository.head, "--", self._folder]
        self._running = repository.start(arguments)

    def read(self, paths: Iterable[str]) -> Log:
        """Follows `paths` (from the top folder) back through the commits of the pass; to be called once.

        Raises:
            GitError: the log could not be read.
        """
        self.start()
        output = self._running.output() if self._running is not None else b""
        return _follow(output, self._repository.boundary, paths)


def _follow(output: bytes, boundary: frozenset[str], paths: Iterable[str]) -> Log:
    """The history of `paths`.

    Args:
        output: of `git log`.
        boundary: commits at which a shallow history is cut off.
    """
    pages = {path: PageHistory(path) for path in paths}
    owners = {key_of(path): page for path, page in pages.items()}
    renamed: dict[str, str] = {}
    keys: dict[bytes, str] = {}  # the same few paths are repeated often
    for chunk in output.split(b"\x01")[1:]:
        *head, records = chunk.split(b"\0", len(_FIELDS))
        if boundary and head[0].decode("ascii") in boundary:
            continue  # a commit at the boundary seems to create every file
        commit: Commit | None = None
        for meta, raw_old, raw in _records(records):
            key = keys.get(raw) or keys.setdefault(raw, key_of(os.fsdecode(raw)))
            page = owners.get(key)
            if page is None and raw_old == raw:
                continue
            old_path, path = os.fsdecode(raw_old), os.fsdecode(raw)
            if page is not None:
                commit = commit or _commit(head, records)
                _, _, old, new, _ = meta.decode("ascii").split(" ")
                page.revisions.append(Revision(commit, old, new, old_path, path))
            if old_path != path:
                renamed.setdefault(old_path, path)
                if page is not None:
                    owners[key_of(old_path)] = page
    return Log(pages, renamed)


def _commit(fields: Sequence[bytes], records: bytes) -> Commit:
    name, parents, time, trailers, subject = fields
    values = trailers.decode("utf-8", "replace").split("\x02") if trailers else ()
    skips = tuple(value.strip() for value in values if value.strip())
    changed = [os.fsdecode(path) for _, _, path in _records(records)] if skips else []
    unmatched = tuple(glob for glob in skips if not any(_covers(glob, path) for path in changed))
    title = subject.decode("utf-8", "replace")
    return Commit(name.decode("ascii"), int(time), b" " in parents, skips, unmatched, title)


def _records(records: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """What git reports of each file that a commit changed, its former path and its path."""
    fields = iter(records.lstrip(b"\n").split(b"\0"))
    for meta in fields:
        if not meta:
            return  # after the last of them
        old_path = path = next(fields)
        status = meta[meta.rindex(b" ") + 1 :]
        if status[:1] in (b"R", b"C"):
            path = next(fields)
        yield meta, path if status[:1] == b"C" else old_path, path
