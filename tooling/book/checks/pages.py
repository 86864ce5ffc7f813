"""Checks the built site: valid pages, and links whose targets exist."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from tooling.book.checks.context import CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.book.checks.markup import Flaw, Validator
from tooling.book.site.assembly import Rendered
from tooling.platform.regular_files import names_file, names_something

_CODE = re.compile(r"<code.*?</code>|<!--.*?-->|<math.*?</math>", re.DOTALL)
_ASTERISK = re.compile(r"\*\*|(?<!\S)\*\S|\S\*(?=[가-힣])")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


def check_rendered(edition: Rendered) -> Iterator[BookFinding]:
    """Checks how the elements of mdBook's pages are nested, before the site's parser repairs it.

    A finding has the page's address in the site, and the line of mdBook's page.
    """
    for page in edition.pages():
        validator = Validator()
        validator.feed((edition.folder / page).read_text(encoding="utf-8"))
        for flaw in validator.finish():
            if flaw.nesting:
                yield BookFinding(f"site/{edition.edition.prefix}{page}", flaw.line, "html", flaw.message)


def check_pages(context: CheckContext, site: Path) -> Iterator[BookFinding]:
    """Validates every page, then follows its links inside the site."""
    read: dict[Path, Validator] = {}
    for file in sorted(site.rglob("*.html")):
        validator = read[file] = Validator()
        text = file.read_text(encoding="utf-8")
        validator.feed(text)
        yield from (_finding(site, file, "emphasis", flaw) for flaw in _asterisks(text))
        yield from (_finding(site, file, "html", flaw) for flaw in validator.finish())
    for file, validator in read.items():
        for line, address in validator.links:
            message = _dead(site, file, address, read)
            if message:
                yield _finding(site, file, "site", Flaw(line, message))


def _asterisks(text: str) -> Iterator[Flaw]:
    """Finds asterisks that readers would see.

    Korean particles follow without a space, and `*말(word)*이` is not emphasis in CommonMark: a mark after a
    bracket closes only before a space.
    """
    start = text.find("<article>")
    article = _CODE.sub(lambda match: "\n" * match[0].count("\n"), text[start : text.find("</article>")])
    for match in _ASTERISK.finditer(article):
        line = text.count("\n", 0, start) + article.count("\n", 0, match.start()) + 1
        around = article[max(0, match.start() - 20) : match.end() + 20].strip()
        yield Flaw(line, f"an asterisk is shown in `{around}`: close the emphasis before the bracket")


def _dead(site: Path, file: Path, address: str, read: dict[Path, Validator]) -> str | None:
    """Why an address has no target; None for a correct one and for other sites."""
    if _SCHEME.match(address):
        return None
    path, _, fragment = address.partition("#")
    path = unquote(path.partition("?")[0])
    if path.startswith("/"):  # the <base> of the page for wrong addresses
        return None
    target = Path(os.path.normpath(file.parent / path)) if path else file
    if names_something(target) and target.is_dir():
        target /= "index.html"
    if not names_file(target):
        return f"{address} is not a file of the site"
    if fragment and target in read and unquote(fragment) not in read[target].ids:
        return f"{address}: no such id in that page"
    return None


def _finding(site: Path, file: Path, rule: str, flaw: Flaw) -> BookFinding:
    return BookFinding(f"site/{file.relative_to(site).as_posix()}", flaw.line, rule, flaw.message)
