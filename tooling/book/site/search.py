"""The data of the search: the sections of an edition, as a script that any page can load.

It is a script and not JSON because a page opened from `file://` may load scripts but not fetch files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape

from msgspec import Struct

_HEADING = re.compile(r'<h([1-3]) id="([^"]+)">(.*?)</h\1>', re.DOTALL)
_UNSEEN = re.compile(
    r'<math.*?</math>|<p class="tab-title".*?</p>|<div class="tab-labels".*?</div>|<svg.*?</svg>'
    r'|<aside.*?</aside>|<span class="head".*?</span>'
    r'|<section class="puzzle-card".*?</section>|<a class="filename".*?</a>',
    re.DOTALL,
)
_TAG = re.compile(
    r"</?(?:p|br|li|d[dlt]|h\d|td|th|tr|div|pre|details|summary|figcaption|blockquote)[^>]*>"
    r'|<span class="map-[^>]*>'  # the cells of the map of the puzzles
)
_INLINE_TAG = re.compile(r"<[^>]+>")
_JOINER = "\N{WORD JOINER}"  # keeps words on a line


class Section(Struct, frozen=True):
    """A heading of a page with the text below it.

    Attributes:
        page: address inside the edition.
        fragment: id of the heading; empty for the page's own title.
        title: of the page.
        heading: of the section; the page's title for the first one.
        text: the text below it, without tags.
    """

    page: str
    fragment: str
    title: str
    heading: str
    text: str


def sections(article: str, page: str) -> Iterator[Section]:
    """The sections of a rendered page."""
    article = _UNSEEN.sub(" ", article)
    found = list(_HEADING.finditer(article))
    title = _plain(found[0][3]) if found else page
    for index, match in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(article)
        level, fragment = match[1], match[2]
        yield Section(
            page,
            "" if level == "1" else fragment,
            title,
            _plain(match[3]),
            _plain(article[match.end() : end]),
        )


def _plain(html: str) -> str:
    return " ".join(unescape(_INLINE_TAG.sub("", _TAG.sub(" ", html))).replace(_JOINER, "").split())


def script(found: list[Section]) -> str:
    """The script that passes the sections of an edition to the search."""
    rows = [[each.page, each.fragment, each.title, each.heading, each.text] for each in found]
    return f"window.searchSections = {json.dumps(rows, ensure_ascii=False, separators=(',', ':'))};\n"
