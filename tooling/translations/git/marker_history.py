"""When the markers of translated pages, and pages without one, were written: one pass over their history."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from msgspec import Struct

from tooling.translations.git.repository import Repository

_KEYS = ("default_lang_commit",)
_FEWEST_LINES = 0.1  # a change of fewer lines of a page is a correction, not a translation


class MarkerWritten(Struct, frozen=True):
    """The commit that last changed a page's marker, or its text, and the page as it left it."""

    commit: str
    time: int
    blob: str


_LOG = (
    *("log", "-z", "--no-abbrev", "--no-renames", "--no-color", "--no-show-signature", "--no-ext-diff"),
    *("--diff-merges=first-parent", "--format=%x01%H%x00%ct"),
)


def read_page_history(repository: Repository, sizes: Mapping[str, int]) -> dict[str, MarkerWritten]:
    """For each path (from the top folder) the last commit that wrote at least a tenth of the page.

    Args:
        sizes: the number of lines of each page.

    Raises:
        GitError: the log could not be read.
    """
    if not sizes or repository.head is None:
        return {}
    arguments = [*_LOG, "--raw", "--numstat", repository.head, "--", *sorted(sizes)]
    found: dict[str, MarkerWritten] = {}
    for chunk in repository.run(arguments).split(b"\x01")[1:]:
        identity, time, *fields = chunk.split(b"\0")
        blobs: dict[str, str] = {}
        records = iter(fields)
        for record in records:
            meta = record.strip()
            if meta.startswith(b":"):
                blobs[os.fsdecode(next(records))] = meta.decode("ascii").split(" ")[3]
            elif meta:
                added, _, name = meta.split(b"\t", 2)
                path = os.fsdecode(name)
                if added.isdigit() and int(added) >= sizes[path] * _FEWEST_LINES:
                    written = MarkerWritten(identity.decode("ascii"), int(time), blobs[path])
                    found.setdefault(path, written)
    return found


def read_marker_history(
    repository: Repository, paths: Iterable[str], key: str | None = None
) -> dict[str, MarkerWritten]:
    """For each path (from the top folder) the commit that wrote its present marker; none for new pages.

    Args:
        key: of the front matter, where the marker is one.

    Raises:
        GitError: the log could not be read.
    """
    wanted = sorted(set(paths))
    if not wanted or repository.head is None:
        return {}
    names = "|".join(name.rpartition(".")[2] for name in (*_KEYS, *([key] if key else ())))
    lines = rf"-G^(<!-- *i18n-source-(commit|blob):| *({names}):)"
    arguments = [*_LOG, "--raw", lines, "--extended-regexp", repository.head, "--", *wanted]
    found: dict[str, MarkerWritten] = {}
    for chunk in repository.run(arguments).split(b"\x01")[1:]:
        identity, time, *fields = chunk.split(b"\0")
        records = iter(fields)
        for meta in records:
            if meta.strip():
                blob = meta.strip().decode("ascii").split(" ")[3]
                path = os.fsdecode(next(records))
                found.setdefault(path, MarkerWritten(identity.decode("ascii"), int(time), blob))
    return found
