"""Fidelity: whether a translation matches its source at the pin.

Every page is compared with the source text that it names: a difference there is an error of the translation;
later changes are drift, which `freshness` reports. An error that today's source makes right is left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from tooling.mdbook.books import Library
from tooling.mdbook.pages import Page
from tooling.platform.gc_pause import paused_gc
from tooling.platform.regular_files import read_regular
from tooling.text import Text
from tooling.translations.cache import Cache
from tooling.translations.findings import FidelityResult, TranslationFinding
from tooling.translations.freshness.checkout import git_problem
from tooling.translations.freshness.include_drift import IncludeUse, find_drift, uses_of
from tooling.translations.freshness.survey import Survey
from tooling.translations.freshness.workers import map_pages
from tooling.translations.git.pins import PinReader
from tooling.translations.git.repository import GIVE_IT_TREES, UNSHALLOW, GitError, History
from tooling.translations.model import Fidelity, Freshness, FreshnessSeverity, PageStatus, Problem
from tooling.translations.pages import comparable
from tooling.translations.parity import comparison
from tooling.translations.parity.findings import ParityFinding
from tooling.translations.parity.marker import find_wrong_commits
from tooling.translations.parity.page_cache import CachedResult, PageResult, ResultFinder, digest_of
from tooling.translations.roots import Roots
from tooling.translations.settings import Profile

_BATCH = 10_000  # pages whose pinned texts are held in memory at a time; each batch starts its processes
_runs = itertools.count()


class _Task(Struct, frozen=True):
    """One page to compare. `pinned` is None where today's source is the pinned text."""

    run: int
    roots: Roots
    glossary: Path | None
    status: PageStatus
    pinned: bytes | None

    @property
    def pin(self) -> str | None:
        """The id of `pinned`."""
        return self.status.pinned_blob if self.pinned is not None else None


def check_fidelity(
    survey: Survey,
    glossary_file: Path | None,
    cache: Cache[CachedResult] | None = None,
    *,
    whole: bool = True,
) -> FidelityResult:
    """Compares every translated page with its source at the pin; source pages are checked for dead links.

    Args:
        glossary_file: the glossary to check against, None for none.
        cache: results of earlier runs.
        whole: the survey has every page, so the cache can forget others.
    """
    problems: list[Problem] = []
    findings: list[TranslationFinding] = []
    pages: dict[str, Fidelity] = {}
    uses: list[IncludeUse] = []
    cache = cache or Cache(None)
    finder = ResultFinder(cache, survey.roots, _digest(glossary_file))
    if (
        glossary_file is not None
        and not finder.knows_glossary
        and (problem := _glossary_problem(glossary_file, survey.roots)) is not None
    ):
        problems.append(problem)
        glossary_file = finder.glossary = None
    run = next(_runs)
    repository = survey.repository
    with PinReader(repository) as reader:
        for start in range(0, len(survey.pages), _BATCH):
            batch = survey.pages[start : start + _BATCH]
            texts, problem = _pinned_texts(reader, batch)
            if problem is not None:
                problems.append(problem)
            tasks = [_task(run, survey.roots, glossary_file, status, texts) for status in batch]
            for result in _results(finder, [task for task in tasks if task is not None]):
                findings.extend(result.findings)
                uses.extend(result.uses)
            for status in batch:
                pages[status.key] = _without_comparison(status, texts)
        if repository is not None and repository.history is History.TREELESS and uses:
            what = Text("included code was not compared with that at the pin: this is a treeless clone")
            why = Text("it would fetch the folders of every pinned commit one by one")
            problems.append(Problem(what, why, GIVE_IT_TREES))
        elif repository is not None and repository.history is not History.TREELESS:
            try:
                drift, lost = find_drift(reader, repository.root, survey.roots, uses)
                findings.extend(drift)
                findings.extend(find_wrong_commits(reader, repository.root, survey))
                if lost and repository.is_shallow:
                    problems.append(_cut_off(len(lost)))
            except GitError as error:
                what = Text("included code could not be compared with that at the pin")
                problems.append(git_problem(what, error))
    cache.save(whole=whole)
    for key, worst in _worst(findings).items():
        if key in pages and pages[key] is Fidelity.FAITHFUL and worst > FreshnessSeverity.INFO:
            pages[key] = Fidelity.MISMATCH if worst is FreshnessSeverity.ERROR else Fidelity.WARNINGS
    return FidelityResult(pages, tuple(findings), tuple(problems))


