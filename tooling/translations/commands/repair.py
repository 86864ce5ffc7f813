"""`repair`: restores markers that have lost their commit or lack a blob line from the history."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.text import Sentence, Text
from tooling.translations.commands.source_history import SourceHistory, read_source_history
from tooling.translations.commands.writing import replace_page
from tooling.translations.freshness.pair import PagePair
from tooling.translations.git.pins import Answer, PinReader, Question, Resolution
from tooling.translations.marker import write_marker
from tooling.translations.model import Pin
from tooling.translations.roots import Roots


class Repair(Struct, frozen=True):
    """The repair of one marker. `pin` is None where none is possible."""

    file: str
    pair: PagePair
    pin: Pin | None
    reason: Sentence


def plan_repairs(
    roots: Roots, keys: Collection[str] | None = None, *, fetch: bool = False
) -> tuple[Repair, ...]:
    """The markers that need repair, with what would be written.

    Args:
        fetch: as for `survey`.

    Raises:
        GitError: there is no repository, or git failed.
        HistoryNeededError: the clone has no history to restore them from.
    """
    history = read_source_history(roots, keys, fetch=fetch)
    pinned = [pair for pair in history.pairs.values() if pair.target.marker.pin is not None]
    with_commit = [pair for pair in pinned if _pin(pair).commit is not None]
    with PinReader(history.repository) as reader:
        questions = [Question(pair.pinned_commit, pair.path) for pair in with_commit]
        answers = dict(zip((pair.key for pair in with_commit), reader.resolve(questions), strict=True))
        former = _former_names(history, with_commit, answers, reader)
    plans = [_plan(roots, history, pair, former.get(pair.key)) for pair in pinned]
    plans += [_without_pin(roots, pair) for pair in history.pairs.values() if pair.target.marker.pin is None]
    return tuple(sorted((plan for plan in plans if plan is not None), key=lambda plan: plan.file))


def _without_pin(roots: Roots, pair: PagePair) -> Repair:
    reason = pair.target.marker.defect or Text("the page has no marker")
    return Repair(
        roots.target_name(pair.key),
        pair,
        None,
        Text("{reason}: {command}").of(reason=reason, command=_recover(roots, pair)),
    )


def _recover(roots: Roots, pair: PagePair) -> str:
    return roots.command("recover", roots.target_argument(pair.key))


def _former_names(
    history: SourceHistory, pairs: Collection[PagePair], answers: dict[str, Resolution], reader: PinReader
) -> dict[str, Resolution]:
    """The answers; a page that had another path at its pin is looked up under that path."""
    moved = [
        (pair, name)
        for pair in pairs
        if answers[pair.key].answer is Answer.NO_PATH
        for name in history.log.pages[pair.path].names()[1:]
    ]
    found = reader.resolve([Question(pair.pinned_commit, name) for pair, name in moved])
    for (pair, _), resolution in zip(moved, found, strict=True):
        if resolution.blob is not None and answers[pair.key].blob is None:
            answers[pair.key] = resolution
    return answers


def _pin(pair: PagePair) -> Pin:
    assert pair.target.marker.pin is not None
    return pair.target.marker.pin


def _plan(
    roots: Roots, history: SourceHistory, pair: PagePair, resolution: Resolution | None
) -> Repair | None:
    pin, file = _pin(pair), roots.target_name(pair.key)
    resolved = resolution.blob if resolution is not None else None
    if pin.blob is None:
        if resolved is not None:
            return Repair(file, pair, Pin(pin.commit, resolved), Text("the blob line was missing"))
        reason = Text("the commit is lost, and without a blob line it cannot be found")
        return Repair(
            file,
            pair,
            None,
            Text("{reason}: {command}").of(reason=reason, command=_recover(roots, pair)),
        )
    if resolved == pin.blob:
        return None
    introduced = history.log.pages[pair.path].introducing(pin.blob)
    if introduced is None:
        reason = Text("the pinned text is not in this page's history")
        return Repair(
            file,
            pair,
            None,
            Text("{reason}: {command}").of(reason=reason, command=_recover(roots, pair)),
        )
    if pin.commit is None:
        why = Text("the marker had no commit")
    else:
        why = Text("the marker named {commit}, which is lost or another text").of(commit=pin.commit[:12])
    return Repair(file, pair, Pin(introduced.commit.id, pin.blob), why)


def apply_repairs(repairs: Collection[Repair], roots: Roots) -> None:
    """Writes the repaired markers.

    Raises:
        ConcurrentEditError: a page changed meanwhile.
    """
    for repair in repairs:
        if repair.pin is not None:
            path = repair.pair.target.page.path
            before = read_regular(path, limit=TEXT_LIMIT)
            replace_page(path, before, write_marker(before, repair.pin, roots.marker))
