"""The freshness of every page pair, judged by content.

Five steps, each with a frozen result: the trees are read, the pins are resolved, the pages that differ are
compared, the history is read, and every page gets its status.
Both trees are walked first. Only pins without a blob line need git to be resolved, and only pages that differ
need history, so the number of git processes does not depend on the number of pages.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.platform.errors import Location
from tooling.text import Sentence, Text
from tooling.translations.cache import Cache
from tooling.translations.freshness.checkout import Checkout, git_problem
from tooling.translations.freshness.closer_look import look_closer
from tooling.translations.freshness.difference import Difference
from tooling.translations.freshness.pair import PagePair
from tooling.translations.git.history import Log, read_ignored_revisions
from tooling.translations.git.pins import Answer, PinReader, Question, Resolution
from tooling.translations.git.repository import (
    GIVE_IT_TREES,
    UNSHALLOW,
    GitError,
    History,
    Repository,
    read_tree,
)
from tooling.translations.model import Freshness, PageStatus, Problem, TreePage
from tooling.translations.pages import (
    RootNotFound,
    TranslatedPage,
    find_files,
    key_of,
    read_source,
    read_translated,
)
from tooling.translations.roots import Roots
from tooling.translations.settings import SETTINGS

_WHOLE_ID = 40


class Survey(Struct, frozen=True):
    """The freshness of all pages, and what could not be determined.

    Attributes:
        roots: the trees that were compared.
        pages: one status per page of either tree, by key.
        problems: why the result is incomplete; empty for a complete one.
        head: the commit checked out, None without one.
        repository: the checkout; None where there is none.
        cache_hits: how many comparisons came from the cache.
        time: when the survey was made, epoch seconds.
    """

    roots: Roots
    pages: tuple[PageStatus, ...]
    problems: tuple[Problem, ...]
    head: str | None
    repository: Repository | None
    cache_hits: int
    time: int


def survey(
    roots: Roots,
    *,
    only: Collection[str] | None = None,
    fetch: bool = False,
    cache: Cache[Difference] | None = None,
    now: int | None = None,
) -> Survey:
    """Judges the freshness of every page, or of the pages with the keys in `only`.

    Args:
        fetch: ask the remote for lost commits, and for texts that a partial clone lacks.
        cache: results of earlier runs.
        now: epoch seconds to use as the current time (default: the clock).

    Raises:
        RootNotFound: a root is not a folder, or neither has a page.
        BareRepository: there is no worktree.
        IgnoredRevisionError: `.i18n-ignore-revs` is malformed.
    """
    moment = int(time.time()) if now is None else now
    results = cache or Cache(None)
    names = _PageNames.of(roots)
    checkout = Checkout.open(roots, network=fetch)
    with PinReader(checkout.repository) as reader:
        trees = _read_trees(roots, names, only, checkout, reader)
        pins = _resolve_pins(roots, trees, checkout, reader)
        if pins.differing or pins.lost:
            checkout.start_history()
        compared = _compare(pins.differing, reader, results)  # while git reads the history
        past = _read_history(roots, trees, pins, checkout, reader)
        moved = _compare(past.differing, reader, results)
    pages = _judge(roots, checkout, trees, pins, past, (compared, moved))
    results.save(whole=only is None)
    repository = checkout.repository
    return Survey(
        roots,
        tuple(pages[key] for key in sorted(pages) if only is None or key in only),
        (*trees.problems, *compared.problems, *past.problems, *moved.problems),
        repository.head if repository else None,
        repository,
        results.hits,
        moment,
    )


# -- what there is to read ------------------------------------------------------------------------------


class _PageNames(Struct, frozen=True):
    """The files of both trees by key."""

    sources: Mapping[str, Path]
    targets: Mapping[str, Path]

    @classmethod
    def of(cls, roots: Roots) -> _PageNames:
        """Walks both trees. Raises RootNotFound: as for `survey`."""
        if not roots.target.is_dir():
            _refuse_gettext(roots)
        found = find_files(roots)
        if not found.sources and not found.targets:
            raise RootNotFound(
                Text("--source: no pages below {source}").of(source=roots.name(roots.source)),
                why=Text("there is no Markdown file in it or in the folder of the translation"),
                hint=Text("name the folders of the pages with --source and --translation"),
            )
        return cls(found.sources, found.targets)

    def wanted(self, only: Collection[str] | None) -> Collection[str]:
        """The keys of the pages to read for those in `only`."""
        keys = self.sources.keys() | self.targets.keys()
        if only is None:
            return keys
        asked = frozenset(only)
        single = self.sources.keys() ^ self.targets.keys()
        # A page of one tree alone may have moved; then all of these are needed to find its counterpart.
        return keys & asked | (single if single & asked else set())


def _refuse_gettext(roots: Roots) -> None:
    """A translation as a gettext catalogue, as mdbook-i18n-helpers writes it, has no pages to compare."""
    catalogue = roots.base / "po" / f"{roots.language}.po"
    if catalogue.is_file():
        name = roots.name(catalogue)
        raise RootNotFound(
            Text("this book is translated with gettext, which is not supported"),
            where=Location(catalogue),
            why=Text("this command compares a tree of translated pages with the tree of their sources"),
            hint=Text(
                "`msgfmt --statistics {name}` counts the translated, fuzzy and untranslated messages"
            ).of(name=name),
        )


# -- 1. trees -------------------------------------------------------------------------------------------


class _Trees(Struct, frozen=True):
    """The pages: pairs in the order of their keys, and pages of one tree alone."""

    pairs: tuple[PagePair, ...]
    sources_alone: Mapping[str, TreePage]
    targets_alone: Mapping[str, TranslatedPage]
    problems: tuple[Problem, ...]


def _read_trees(
    roots: Roots,
    names: _PageNames,
    only: Collection[str] | None,
    checkout: Checkout,
    reader: PinReader,
) -> _Trees:
    """Reads the pages; git is started as soon as a page needs it."""
    object_format = checkout.repository.object_format if checkout.repository else "sha1"
    resolvable = checkout.cannot_resolve() is None
    pages: list[tuple[TreePage, TranslatedPage]] = []
    sources_alone: dict[str, TreePage] = {}
    targets_alone: dict[str, TranslatedPage] = {}
    for key in names.wanted(only):
        if key not in names.targets:
            sources_alone[key] = read_source(key, names.sources[key], object_format)
        elif key not in names.sources:
            targets_alone[key] = read_translated(key, names.targets[key], object_format, roots.marker)
        else:
            source = read_source(key, names.sources[key], object_format)
            target = read_translated(key, names.targets[key], object_format, roots.marker)
            pages.append((source, target))
            pin = target.marker.pin
            if pin is not None and pin.blob not in source.blobs and resolvable:
                reader.start()
                if pin.blob is not None:
                    checkout.start_history()
    problems: tuple[Problem, ...] = ()
    try:
        tree = {key_of(path): (path, entry) for path, entry in read_tree(checkout.tree).items()}
    except GitError as error:
        tree = {}
        problems = (git_problem(Text("the source pages of HEAD could not be listed"), error),)
    pairs = []
    for source, target in sorted(pages, key=lambda pair: pair[0].key):
        path = checkout.prefix + source.key
        pairs.append(PagePair.of(source, target, *tree.get(key_of(path), (path, None))))
    return _Trees(tuple(pairs), sources_alone, targets_alone, problems)


# -- 2. pins --------------------------------------------------------------------------------------------


class _Pins(Struct, frozen=True):
    """What the markers, and the trees of the pinned commits, show.

    Attributes:
        differing: pairs whose pinned text is not today's.
        lost: pairs whose path does not exist at the pinned commit.
        statuses: of the other pairs, by key.
    """

    differing: tuple[PagePair, ...]
    lost: tuple[PagePair, ...]
    statuses: Mapping[str, PageStatus]


def _resolve_pins(roots: Roots, trees: _Trees, checkout: Checkout, reader: PinReader) -> _Pins:
    differing: list[PagePair] = []
    lost: list[PagePair] = []
    statuses: dict[str, PageStatus] = {}
    unresolved: list[PagePair] = []
    for pair in trees.pairs:
        pin = pair.target.marker.pin
        if status := _status_of_marker(roots, pair):
            statuses[pair.key] = status
        elif pin is not None and pin.blob is not None:
            _enter(roots, pair.pinned(pin.blob), differing, statuses)
        else:
            unresolved.append(pair)
    answers, reason = _answers(unresolved, checkout, reader)
    for pair, resolution in zip(unresolved, answers, strict=True):
        if resolution is None:
            assert reason is not None
            statuses[pair.key] = pair.status(roots, Freshness.UNKNOWN, *reason)
        elif resolution.blob is not None:
            _enter(roots, pair.pinned(resolution.blob), differing, statuses)
        elif resolution.answer is Answer.NO_COMMIT:
            statuses[pair.key] = _status_of_lost_commit(roots, pair, checkout)
        else:
            lost.append(pair)
    return _Pins(tuple(differing), tuple(lost), statuses)


def _status_of_marker(roots: Roots, pair: PagePair) -> PageStatus | None:
    """The status of a page whose marker has no pin."""
    marker = pair.target.marker
    if marker.defect is not None:
        advice = Text("stamp the page again, or restore the marker from its history")
        return pair.status(roots, Freshness.BAD_PIN, marker.defect, advice)
    if marker.pin is None:
        reason = Text("the page has no marker, so the text that it translates is unknown")
        hint: str | Sentence = roots.command("recover", roots.target_argument(pair.key))
        if marker.other is not None:
            line, name = marker.other
            reason = Text("the page has no marker that is read; its line {line} has `{name}`").of(
                line=line, name=name
            )
            hint = Text('--marker {name}, or `marker = "{name}"` in [translations] of {file}, reads it').of(
                name=name, file=SETTINGS
            )
        return pair.status(roots, Freshness.UNTRACKED, reason, hint)
    return None


def _enter(roots: Roots, pair: PagePair, differing: list[PagePair], statuses: dict[str, PageStatus]) -> None:
    """Enters a pair whose pinned text is known among those that differ, or as current."""
    if pair.is_current:
        statuses[pair.key] = pair.status(roots, Freshness.CURRENT)
    else:
        differing.append(pair)


def _answers(
    pairs: Sequence[PagePair], checkout: Checkout, reader: PinReader
) -> tuple[Sequence[Resolution | None], tuple[Sentence, str | Sentence] | None]:
    """What the pinned commits have at the paths of the pairs; None for each, and the reason, if unknown."""
    if not pairs:
        return (), None
    reason = checkout.cannot_resolve()
    if reason is None:
        try:
            return reader.resolve([Question(pair.pinned_commit, pair.path) for pair in pairs]), None
        except GitError as error:
            reason = (
                Text("git could not resolve the pin: {what}").of(what=error.sentences[0]),
                error.sentences[2] or Text("run git fsck"),
            )
    return [None] * len(pairs), reason


def _status_of_lost_commit(roots: Roots, pair: PagePair, checkout: Checkout) -> PageStatus:
    commit = pair.pinned_commit[:12]
    if checkout.is_shallow:
        reason = Text("the history of this clone is cut off before {commit}").of(commit=commit)
        return pair.status(roots, Freshness.UNKNOWN, reason, UNSHALLOW)
    reason = (
        Text("commit {commit} does not exist here: squashed, rebased or never pushed")
        if len(pair.pinned_commit) >= _WHOLE_ID
        else Text(
            "commit {commit} does not exist here: squashed, rebased or never pushed, "
            "or other objects begin with it too"
        )
    )
    return pair.status(
        roots,
        Freshness.BAD_PIN,
        reason.of(commit=commit),
        _recover(roots, pair),
    )


def _recover(roots: Roots, pair: PagePair) -> str:
    return roots.command("recover", roots.target_argument(pair.key))


# -- 3. comparison --------------------------------------------------------------------------------------


class _Compared(Struct, frozen=True):
    """What changed in the pages that differ, by key; a page without an entry has no readable pinned text.

    Attributes:
        complete: every pinned text could be read, or does not exist.
    """

    differences: Mapping[str, Difference]
    problems: tuple[Problem, ...] = ()

    @property
    def complete(self) -> bool:
        return not self.problems


def _compare(pairs: Sequence[PagePair], reader: PinReader, cache: Cache[Difference]) -> _Compared:
    if not pairs:
        return _Compared({})
    look = look_closer(pairs, reader, cache)
    if look.error is None:
        return _Compared(look.differences)
    what = Text("the pinned texts could not be read, so the changes are unknown")
    return _Compared(look.differences, (git_problem(what, look.error),))


# -- 4. history -----------------------------------------------------------------------------------------


class _Past(Struct, frozen=True):
    """What the history of the source pages shows.

    Attributes:
        log: None where it was not needed or could not be read.
        differing: pairs that had another path, and another text, at their pin.
        statuses: of the other pairs whose path does not exist at their pin, by key.
    """

    log: Log | None
    differing: tuple[PagePair, ...]
    statuses: Mapping[str, PageStatus]
    problems: tuple[Problem, ...]


def _read_history(roots: Roots, trees: _Trees, pins: _Pins, checkout: Checkout, reader: PinReader) -> _Past:
    problems: list[Problem] = []
    log = _read_log(trees, pins, checkout, problems)
    names = [(pair, name) for pair in pins.lost if log for name in log.pages[pair.path].names()[1:]]
    try:
        answers = reader.resolve([Question(pair.pinned_commit, name) for pair, name in names])
    except GitError as error:
        problems.append(git_problem(Text("former names of moved pages could not be looked up"), error))
        log, answers, names = None, [], []
    former: dict[str, PagePair] = {}
    for (pair, name), resolution in zip(names, answers, strict=True):
        if resolution.blob is not None:
            former.setdefault(pair.key, pair.pinned(resolution.blob, moved=name))
    differing: list[PagePair] = []
    statuses: dict[str, PageStatus] = {}
    for pair in pins.lost:
        if pair.key in former:
            _enter(roots, former[pair.key], differing, statuses)
        else:
            statuses[pair.key] = _status_of_lost_path(roots, pair, log, checkout)
    return _Past(log, tuple(differing), statuses, tuple(problems))


def _read_log(trees: _Trees, pins: _Pins, checkout: Checkout, problems: list[Problem]) -> Log | None:
    """The history of the pages that need it; None if none does, or if it cannot be read."""
    paths = [pair.path for pair in (*pins.differing, *pins.lost)]
    needed = paths or (trees.targets_alone and trees.sources_alone)
    if checkout.repository is None or not needed:
        return None
    if checkout.history is None:
        problems.append(
            Problem(
                Text("history was not read: this is a treeless clone"),
                Text("reading it would fetch the folders of every commit one by one"),
                GIVE_IT_TREES,
            )
        )
        return None
    try:
        return checkout.history.read(paths)
    except GitError as error:
        problems.append(git_problem(Text("the history of the source pages could not be read"), error))
        return None


def _status_of_lost_path(roots: Roots, pair: PagePair, log: Log | None, checkout: Checkout) -> PageStatus:
    """The status of a page that has no known path at its pin: it was moved, or the pin is wrong."""
    if log is None or checkout.is_shallow:
        reason = Text("the page had another path at the pin, and this clone lacks the history that has it")
        return pair.status(roots, Freshness.UNKNOWN, reason, UNSHALLOW)
    first = log.pages[pair.path].revisions[-1:]
    reason = Text("path absent at commit {commit}: older than the page").of(commit=pair.pinned_commit[:12])
    if first:
        reason = Text("{reason}; the page first appears in {commit}").of(
            reason=reason, commit=first[0].commit.id[:12]
        )
    return pair.status(roots, Freshness.BAD_PIN, reason, _recover(roots, pair))


# -- 5. statuses ----------------------------------------------------------------------------------------


def _judge(  # noqa: PLR0917 - the results of the steps before
    roots: Roots,
    checkout: Checkout,
    trees: _Trees,
    pins: _Pins,
    past: _Past,
    comparisons: tuple[_Compared, ...],
) -> dict[str, PageStatus]:
    """The status of every page, by key."""
    return {
        **pins.statuses,
        **past.statuses,
        **_judge_differing(roots, (*pins.differing, *past.differing), past.log, checkout, comparisons),
        **_judge_single_pages(roots, trees, past.log, checkout),
    }


def _judge_differing(
    roots: Roots,
    pairs: Sequence[PagePair],
    log: Log | None,
    checkout: Checkout,
    comparisons: tuple[_Compared, ...],
) -> dict[str, PageStatus]:
    """What changed in pages that differ, since when, and whether it may be skipped."""
    repository = checkout.repository
    ignored = read_ignored_revisions(repository.root) if pairs and repository else frozenset[str]()
    differences = {key: found for each in comparisons for key, found in each.differences.items()}
    whole = repository is not None and repository.history is History.FULL
    exhaustive = whole and all(each.complete for each in comparisons)
    statuses: dict[str, PageStatus] = {}
    for pair in pairs:
        difference = differences.get(pair.key)
        if difference is None and exhaustive:
            assert pair.old is not None
            reason = Text("the pinned text {old} does not exist here, and it is not today's").of(
                old=pair.old[:12]
            )
            statuses[pair.key] = pair.status(roots, Freshness.BAD_PIN, reason, _recover(roots, pair))
            continue
        status = pair.stale_status(roots, difference)
        if log is not None:
            status = pair.with_history(status, log.pages[pair.path], ignored, whole=whole)
        statuses[pair.key] = status
    return statuses


def _judge_single_pages(
    roots: Roots, trees: _Trees, log: Log | None, checkout: Checkout
) -> dict[str, PageStatus]:
    """Pages of one tree alone: translations whose source is gone, and sources without a translation."""
    sources = trees.sources_alone
    statuses = {key: _missing(roots, source) for key, source in sources.items()}
    by_blob = {blob: key for key, page in sources.items() for blob in page.blobs}
    for key, page in trees.targets_alone.items():
        pin = page.marker.pin
        went = by_blob.get(pin.blob) if pin and pin.blob else None
        went = went or _later_key(log, key, checkout.prefix)
        name = roots.target_argument(key)
        status = PageStatus(
            key,
            Freshness.ORPHANED,
            target=roots.target_name(key),
            pin=pin,
            reason=Text("its source page is gone"),
            hint=f"git rm {name}",
        )
        if went is not None and went in sources:
            move = f"git mv {name} {roots.target_argument(went)}"
            status = replace(
                status, moved=went, reason=Text("its source page moved to {went}").of(went=went), hint=move
            )
            reason = Text("its translation is still at {key}").of(key=key)
            statuses[went] = replace(statuses[went], moved=key, reason=reason, hint=move)
        statuses[key] = status
    return statuses


def _missing(roots: Roots, page: TreePage) -> PageStatus:
    return PageStatus(
        page.key,
        Freshness.MISSING,
        source=roots.source_name(page.key),
        today=page.blobs[-1],
        reason=Text("the page has no translation yet"),
        hint=Text("translate it to {key}, then stamp it").of(key=roots.target_name(page.key)),
    )


def _later_key(log: Log | None, key: str, prefix: str) -> str | None:
    """The key under which a source page that is gone exists today, by the history."""
    later = log.later_name(prefix + key) if log is not None else None
    return key_of(later.removeprefix(prefix)) if later else None