def _results(finder: ResultFinder, tasks: Sequence[_Task]) -> list[PageResult]:
    """The results of these pages, in order: from the cache where it is still valid, otherwise computed."""
    found = {task.status.key: finder.find(task.status, task.pin) for task in tasks}
    todo = [task for task in tasks if found[task.status.key] is None]
    for task, result in zip(todo, map_pages(_check, todo), strict=True):
        finder.keep(task.status, task.pin, result)
        found[result.key] = result
    return [result for result in found.values() if result is not None]


def _cut_off(commits: int) -> Problem:
    pins = Text("{count} pinned commit", "{count} pinned commits").of(count=commits)
    what = Text("included code was not compared with that at the pin")
    return Problem(what, Text("the history of this clone is cut off before {pins}").of(pins=pins), UNSHALLOW)


def _digest(glossary: Path | None) -> str | None:
    """The digest of a glossary's text; an unreadable one has none, and is reported when it is loaded."""
    try:
        return digest_of(read_regular(glossary)) if glossary is not None else None
    except OSError:
        return None


def _glossary_problem(path: Path, roots: Roots) -> Problem | None:
    from tooling.translations.parity import glossary  # noqa: PLC0415 -- brings YAML, which many books need not

    try:
        terms = glossary.load(path, roots.language).terms
    except glossary.GlossaryError as error:
        what, why, hint = error.sentences
        return Problem(what, why or "", hint or Text("see {path}").of(path=str(path)))
    if not terms and not roots.growing:
        return Problem(
            Text("the glossary has no terms"),
            Text("nothing of it can be checked"),
            Text("add a term to {path}").of(path=str(path)),
        )
    return None


def _pinned_texts(reader: PinReader, batch: Iterable[PageStatus]) -> tuple[dict[str, bytes], Problem | None]:
    wanted = [one.pinned_blob for one in batch if one.freshness is Freshness.STALE and one.pinned_blob]
    try:
        return reader.texts(wanted), None
    except GitError as error:
        what = Text("pinned texts could not be read, so stale pages were not compared with their source")
        return {}, git_problem(what, error)


def _task(
    run: int, roots: Roots, glossary_file: Path | None, status: PageStatus, texts: Mapping[str, bytes]
) -> _Task | None:
    if status.source is None and status.target is None:
        return None
    pinned = texts.get(status.pinned_blob or "") if status.freshness is Freshness.STALE else None
    return _Task(run, roots, glossary_file, status, pinned)


def _without_comparison(status: PageStatus, texts: Mapping[str, bytes]) -> Fidelity:
    """The fidelity of a page before its findings are considered."""
    if status.freshness is Freshness.CURRENT:
        return Fidelity.FAITHFUL
    if status.freshness is Freshness.STALE:
        return Fidelity.FAITHFUL if status.pinned_blob in texts else Fidelity.UNKNOWN
    if status.freshness in (Freshness.BAD_PIN, Freshness.UNKNOWN):
        return Fidelity.UNKNOWN
    return Fidelity.NOT_CHECKED


def _worst(findings: Iterable[TranslationFinding]) -> dict[str, FreshnessSeverity]:
    worst: dict[str, FreshnessSeverity] = {}
    for finding in findings:
        worst[finding.page] = max(worst.get(finding.page, FreshnessSeverity.INFO), finding.severity)
    return worst


