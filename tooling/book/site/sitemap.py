"""sitemap.xml: every page with its versions in the other languages, for search engines."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tooling.book.site.frame import SiteContext, language_addresses

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
"""


def sitemap(everything: Sequence[SiteContext]) -> str:
    """One entry for each page that exists; each lists all versions, including itself."""
    entries = []
    for around in everything:
        for page in sorted(around.pages):
            own = f"{around.site}{around.edition.prefix}{page}"
            links = "".join(
                f'    <xhtml:link rel="alternate" hreflang="{code}" href="{escape(address)}"/>\n'
                for code, address in language_addresses(page, around)
            )
            entries.append(f"  <url>\n    <loc>{escape(own)}</loc>\n{links}  </url>\n")
    return f"{_HEAD}{''.join(entries)}</urlset>\n"
