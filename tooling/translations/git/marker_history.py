"""When the markers of translated pages were written, read in one pass over the translation's history."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct

from tooling.translations.git.repository import Repository


class MarkerWritten(Struct, frozen=True):
    """The commit that last changed a page's marker, and the page as it left it."""

    commit: str
    time: int
    blob: str


def read_marker_history(repository: Repository, paths: Iterable[str]) -> dict[str, MarkerWritten]:
    """For each path (from the top folder) the commit that wrote its present marker; none for new pages.

    Raises:
        GitError: the log could not be read.
    """
    wanted = sorted(set(paths))
    if not wanted or repository.head is None:
        return {}
    arguments = ["log", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-color", "--no-show-signature"]
    arguments += ["--no-ext-diff", "--diff-merges=first-parent", "-G^<!-- *i18n-source-(commit|blob):"]
    arguments += ["--extended-regexp", "--format=%x01%H%x00%ct", repository.head, "--", *wanted]
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