@lru_cache(maxsize=1)
def _library(run: int, roots: Roots) -> Library:
    """The files of both books, cached per run and process."""
    del run  # separates the cache entries of runs: files may change between them
    return Library(assets=(roots.source,))


@lru_cache(maxsize=1)
def _glossary(run: int, path: Path, language: str) -> Callable[[Page, Page], list[ParityFinding]]:
    """The glossary, cached per run and process."""
    from tooling.translations.parity import glossary  # noqa: PLC0415 -- see above

    del run
    terms = glossary.load(path, language)
    return lambda source, target: glossary.check(source, target, terms)


def _check(task: _Task) -> PageResult:
    library = _library(task.run, task.roots)
    with paused_gc(), library.files.recording() as facts:
        findings, uses = _compare(task, library)
    return PageResult(task.status.key, tuple(findings), uses, facts)


def _compare(task: _Task, library: Library) -> tuple[list[TranslationFinding], tuple[IncludeUse, ...]]:
    status, roots = task.status, task.roots
    follows = roots.profile is Profile.MDBOOK
    found: list[TranslationFinding] = []
    uses: tuple[IncludeUse, ...] = ()
    source = target = None
    try:
        if status.source is not None:
            path = roots.source / status.key
            source = Page.of(path, roots.source, comparable(library.files.text_once(str(path)), roots))
            if follows:
                found += _convert(status, comparison.inspect_source(source, library), in_source=True)
        if status.target is not None:
            path = roots.target / status.key
            target = Page.of(path, roots.target, comparable(library.files.text_once(str(path)), roots))
    except UnicodeDecodeError as error:
        return [*found, _not_text(status, source is None, error)], ()
    pinned = source
    if task.pinned is not None and source is not None:
        pinned = Page.of(source.path, source.root, comparable(task.pinned.decode("utf-8", "replace"), roots))
    has_pin = status.freshness is Freshness.CURRENT or task.pinned is not None
    if target is not None and pinned is not None and has_pin:
        books = library if follows else None
        differences = comparison.compare(pinned, target, books, language=roots.language)
        if differences and task.pinned is not None and source is not None:
            # A translator works from today's source: what agrees with that needs no work.
            today = {one.key for one in comparison.compare(source, target, books, language=roots.language)}
            differences = [one for one in differences if one.key in today]
        found += _convert(status, differences)
        if task.glossary is not None:
            found += _convert(status, _glossary(task.run, task.glossary, roots.language)(pinned, target))
        uses = () if not follows else uses_of(status, pinned, target, library.files)
    elif target is not None and follows:
        found += _convert(status, comparison.inspect_translation(target, library, roots.language))
    return found, uses


def _not_text(status: PageStatus, in_source: bool, error: UnicodeDecodeError) -> TranslationFinding:
    file = (status.source if in_source else status.target) or status.key
    message, hint = (
        Text("not UTF-8 text: {reason} at byte {start}").of(reason=error.reason, start=error.start),
        Text("save the page as UTF-8"),
    )
    key = f"parity:encoding/{status.key}"
    return TranslationFinding(
        "parity:encoding", FreshnessSeverity.ERROR, status.key, file, 1, None, message, hint, key
    )


def _convert(
    status: PageStatus, findings: Sequence[ParityFinding], *, in_source: bool = False
) -> list[TranslationFinding]:
    return [
        TranslationFinding(
            kind := _kind(one.kind),
            FreshnessSeverity[one.severity.upper()],
            status.key,
            (status.source if in_source else status.target) or status.key,
            one.line_source if in_source else one.line_target,
            None,
            one.message,
            one.hint,
            f"{kind}/{'source/' if in_source else ''}{status.key}/{one.key}",
        )
        for one in findings
    ]


def _kind(kind: str) -> str:
    """`include-missing-file` belongs to the family `include`; what names no family of its own is parity."""
    family, dash, rest = kind.partition("-")
    if dash and family in ("include", "glossary"):
        return f"{family}:{rest}"
    return f"parity:{kind}"
