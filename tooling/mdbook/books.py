"""Checks the targets of links, fragments and pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from tooling.mdbook.expansion import expand
from tooling.mdbook.files import Files
from tooling.mdbook.includes import find_directives
from tooling.mdbook.markup import Image, Structure
from tooling.mdbook.pages import Page
from tooling.mdbook.structure import scan
from tooling.text import Text

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


class LinkFault(StrEnum):
    """The kinds of faults of links and pictures."""

    MISSING_PAGE = "missing-page"
    UNTRANSLATED_PAGE = "untranslated-page"  # only the other language has it
    MISSING_FRAGMENT = "missing-fragment"
    MISSING_IMAGE = "missing-image"


class LinkProblem(Struct, frozen=True):
    """A link or picture whose target does not exist."""

    fault: LinkFault
    line: int
    target: str
    message: Text
    hint: Text


class Destination(Struct, frozen=True):
    """Where a link leads.

    Attributes:
        path: the file, or None for an address outside the book.
        fragment: the text after `#`, decoded; empty where there is none.
    """

    path: str | None
    fragment: str


class Library:
    """The files of the books of one run, and the ids of their pages. Each file is read once.

    Args:
        assets: folders that may hold a target starting with `/`, besides the `src` folder of its book: the
            other language's `src`, or a folder of generated pictures.
        root: of the files that pages include, see `Files`.
    """

    def __init__(self, assets: Sequence[Path] = (), root: Path | None = None) -> None:
        self.files = Files(root)
        self._assets = tuple(assets)
        self._structures: dict[str, tuple[Structure, dict[str, str]]] = {}  # with the facts behind it

    def destination(self, page: Page, target: str) -> Destination:
        """Where a link of a page leads; the page's own file for a bare fragment."""
        address, _, fragment = target.partition("#")
        address = address.partition("?")[0]
        fragment = unquote(fragment)
        if not address:
            return Destination(self.files.real(page.folder, page.path.name), fragment)
        if _SCHEME.match(address) or "{{" in address:
            return Destination(None, fragment)
        return Destination(self.locate(page, unquote(address)), fragment)

    def locate(self, page: Page, address: str) -> str:
        """The file of an address within the book; it need not exist."""
        if not address.startswith("/"):
            return self._page_file(self.files.real(page.folder, address))
        found = [self._page_file(self.files.real(root, address[1:])) for root in (page.root, *self._assets)]
        return next((path for path in found if self.files.exists(path)), found[0])

    def _others_have(self, page: Page, path: str) -> bool:
        """Whether a file that the page's own book lacks exists at the same path in another folder."""
        root = self.files.real(page.root, "")
        if not path.startswith(f"{root}/"):
            return False
        return any(self.files.exists(f"{other}/{path[len(root) + 1 :]}") for other in self._assets)

    def _page_file(self, path: str) -> str:
        """`x.html` is made from `x.md`; a folder shows its README or index."""
        if path.endswith(".html") and not self.files.exists(path):
            return path[: -len("html")] + "md"
        if self.files.is_folder(path):
            for name in ("README.md", "index.md"):
                inner = f"{path}/{name}"
                if self.files.exists(inner):
                    return inner
        return path

    def structure(self, path: str) -> Structure:
        """The structure of a page as readers see it, its includes expanded.

        Raises:
            OSError, UnicodeDecodeError: the page does not exist or cannot be read.
        """
        known = self._structures.get(path)
        if known is None:
            with self.files.recording() as facts:
                structure = self._as_read(self.files.text(path), Path(path))
            known = self._structures[path] = structure, facts
        self.files.record(known[1])
        return known[0]

    def _as_read(self, text: str, path: Path) -> Structure:
        if any(directive.includes for directive in find_directives(text)):
            text = expand(text, path, self.files).text
        return scan(text)

    def check(self, page: Page) -> list[LinkProblem]:
        """The links and pictures of a page without a target; external addresses are not followed."""
        problems: list[LinkProblem] = []
        for link in page.structure.links:
            problem = self._check_link(page, link.target, link.line)
            if problem is not None:
                problems.append(problem)
        for mark in page.structure.marks:
            if isinstance(mark, Image):
                path = self.destination(page, mark.target).path
                if path is not None and not self.files.exists(path):
                    message = Text("there is no picture {target}").of(target=mark.target)
                    hint = Text("add it, or correct the path")
                    problems.append(
                        LinkProblem(LinkFault.MISSING_IMAGE, mark.line, mark.target, message, hint)
                    )
        return problems

    def _check_link(self, page: Page, target: str, line: int) -> LinkProblem | None:
        destination = self.destination(page, target)
        path, fragment = destination.path, destination.fragment
        if path is None:
            return None
        own = path == self.files.real(page.folder, page.path.name)
        if not own and not self.files.exists(path):
            if not os.path.normpath(path).startswith(f"{self.files.real(page.root, '')}/"):
                return None  # a page of the site around the book
            name = target.partition("#")[0]
            if self._others_have(page, path):
                message = Text("the page {name} is not translated yet").of(name=name)
                return LinkProblem(
                    LinkFault.UNTRANSLATED_PAGE, line, target, message, Text("translate it too")
                )
            message = Text("there is no page {name}").of(name=name)
            return LinkProblem(
                LinkFault.MISSING_PAGE, line, target, message, Text("add it, or correct the link")
            )
        if not fragment or not path.endswith(".md") or (own and fragment in page.structure.ids):
            return None
        try:
            ids = self._as_read(page.text, page.path).ids if own else self.structure(path).ids
        except (OSError, UnicodeDecodeError) as error:
            message = Text("{page} cannot be read: {why}").of(page=target.partition("#")[0], why=str(error))
            return LinkProblem(
                LinkFault.MISSING_PAGE, line, target, message, Text("make it a UTF-8 text file")
            )
        if fragment in ids:
            return None
        named = target.partition("#")[0] or Text("this page")
        message = Text("{page} has no heading with the id `{id}`").of(page=named, id=fragment)
        near = ", ".join(sorted(ids)[:8])
        hint = Text("ids are made of the headings' own words, here for example: {ids}").of(ids=near)
        return LinkProblem(LinkFault.MISSING_FRAGMENT, line, target, message, hint)
