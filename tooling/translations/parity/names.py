"""Names that are the same in both books: a file by its real path, a page by its path below `src`."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import Struct

from tooling.mdbook.files import Files
from tooling.mdbook.includes import Directive, Kind, find_directives
from tooling.mdbook.pages import Page

_DIRECTIVE_TEXT = re.compile(r"\{\{.*?\}\}", re.DOTALL)


class Names(Struct, frozen=True):
    """Names files as seen from a pair of pages.

    A real path inside either book's `src` becomes the path below it, so that both books may have a file of
    their own, or share one through a symbolic link. Outside of it, a file of the translated book becomes that
    their own, or share one through a symbolic link. A file outside of it in the translated book becomes that
    `listings/1.rs` next to `src`); any other real path stays as it is.
    """

    files: Files
    roots: tuple[str, ...]
    books: tuple[str, str]  # the folders of the source book and of the translated one

    @classmethod
    def of(cls, source: Page, target: Page, files: Files) -> Names:
        own, other = (files.real(page.root.parent, page.root.name) for page in (source, target))
        roots = {own + os.sep, other + os.sep}
        return cls(files, tuple(sorted(roots, key=len, reverse=True)), _books(own, other))

    def file(self, page: Page, path: str) -> str:
        """The common name of a file that a page refers to."""
        if self.files.exists(page.folder):
            real = self.files.real(page.folder, path)
        else:  # a page of a former version, in a folder that is gone
            real = os.path.normpath(f"{page.folder}/{path}")
        for root in self.roots:
            if real.startswith(root):
                return real[len(root) :]
        original, translated = self.books
        if original != translated and real.startswith(translated + os.sep):
            counterpart = original + real[len(translated) :]
            if self.files.exists(counterpart):
                return counterpart
        return real

    def page(self, page: Page, path: str) -> str:
        """The common name of a page that a link names; the empty string for the page itself."""
        path = path.partition("?")[0]
        if not path:
            return ""
        name = path[1:] if path.startswith("/") else self.file(page, path)
        return name[: -len("html")] + "md" if name.endswith(".html") else name

    def directive(self, page: Page, directive: Directive) -> str:
        """The common name of a directive: what it shows, not how it is written."""
        if directive.includes:
            selector = directive.selector
            shown = selector if isinstance(selector, str) else f"{selector.start + 1}:{selector.stop or ''}"
            return f"{directive.kind.value} {self.file(page, directive.path)}:{shown}"
        if directive.kind is Kind.TITLE:
            return "title"  # its text is translated
        return " ".join((directive.name, *directive.argument.split()))

    def text(self, page: Page, text: str) -> str:
        """A text whose directives are replaced by their common names."""
        if "{{" not in text:
            return text
        pieces: list[str] = []
        done = 0
        for directive in find_directives(text):
            if directive.kind is not Kind.ESCAPED:
                pieces += (text[done : directive.start], "{{", self.directive(page, directive), "}}")
                done = directive.end
        pieces.append(text[done:])
        return "".join(pieces)


def _books(source: str, target: str) -> tuple[str, str]:
    """Two folders of pages without the folders that end both paths."""
    own, other = Path(source), Path(target)
    while own != other and own.name == other.name:
        own, other = own.parent, other.parent
    return str(own), str(other)


def without_directives(text: str) -> str:
    """A text without its directives."""
    return _DIRECTIVE_TEXT.sub("", text) if "{{" in text else text
