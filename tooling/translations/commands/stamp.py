"""`stamp`: records the version of the source that a translation follows, after a check of plausibility."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from tooling.mdbook.books import Library
from tooling.mdbook.files import Files
from tooling.mdbook.pages import Page
from tooling.platform.errors import ToolingError
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.text import Sentence, Text, joined
from tooling.translations.commands.source_history import SourceHistory, read_source_history
from tooling.translations.commands.untouched import untouched_sections
from tooling.translations.commands.writing import ConcurrentEditError, replace_page
from tooling.translations.findings import describe_section, is_expected
from tooling.translations.freshness.include_drift import included_paths
from tooling.translations.freshness.pair import PagePair
from tooling.translations.freshness.survey import survey
from tooling.translations.git.marker_history import read_marker_history
from tooling.translations.git.pins import PinReader, Question
from tooling.translations.git.repository import Repository
from tooling.translations.marker import without_marker, write_marker
from tooling.translations.model import PageStatus, Pin, SectionChange
from tooling.translations.pages import comparable, find_files, read_translation
from tooling.translations.parity import comparison
from tooling.translations.parity.findings import ParityFinding, ParitySeverity
from tooling.translations.roots import Roots
from tooling.translations.settings import Profile


class StampRequest(Struct, frozen=True):
    """What to stamp and how.

    Attributes:
        keys: the pages.
        at: pin to the source as of this reference; None for the source at HEAD.
        reviewed: the translation was compared with the source, so it need not have been edited.
        kept: numbers of sections that changed in the source and are right in the translation as they are.
        uncommitted: pin a page with uncommitted edits to the text in the working tree, without a commit.
        force: stamp in spite of parity errors.
        base: the reference whose history must hold the pinned commit.
        fetch: as for `survey`.
    """

    keys: Collection[str]
    at: str | None = None
    reviewed: bool = False
    kept: frozenset[int] = frozenset()
    uncommitted: bool = False
    force: bool = False
    base: str = "HEAD"
    fetch: bool = False


class Stamped(Struct, frozen=True):
    """A marker that was written."""

    file: str
    pin: Pin


class Refusal(Struct, frozen=True):
    """A page that was not stamped."""

    file: str
    reason: Sentence
    hint: str | Sentence


class StampResult(Struct):
    """The result for each page."""

    stamped: list[Stamped] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


class _RefusedError(Exception):
    def __init__(self, reason: Sentence, hint: str | Sentence) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class _Choice(Struct, frozen=True):
    """The text to pin a page to; without a commit, it is that of the working tree."""

    pair: PagePair
    blob: str
    commit: str | None


def stamp(roots: Roots, request: StampRequest) -> StampResult:
    """Writes commit and blob into the markers of the chosen pages, unless a check finds them wrong.

    Raises:
        GitError: a reference is missing here, there is no repository, or git failed.
        HistoryNeededError: the clone has no history to name commits from.
    """
    history = read_source_history(roots, request.keys, fetch=request.fetch)
    base = history.repository.resolve(request.base, "--base")
    result = StampResult()
    for key, reason in history.unpaired.items():
        hint = Text("stamp works on pages that both trees have")
        result.refused.append(Refusal(roots.target_name(key), reason, hint))
    with PinReader(history.repository) as reader:
        choices = _choose(roots, request, history, reader, result)
        texts = reader.texts(choice.blob for choice in choices if choice.commit is not None)
        texts |= {choice.blob: _worktree_text(choice.pair) for choice in choices if choice.commit is None}
        choices = _with_the_code_read(roots, request, choices, texts, history.repository, reader=reader)
        outside = history.repository.not_in({choice.commit for choice in choices if choice.commit}, base)
    unedited = _unedited(roots, request, choices, texts)
    library = Library(assets=(roots.source,)) if roots.profile is Profile.MDBOOK else None
    for choice in choices:
        file = roots.target_name(choice.pair.key)
        try:
            if choice.commit is not None and choice.commit in outside:
                raise _RefusedError(
                    Text("commit {commit} is not in the history of {base}").of(
                        commit=choice.commit[:12], base=request.base
                    ),
                    Text("merge it first, or name the branch that holds it with --base"),
                )
            if choice.pair.key in unedited:
                raise unedited[choice.pair.key]
            _check_parity(roots, request, choice, texts[choice.blob], library)
            pin = Pin(choice.commit, choice.blob)
            before = read_regular(choice.pair.target.page.path, limit=TEXT_LIMIT)
            replace_page(choice.pair.target.page.path, before, write_marker(before, pin, roots.marker))
        except _RefusedError as refusal:
            result.refused.append(Refusal(file, refusal.reason, refusal.hint))
        except ConcurrentEditError as error:
            result.refused.append(
                Refusal(file, error.reason, error.sentences[2] or Text("run the command again"))
            )
        else:
            result.stamped.append(Stamped(file, pin))
    return result


def _choose(
    roots: Roots, request: StampRequest, history: SourceHistory, reader: PinReader, result: StampResult
) -> list[_Choice]:
    """The blob and commit for each page; pages that have none are refused."""
    at = history.repository.resolve(request.at, "--at") if request.at else None
    choices: list[_Choice] = []
    for pair in history.pairs.values():
        revisions = history.log.pages[pair.path]
        try:
            if at is None and request.uncommitted and pair.at_head != pair.today:
                choices.append(_Choice(pair, pair.today, None))
                continue
            if at is None:
                blob = _committed(pair)
                commit = history.repository.head
            else:
                blob = _blob_at(reader, at, revisions.names(), request.at or "")
                commit = at
            introduced = revisions.introducing(blob)
            assert commit is not None
            choices.append(_Choice(pair, blob, introduced.commit.id if introduced else commit))
        except _RefusedError as refusal:
            result.refused.append(Refusal(roots.target_name(pair.key), refusal.reason, refusal.hint))
    return choices


def _with_the_code_read(
    roots: Roots,
    request: StampRequest,
    choices: Sequence[_Choice],
    texts: Mapping[str, bytes],
    repository: Repository,
    *,
    reader: PinReader,
) -> list[_Choice]:
    """The choices, with a later commit where code that a page includes has changed since the page's own text.

    The translator has seen the code as of the reference; with an older commit it would be reported again.
    """
    seen = repository.resolve(request.at, "--at") if request.at else repository.head
    if seen is None:
        return list(choices)
    files = Files()
    included: list[tuple[_Choice, str]] = []
    committed = [(choice, choice.commit) for choice in choices if choice.commit is not None]
    for choice, _ in committed:
        page = Page.of(choice.pair.source.path, roots.source, texts[choice.blob].decode("utf-8", "replace"))
        included += [(choice, path) for path in sorted(included_paths(page, files, repository.root))]
    pinned = {choice.pair.key: commit for choice, commit in committed}
    then = reader.resolve([Question(pinned[choice.pair.key], path) for choice, path in included])
    now = reader.resolve([Question(seen, path) for _, path in included])
    changed = {
        choice.pair.key
        for (choice, _), old, new in zip(included, then, now, strict=True)
        if old.blob and new.blob and old.blob != new.blob
    }
    return [replace(one, commit=seen) if one.pair.key in changed else one for one in choices]


def _committed(pair: PagePair) -> str:
    if pair.at_head is None:
        raise _RefusedError(
            Text("the source page is not committed"),
            Text("git add {path} and commit it first, or add --uncommitted to commit both together").of(
                path=pair.path
            ),
        )
    if pair.at_head != pair.today:
        raise _RefusedError(
            Text("the source page has uncommitted edits, so no commit holds the text you see"),
            Text(
                "commit {path} first, add --uncommitted to commit both together, or stamp the committed "
                "text with --at HEAD"
            ).of(path=pair.path),
        )
    return pair.at_head


def _worktree_text(pair: PagePair) -> bytes:
    data = read_regular(pair.source.path, limit=TEXT_LIMIT)
    return data if pair.today == pair.source.blobs[0] else data.replace(b"\r\n", b"\n")


def _blob_at(reader: PinReader, commit: str, names: Collection[str], ref: str) -> str:
    answers = reader.resolve([Question(commit, name) for name in names])
    blob = next((answer.blob for answer in answers if answer.blob), None)
    if blob is None:
        raise _RefusedError(
            Text("the source page does not exist at {ref}").of(ref=ref),
            Text("name a commit that has the page"),
        )
    return blob


def _check_parity(
    roots: Roots, request: StampRequest, choice: _Choice, text: bytes, library: Library | None
) -> None:
    pair = choice.pair
    source = Page.of(pair.source.path, roots.source, comparable(text.decode("utf-8", "replace"), roots))
    try:
        target = read_translation(pair.target.page.path, roots)
    except UnicodeDecodeError as error:
        raise _RefusedError(
            Text("the translation is not UTF-8 text: {reason} at byte {start}").of(
                reason=error.reason, start=error.start
            ),
            Text("save the page as UTF-8"),
        ) from error
    errors = [
        one
        for one in comparison.compare(source, target, library, language=roots.language)
        if one.severity is ParitySeverity.ERROR
        and not (roots.growing and is_expected(f"parity:{one.kind}", pair.key))
    ]
    if errors and not request.force:
        raise _RefusedError(
            Text(
                "{count} parity error against that source: {errors}",
                "{count} parity errors against that source: {errors}",
            ).of(count=len(errors), errors=_list_errors(errors)),
            Text("correct the translation; --force stamps it all the same"),
        )


def _list_errors(errors: list[ParityFinding]) -> Sentence:
    shown: list[str | Sentence] = [
        Text("line {line}: {message}").of(line=one.line_target or "?", message=one.message)
        for one in errors[:3]
    ]
    return joined([*shown, "…"] if len(errors) > 3 else shown)


def _unedited(
    roots: Roots, request: StampRequest, choices: Collection[_Choice], sources: Mapping[str, bytes]
) -> dict[str, _RefusedError]:
    """Why pages that are stale by their present marker have not been edited enough since it was written."""
    if request.reviewed or request.at is not None or not choices:
        return {}
    pinned = {
        one.key: one.pinned_blob or "" for one in _statuses(roots, request, choices) if one.needs_translation
    }
    if not pinned:
        return {}
    repository = Repository.open(roots.target, roots.base, network=request.fetch)
    paths = {
        choice.pair.key: _path_in(repository, choice.pair.target.page.path)
        for choice in choices
        if choice.pair.key in pinned
    }
    written = read_marker_history(repository, paths.values())
    with PinReader(repository) as reader:
        texts = reader.texts([*(one.blob for one in written.values()), *pinned.values()])
    found: dict[str, _RefusedError] = {}
    for choice in choices:
        key = choice.pair.key
        then = texts.get(written[paths[key]].blob) if paths.get(key) in written else None
        if then is None:
            continue
        now = read_regular(choice.pair.target.page.path, limit=TEXT_LIMIT)
        hint = roots.command("diff", roots.target_argument(key))
        if without_marker(then, roots.marker) == without_marker(now, roots.marker):
            reason = Text(
                "the translation has not been edited since its marker was written, but its source has"
            )
            found[key] = _RefusedError(
                reason, Text("{hint}; if it is right as it stands, use --reviewed").of(hint=hint)
            )
        elif pinned[key] in texts:
            versions = (texts[pinned[key]], sources[choice.blob], then, now)
            changes = untouched_sections(*(version.decode("utf-8", "replace") for version in versions))
            left = [change for change in changes if change.ordinal not in request.kept]
            if left:
                found[key] = _left_as_they_were(left, hint)
    return found


def _left_as_they_were(changes: Sequence[SectionChange], hint: str) -> _RefusedError:
    sections = joined(map(describe_section, changes))
    keep = " ".join(f"--keep {change.ordinal}" for change in changes)
    return _RefusedError(
        Text("these sections changed in the source and were not edited in the translation: {sections}").of(
            sections=sections
        ),
        Text("{hint}; where the translation is right as it stands, add {keep}").of(hint=hint, keep=keep),
    )


def _statuses(roots: Roots, request: StampRequest, choices: Collection[_Choice]) -> tuple[PageStatus, ...]:
    return survey(roots, only={choice.pair.key for choice in choices}, fetch=request.fetch).pages


def _path_in(repository: Repository, path: Path) -> str:
    return Path(os.path.relpath(path.resolve(), repository.root)).as_posix()


def translated_keys(roots: Roots) -> frozenset[str]:
    """Every page that both trees have."""
    files = find_files(roots)
    return frozenset(files.sources.keys() & files.targets.keys())


class TreeWideError(ToolingError):
    """All pages were named without `--all`."""


def refuse_whole_tree() -> TreeWideError:
    """The error for a stamp of no page or of all pages without `--all`."""
    return TreeWideError(
        Text("this would stamp every page"),
        why=Text("a stamp records that the page was compared with its source"),
        hint=Text("name the pages, or add --all if all of them have been compared"),
    )


class KeepError(ToolingError):
    """`--keep` was given for more than one page."""


def sections_of_several_pages(number: int) -> KeepError:
    """The error for section numbers that would apply to several pages."""
    return KeepError(
        Text("--keep names sections of one page, and {number} are to be stamped").of(number=number),
        why=Text("the same number is another section on every page"),
        hint=Text("stamp the page with --keep alone"),
    )
