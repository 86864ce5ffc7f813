"""The freshness of every page pair, judged by content.

Both trees are walked first. Only pins without a blob line need git to be resolved, and only pages that differ
need history, so the number of git processes does not depend on the number of pages.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from tooling.platform.errors import Location
from tooling.translations.cache import Cache
from tooling.translations.freshness.closer_look import look_closer
from tooling.translations.freshness.difference import Difference
from tooling.translations.freshness.pair import PagePair
from tooling.translations.git.history import Log, read_ignored_revisions, read_log, start_log
from tooling.translations.git.pins import Answer, PinReader, Question
from tooling.translations.git.repository import (
    GIVE_IT_TREES,
    UNSHALLOW,
    BareRepository,
    GitError,
    History,
    Repository,
    RunningGit,
    TreeEntry,
    read_tree,
)
from tooling.translations.model import Freshness, PageStatus, Problem, TreePage
from tooling.translations.pages import (
    RootNotFound,
    TranslatedPage,
    find_pages,
    key_of,
    read_source,
    read_translated,
)
from tooling.translations.roots import Roots


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
    return _Surveyor(roots, only, fetch, cache or Cache(None), moment).run()


class _Surveyor(Struct):
    roots: Roots
    only: Collection[str] | None
    fetch: bool
    cache: Cache[Difference]
    now: int
    repository: Repository | None = None
    no_repository: GitError | None = None
    folder: str = "."  # of the source pages, from the top folder
    pairs: list[PagePair] = field(default_factory=list)
    alone: dict[str, TreePage | TranslatedPage] = field(default_factory=dict)
    running_tree: RunningGit | None = None
    running_log: RunningGit | None = None
    differences: dict[str, Difference] = field(default_factory=dict)
    unreadable: bool = False  # pinned texts could not be read
    found: dict[str, PageStatus] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def run(self) -> Survey:
        sources = find_pages(self.roots.source, "--source")
        if not self.roots.target.is_dir():
            self._refuse_gettext()
        targets = find_pages(self.roots.target, "--translation")
        if not sources and not targets:
            raise RootNotFound(
                f"--source: no pages below {self.roots.name(self.roots.source)}",
                why="there is no Markdown file in it or in the folder of the translation",
                hint="name the folders of the pages with --source and --translation",
            )
        self._open()
        differing: list[PagePair] = []
        lost: list[PagePair] = []
        with PinReader(self.repository) as reader:
            self._read(sources, targets, reader)
            self._judge_by_marker(reader, differing, lost)
            if differing or lost:
                self._start_log()
            self._look_closer(reader, differing)  # while git reads the history
            log = self._read_log(differing, lost)
            moved = self._judge_by_former_names(reader, log, lost)
            self._look_closer(reader, moved)
            self._describe(log, [*differing, *moved])
        self._judge_single_pages(log)
        self.cache.save(whole=self.only is None)
        return Survey(
            self.roots,
            tuple(self.found[key] for key in sorted(self.found) if self.only is None or key in self.only),
            tuple(self.problems),
            self.repository.head if self.repository else None,
            self.repository,
            self.cache.hits,
            self.now,
        )

    def _refuse_gettext(self) -> None:
        """A translation as a gettext catalogue, as mdbook-i18n-helpers writes it, has no pages to compare."""
        catalogue = self.roots.base / "po" / f"{self.roots.language}.po"
        if catalogue.is_file():
            name = self.roots.name(catalogue)
            raise RootNotFound(
                "this book is translated with gettext, which is not supported",
                where=Location(catalogue),
                why="this command compares a tree of translated pages with the tree of their sources",
                hint=f"`msgfmt --statistics {name}` counts the translated, fuzzy and untranslated messages",
            )

    def _open(self) -> None:
        try:
            self.repository = Repository.open(self.roots.source, self.roots.base, network=self.fetch)
            self.folder = Path(os.path.relpath(self.roots.source.resolve(), self.repository.root)).as_posix()
            self.running_tree = self.repository.start_tree(self.folder)
        except BareRepository:
            raise
        except GitError as error:
            # Markers with a blob line do not need git; every page without one becomes `unknown` below.
            self.no_repository = error
            self.repository = None

    def _read(self, sources: dict[str, Path], targets: dict[str, Path], reader: PinReader) -> None:
        """Reads the pages; git is started as soon as a page needs it."""
        object_format = self.repository.object_format if self.repository else "sha1"
        pages: list[tuple[TreePage, TranslatedPage]] = []
        keys = sources.keys() | targets.keys()
        single = sources.keys() ^ targets.keys()
        if self.only is not None:
            asked = frozenset(self.only)
            # A page of one tree alone may have moved; then all of these are needed to find its counterpart.
            keys = keys & asked | (single if single & asked else set())
        for key in keys:
            if key not in targets:
                self.alone[key] = read_source(key, sources[key], object_format)
            elif key not in sources:
                self.alone[key] = read_translated(key, targets[key], object_format)
            else:
                source = read_source(key, sources[key], object_format)
                target = read_translated(key, targets[key], object_format)
                pages.append((source, target))
                pin = target.marker.pin
                if pin is not None and pin.blob not in source.blobs and not self._cannot_resolve():
                    reader.start()
                    if pin.blob is not None:
                        self._start_log()
        tree = self._read_tree()
        prefix = "" if self.folder == "." else f"{self.folder}/"
        for source, target in sorted(pages, key=lambda pair: pair[0].key):
            path, entry = tree.get(key_of(prefix + source.key), (prefix + source.key, None))
            self.pairs.append(PagePair.of(source, target, path, entry))

    def _read_tree(self) -> dict[str, tuple[str, TreeEntry]]:
        """The source pages of HEAD by key, with their paths as git has them."""
        try:
            return {key_of(path): (path, entry) for path, entry in read_tree(self.running_tree).items()}
        except GitError as error:
            self._git_problem("the source pages of HEAD could not be listed", error)
            return {}

    def _settle(
        self, pair: PagePair, freshness: Freshness, reason: str | None = None, hint: str = ""
    ) -> None:
        self.found[pair.key] = pair.status(self.roots, freshness, reason, hint or None)

    def _judge_by_marker(self, reader: PinReader, differing: list[PagePair], lost: list[PagePair]) -> None:
        """Judges the pages for which the marker and the pinned commit's tree are sufficient."""
        questions: list[tuple[PagePair, Question]] = []
        for pair in self.pairs:
            marker = pair.target.marker
            if marker.defect is not None:
                hint = "stamp the page again, or restore the marker from its history"
                self._settle(pair, Freshness.BAD_PIN, reason=marker.defect, hint=hint)
            elif marker.pin is None:
                self._settle(
                    pair,
                    Freshness.UNTRACKED,
                    reason="the page has no marker, so the text that it translates is unknown",
                    hint="tooling check-translations stamp --at COMMIT PAGE",
                )
            elif marker.pin.blob is not None:
                self._weigh(pair, marker.pin.blob, differing)
            else:
                assert marker.pin.commit is not None
                questions.append((pair, Question(marker.pin.commit, pair.path)))
        if not questions:
            return
        reason = self._cannot_resolve()
        if reason is None:
            try:
                answers = reader.resolve([question for _, question in questions])
            except GitError as error:
                reason = (f"git could not resolve the pin: {error.what}", error.hint or "run git fsck")
        if reason is not None:
            for pair, _ in questions:
                self._settle(pair, Freshness.UNKNOWN, reason=reason[0], hint=reason[1])
            return
        for (pair, question), resolution in zip(questions, answers, strict=True):
            if resolution.blob is not None:
                self._weigh(pair, resolution.blob, differing)
            elif resolution.answer is Answer.NO_COMMIT:
                self._status_of_lost_commit(pair, question.commit)
            else:
                lost.append(pair)

    def _weigh(self, pair: PagePair, old: str, differing: list[PagePair]) -> None:
        pair.old = old
        if old in pair.source.blobs:
            self._settle(pair, Freshness.CURRENT)
        else:
            differing.append(pair)

    def _cannot_resolve(self) -> tuple[str, str] | None:
        """Why pins without a blob line cannot be resolved here, and what to do; None when they can."""
        if self.repository is None:
            error = self.no_repository
            assert error is not None
            return f"{error.what}, and the marker has no blob line", error.hint or "run this in a clone"
        if self.repository.history is History.TREELESS:
            return (
                "this is a treeless clone: every pin would fetch folders one by one",
                GIVE_IT_TREES,
            )
        return None

    def _status_of_lost_commit(self, pair: PagePair, commit: str) -> None:
        if self.repository is not None and self.repository.is_shallow:
            self._settle(
                pair,
                Freshness.UNKNOWN,
                reason=f"the history of this clone is cut off before {commit[:12]}",
                hint=UNSHALLOW,
            )
            return
        self._settle(
            pair,
            Freshness.BAD_PIN,
            reason=f"commit {commit[:12]} does not exist here: squashed, rebased or never pushed",
            hint=f"tooling check-translations recover {self.roots.target_argument(pair.key)}",
        )

    def _read_log(self, differing: list[PagePair], lost: list[PagePair]) -> Log | None:
        orphans = any(isinstance(page, TranslatedPage) for page in self.alone.values())
        missing = any(isinstance(page, TreePage) for page in self.alone.values())
        if self.repository is None or not (differing or lost or (orphans and missing)):
            return None
        if self.repository.history is History.TREELESS:
            self.problems.append(
                Problem(
                    "history was not read: this is a treeless clone",
                    "reading it would fetch the folders of every commit one by one",
                    GIVE_IT_TREES,
                )
            )
            return None
        self._start_log()
        try:
            paths = [pair.path for pair in (*differing, *lost)]
            return read_log(self.running_log, self.repository.boundary, paths)
        except GitError as error:
            self._git_problem("the history of the source pages could not be read", error)
            return None

    def _start_log(self) -> None:
        """Starts git on the history as soon as a page needs it."""
        if self.repository is not None and self.repository.history is not History.TREELESS:
            self.running_log = self.running_log or start_log(self.repository, self.folder)

    def _git_problem(self, what: str, error: GitError) -> None:
        why = f"{error.what}: {error.why}" if error.why else error.what
        self.problems.append(Problem(what, why, error.hint or "run git fsck"))

    def _judge_by_former_names(
        self, reader: PinReader, log: Log | None, lost: list[PagePair]
    ) -> list[PagePair]:
        """Judges pins at which today's path does not exist: the page was moved since, or the pin is wrong.

        Returns:
            The pages that had another path, and another text.
        """
        differing: list[PagePair] = []
        questions = [
            (pair, name) for pair in lost if log is not None for name in log.pages[pair.path].names()[1:]
        ]
        commits = {pair.key: pair.pinned_commit for pair in lost}
        try:
            answers = reader.resolve([Question(commits[pair.key], name) for pair, name in questions])
        except GitError as error:
            self._git_problem("former names of moved pages could not be looked up", error)
            log, answers, questions = None, [], []
        for (pair, name), resolution in zip(questions, answers, strict=True):
            if resolution.blob is not None and pair.old is None:
                pair.moved = name
                self._weigh(pair, resolution.blob, differing)
        for pair in lost:
            if pair.old is not None:
                continue
            if log is None or (self.repository is not None and self.repository.is_shallow):
                reason = "the page had another path at the pin, and this clone lacks the history that has it"
                self._settle(pair, Freshness.UNKNOWN, reason=reason, hint=UNSHALLOW)
            else:
                first = log.pages[pair.path].revisions[-1:]
                born = f"; the page first appears in {first[0].commit.id[:12]}" if first else ""
                self._settle(
                    pair,
                    Freshness.BAD_PIN,
                    reason=f"path absent at commit {commits[pair.key][:12]}: older than the page{born}",
                    hint=f"tooling check-translations recover {self.roots.target_argument(pair.key)}",
                )
        return differing

    def _look_closer(self, reader: PinReader, differing: list[PagePair]) -> None:
        if not differing:
            return
        look = look_closer(differing, reader, self.cache)
        self.differences |= look.differences
        if look.error is not None:
            self.unreadable = True
            self._git_problem("the pinned texts could not be read, so the changes are unknown", look.error)

    def _describe(self, log: Log | None, differing: list[PagePair]) -> None:
        """Records for pages that differ what changed, since when, and whether it may be skipped."""
        if not differing:
            return
        ignored = read_ignored_revisions(self.repository.root) if self.repository else frozenset[str]()
        complete = self.repository is not None and self.repository.history is History.FULL
        for pair in differing:
            difference = self.differences.get(pair.key)
            if difference is None and complete and not self.unreadable:
                assert pair.old is not None
                self._settle(
                    pair,
                    Freshness.BAD_PIN,
                    reason=f"the pinned text {pair.old[:12]} does not exist here, and it is not today's",
                    hint=f"tooling check-translations recover {self.roots.target_argument(pair.key)}",
                )
                continue
            status = pair.stale_status(self.roots, difference)
            if log is not None:
                status = pair.with_history(status, log.pages[pair.path], ignored)
            self.found[pair.key] = status

    def _judge_single_pages(self, log: Log | None) -> None:
        sources = {key: page for key, page in self.alone.items() if isinstance(page, TreePage)}
        by_blob = {blob: key for key, page in sources.items() for blob in page.blobs}
        for key, page in self.alone.items():
            if not isinstance(page, TranslatedPage):
                continue
            pin = page.marker.pin
            went = by_blob.get(pin.blob) if pin and pin.blob else None
            went = went or self._later_key(log, key)
            name = self.roots.target_argument(key)
            status = PageStatus(
                key,
                Freshness.ORPHANED,
                target=self.roots.target_name(key),
                pin=pin,
                reason="its source page is gone",
                hint=f"git rm {name}",
            )
            if went in sources:
                move = f"git mv {name} {self.roots.target_argument(went)}"
                reason = f"its source page moved to {went}"
                status = replace(status, moved=went, reason=reason, hint=move)
                reason = f"its translation is still at {key}"
                self.found[went] = replace(self._missing(sources[went]), moved=key, reason=reason, hint=move)
            self.found[key] = status
        for key, source in sources.items():
            self.found.setdefault(key, self._missing(source))

    def _missing(self, page: TreePage) -> PageStatus:
        return PageStatus(
            page.key,
            Freshness.MISSING,
            source=self.roots.source_name(page.key),
            today=page.blobs[-1],
            reason="the page has no translation yet",
            hint=f"translate it to {self.roots.target_name(page.key)}, then stamp it",
        )

    def _later_key(self, log: Log | None, key: str) -> str | None:
        """The key under which a source page that is gone exists today, by the history."""
        prefix = "" if self.folder == "." else f"{self.folder}/"
        later = log.later_name(prefix + key) if log is not None else None
        return key_of(later.removeprefix(prefix)) if later else None
