"""The source as the writing commands need it: its repository, its pages at HEAD and their histories."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import ToolingError
from tooling.text import Text
from tooling.translations.freshness.pair import PagePair
from tooling.translations.git.history import HistoryReader, Log
from tooling.translations.git.repository import GIVE_IT_TREES, History, Repository
from tooling.translations.pages import find_files, key_of, read_source, read_translated
from tooling.translations.roots import Roots


class HistoryNeededError(ToolingError):
    """The command needs history that this clone does not have."""


class SourceHistory(Struct, frozen=True):
    """The chosen page pairs with the histories of their source pages.

    Attributes:
        pairs: by key; only keys that both trees have.
        unpaired: chosen keys that one tree lacks, with the reason.
    """

    repository: Repository
    pairs: dict[str, PagePair]
    unpaired: dict[str, Text]
    log: Log


def read_source_history(roots: Roots, keys: Collection[str] | None, *, fetch: bool = False) -> SourceHistory:
    """Reads pages and history for a command that names commits.

    Args:
        fetch: as for `survey`.

    Raises:
        GitError: there is no repository, or git failed.
        HistoryNeededError: the clone is treeless, so that reading its history would not end.
    """
    repository = Repository.open(roots.source, roots.base, network=fetch)
    if repository.history is History.TREELESS:
        raise HistoryNeededError(
            Text("this is a treeless clone"),
            why=Text("reading the history would fetch the folders of every commit one by one"),
            hint=GIVE_IT_TREES,
        )
    folder = Path(os.path.relpath(roots.source.resolve(), repository.root)).as_posix()
    history = HistoryReader(repository, folder)
    history.start()
    prefix = "" if folder == "." else f"{folder}/"
    tree = {key_of(path): (path, entry) for path, entry in repository.tree(folder).items()}
    files = find_files(roots)
    sources, targets = files.sources, files.targets
    pairs: dict[str, PagePair] = {}
    unpaired: dict[str, Text] = {}
    for key in sorted(sources.keys() | targets.keys() if keys is None else keys):
        if key not in targets:
            unpaired[key] = Text("there is no translation {key}").of(key=roots.target_name(key))
        elif key not in sources:
            unpaired[key] = Text("there is no source page {key}").of(key=roots.source_name(key))
        else:
            source = read_source(key, sources[key], repository.object_format)
            target = read_translated(key, targets[key], repository.object_format, roots.marker)
            path, entry = tree.get(key_of(prefix + key), (prefix + key, None))
            pairs[key] = PagePair.of(source, target, path, entry)
    log = history.read([pair.path for pair in pairs.values()])
    return SourceHistory(repository, pairs, unpaired, log)
