"""A page and its translation, whose freshness is determined."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from tooling.text import Sentence, Text
from tooling.translations.freshness.difference import Difference
from tooling.translations.git.history import PageHistory
from tooling.translations.git.repository import TreeEntry
from tooling.translations.model import ChangeClass, Freshness, PageStatus, TreePage
from tooling.translations.pages import TranslatedPage
from tooling.translations.roots import Roots

_SYMBOLIC_LINK = "120000"


class PagePair(Struct, frozen=True):
    """A source page with its translation.

    Attributes:
        path: of the source page from the top folder, as git has it.
        today: blob id of the source text as git stores (or would store) it.
        at_head: blob id of the source page at HEAD, None where HEAD has no such page.
        old: blob id of the pinned text, once it is known.
        moved: the path that the source page had at the pin, where it differs from today's.
    """

    source: TreePage
    target: TranslatedPage
    path: str
    today: str
    at_head: str | None
    old: str | None = None
    moved: str | None = None

    @classmethod
    def of(cls, source: TreePage, target: TranslatedPage, path: str, entry: TreeEntry | None) -> PagePair:
        if entry is None:
            return cls(source, target, path, source.blobs[-1], None)
        if entry.mode == _SYMBOLIC_LINK:  # its blob is the link's text, not the page's
            return cls(source, target, path, source.blobs[-1], source.blobs[-1])
        # The page's id is that of the form that git stores, CRLF or LF.
        today = entry.blob if entry.blob in source.blobs else source.blobs[-1]
        return cls(source, target, path, today, entry.blob)

    def pinned(self, old: str, moved: str | None = None) -> PagePair:
        """The pair with the blob of its pinned text, and the path at the pin if it was another one."""
        return replace(self, old=old, moved=moved)

    @property
    def is_current(self) -> bool:
        """Whether the pinned text is today's."""
        return self.old in self.source.blobs

    @property
    def key(self) -> str:
        return self.source.key

    @property
    def pinned_commit(self) -> str:
        """The commit of the marker; only for pins that have one."""
        pin = self.target.marker.pin
        assert pin is not None and pin.commit is not None
        return pin.commit

    def status(
        self,
        roots: Roots,
        freshness: Freshness,
        reason: str | Sentence | None = None,
        hint: str | Sentence | None = None,
    ) -> PageStatus:
        """The status with the fields that the pair itself determines."""
        return PageStatus(
            self.key,
            freshness,
            source=roots.source_name(self.key),
            target=roots.target_name(self.key),
            pin=self.target.marker.pin,
            pinned_blob=self.old,
            today=self.today,
            reason=reason,
            hint=hint,
            dirty=self.at_head != self.today,
            moved=self.moved,
        )

    def stale_status(self, roots: Roots, difference: Difference | None) -> PageStatus:
        """The status of a page whose source has changed; `difference` says what, when it is known."""
        reason = Text("the source has changed since it was translated")
        hint = roots.command("diff", roots.target_argument(self.key))
        status = self.status(roots, Freshness.STALE, reason, hint)
        if difference is None:
            return replace(
                status,
                classes=frozenset((ChangeClass.UNCLASSIFIED,)),
                notes=(Text("the pinned text is not in this clone, so the change cannot be described"),),
            )
        notes: tuple[Sentence, ...] = ()
        if difference.pin_may_be_old:
            notes = (
                Text(
                    "pin may be old: code, links and numbers of the translation match today's source better "
                    "than the pinned one"
                ),
            )
        return replace(status, classes=difference.classes, sections=difference.sections, notes=notes)

    def with_history(
        self, status: PageStatus, history: PageHistory, ignored: frozenset[str], *, whole: bool
    ) -> PageStatus:
        """Adds since when and by how many commits the translation is behind.

        Args:
            whole: the history is that of HEAD, without a commit left out.
        """
        assert self.old is not None
        introduced = history.introducing(self.old)
        if introduced is None and whole:
            outside = Text(
                "the pinned text is not in the history of HEAD: its commit is on another branch, or lost"
            )
            status = replace(status, notes=(*status.notes, outside))
        status = replace(status, canonical=introduced.commit.id if introduced else None)
        if self.moved is None and introduced is not None and introduced.path != self.path:
            status = replace(status, moved=introduced.path)
        if self.at_head is None:
            return status
        chain = history.chain(self.old, self.at_head)
        if chain is None:
            return status
        unmatched = [
            Text("commit {id}: `I18n-Skip: {glob}` matches no source page that it changed").of(
                id=one.commit.id[:12], glob=glob
            )
            for one in chain.revisions
            for glob in one.commit.unmatched_skips
        ]
        return replace(
            status,
            notes=(*status.notes, *unmatched),
            behind=len(chain.revisions),
            outdated_since=chain.since,
            skipped=not status.dirty and history.is_skipped(self.old, self.at_head, ignored),
        )
