"""`recover`: finds the source text that a page with a lost pin was translated from.

Evidence is of two kinds: which source text was current when the marker was written (in a page without one,
the text), and how similar the code, link targets and numbers of the translation are to those of each version
of its source.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.translations.commands.source_history import SourceHistory, read_source_history
from tooling.translations.commands.writing import replace_page
from tooling.translations.diff.similarity import fingerprint, similarity
from tooling.translations.freshness.pair import PagePair
from tooling.translations.git.history import Revision
from tooling.translations.git.marker_history import MarkerWritten, read_marker_history, read_page_history
from tooling.translations.git.pins import PinReader, Question
from tooling.translations.git.repository import Repository
from tooling.translations.marker import write_marker
from tooling.translations.model import Pin
from tooling.translations.roots import Roots


class Candidate(Struct, frozen=True):
    """A version of the source that the translation may come from.

    Attributes:
        score: similarity of code, links and numbers, 0 to 1.
        in_force: it was the current source when the marker was written.
    """

    revision: Revision
    score: float
    in_force: bool


class Recovery(Struct, frozen=True):
    """A page with the candidates for its pin, best first.

    Attributes:
        written: when its marker was written, or most of its text in a page without a marker.
    """

    file: str
    pair: PagePair
    written: MarkerWritten | None
    candidates: tuple[Candidate, ...]

    @property
    def agree(self) -> bool:
        """Whether date and similarity point to the same version."""
        return bool(self.candidates) and self.candidates[0].in_force


def recover(roots: Roots, keys: Collection[str], *, fetch: bool = False) -> tuple[Recovery, ...]:
    """Ranks the versions of each page's source; writes nothing.

    Args:
        fetch: as for `survey`.

    Raises:
        GitError: there is no repository, or git failed.
        HistoryNeededError: the clone has no history to search.
    """
    history = read_source_history(roots, keys, fetch=fetch)
    target_repository = Repository.open(roots.target, roots.base, network=fetch)
    paths = {key: _path_in(target_repository, pair) for key, pair in history.pairs.items()}
    marked = {paths[key]: pair for key, pair in history.pairs.items() if _has_marker(pair)}
    sizes = {
        paths[key]: pair.target.page.path.read_bytes().count(b"\n")
        for key, pair in history.pairs.items()
        if not _has_marker(pair)
    }
    written = read_marker_history(target_repository, marked, roots.marker)
    written |= read_page_history(target_repository, sizes)
    with PinReader(target_repository) as target_reader, PinReader(history.repository) as reader:
        translations = target_reader.texts(one.blob for one in written.values())
        return tuple(
            Recovery(
                roots.target_name(key),
                pair,
                written.get(paths[key]),
                _candidates(history, pair, written.get(paths[key]), translations, reader),
            )
            for key, pair in history.pairs.items()
        )


def _has_marker(pair: PagePair) -> bool:
    return pair.target.marker.line is not None


def _path_in(repository: Repository, pair: PagePair) -> str:
    return Path(os.path.relpath(pair.target.page.path.resolve(), repository.root)).as_posix()


def _candidates(
    history: SourceHistory,
    pair: PagePair,
    written: MarkerWritten | None,
    translations: dict[str, bytes],
    reader: PinReader,
) -> tuple[Candidate, ...]:
    page = history.log.pages[pair.path]
    # A text cannot have been translated before it was written.
    versions = [
        one
        for one in page.revisions
        if one.new.strip("0") and (written is None or one.commit.time <= written.time)
    ]
    versions = list({one.new: one for one in reversed(versions)}.values())
    texts = reader.texts(one.new for one in versions)
    # The page as it was when it was pinned; later edits may have changed it.
    data = translations.get(written.blob) if written else None
    ours = fingerprint(
        (data or read_regular(pair.target.page.path, limit=TEXT_LIMIT)).decode("utf-8", "replace")
    )
    in_force = _in_force(reader, written, page.names(), versions)
    candidates = [
        Candidate(
            one,
            similarity(ours, fingerprint(texts[one.new].decode("utf-8", "replace"))),
            one.new == in_force,
        )
        for one in versions
        if one.new in texts
    ]
    candidates.sort(key=lambda one: (-round(one.score, 6), not one.in_force, -one.revision.commit.time))
    return tuple(candidates)


def _in_force(
    reader: PinReader, written: MarkerWritten | None, names: Collection[str], versions: Collection[Revision]
) -> str | None:
    """The source's blob when the marker was written."""
    if written is None:
        return None
    answers = reader.resolve([Question(written.commit, name) for name in names])
    found = next((answer.blob for answer in answers if answer.blob is not None), None)
    if found is not None:
        return found
    # The translation is in another repository: compare times.
    latest = max(versions, key=lambda one: one.commit.time, default=None)
    return latest.new if latest is not None else None


def apply_recovery(recovery: Recovery, roots: Roots) -> Pin | None:
    """Writes the best candidate into the marker; None where there is none.

    Raises:
        ConcurrentEditError: the page changed meanwhile.
    """
    if not recovery.candidates:
        return None
    best = recovery.candidates[0].revision
    pin = Pin(best.commit.id, best.new)
    path = recovery.pair.target.page.path
    before = read_regular(path, limit=TEXT_LIMIT)
    replace_page(path, before, write_marker(before, pin, roots.marker))
    return pin
