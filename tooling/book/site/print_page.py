"""The whole book on one page, for printing: every article in reading order, with folds open."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from html import escape

from tooling.book.phrases import say

PRINT = "print.html"
_ID = re.compile(r'(\bid="|url\(#|<style>#)')
_REFERENCES = re.compile(r'\b(aria-controls|aria-labelledby|aria-describedby)="([^"]*)"')
_LINK = re.compile(r'\b(href|src)="(?!\w+:|#|/)([^"#?]*)(#[^"]*)?"')
_ROBOTS = re.compile(r'<link rel="(?:canonical|alternate)"[^>]*>\n?')
_MARGIN = re.compile(r'<div class="margin">.*?</div>', re.DOTALL)
_STEPS = re.compile(r'<footer class="page-end">.*?</footer>', re.DOTALL)


def print_page(frame: str, pages: Mapping[str, str], language: str) -> str:
    """The articles of all pages in one frame.

    Args:
        frame: a finished page at the root of the edition.
        pages: the finished pages by address, in reading order.
        language: of the edition.
    """
    head, _, rest = frame.partition("<article>")
    tail = rest.partition("</article>")[2]
    articles = "\n".join(_article(page, html, pages) for page, html in pages.items())
    head = _ROBOTS.sub("", head).replace("<head>", '<head>\n<meta name="robots" content="noindex">', 1)
    title = f"{escape(say('print', language))} · "
    head = re.sub(r"<title>(?:.* · )?", lambda _: f"<title>{title}", head, count=1)
    head = re.sub(r"<body[^>]*>", '<body class="whole-book">', head, count=1)
    return f"{head}<article>\n{articles}\n</article>{_STEPS.sub('', _MARGIN.sub('', tail))}"


def _article(page: str, html: str, pages: Mapping[str, str]) -> str:
    """An article whose ids and links are those of the one page."""
    article = html.partition("<article>")[2].partition("</article>")[0]
    own = _name(page)

    def refer(found: re.Match[str]) -> str:
        return f'{found[1]}="{" ".join(own + name for name in found[2].split())}"'

    def link(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), found[2]))
        if target in pages:
            return f'{found[1]}="#{_name(target)}{(found[3] or "#")[1:]}"'
        return f'{found[1]}="{target}{found[3] or ""}"'

    article = _LINK.sub(link, article)  # before the fragments of this page get their prefix
    article = re.sub(r'href="#(?![\w]+--)', f'href="#{own}', article)
    article = _ID.sub(rf"\g<1>{own}", article)
    article = _REFERENCES.sub(refer, article).replace("<details", "<details open")
    return f'<section class="chapter" id="{own}">\n{article}\n</section>'


def _name(page: str) -> str:
    """The prefix of a page's ids."""
    return re.sub(r"\W", "_", page.removesuffix(".html")) + "--"
