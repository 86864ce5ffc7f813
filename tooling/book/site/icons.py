"""The icons of the page frame, and the signs that replace emoji, 24 by 24."""

from __future__ import annotations

import re

from tooling.book.marks import cells_path
from tooling.book.site.tree import Node, edit_texts

_PATHS = {
    "menu": '<path d="M4 6h16M4 12h16M4 18h16"/>',
    "search": '<circle cx="11" cy="11" r="6.5"/><path d="m16 16 4.5 4.5"/>',
    "auto": '<circle cx="12" cy="12" r="8.5"/><path d="M12 3.5v17a8.5 8.5 0 0 0 0-17z" fill="currentColor"/>',
    "light": '<circle cx="12" cy="12" r="4"/><path d="M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4'
    "M17.3 17.3l1.4 1.4"
    'M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4"/>',
    "dark": '<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z"/>',
    "close": '<path d="m6 6 12 12M18 6 6 18"/>',
    # Four cells, two and one: a tree of additions.
    "logo": '<g fill="currentColor" stroke="none"><path d="M1 2h4.6v5.2H1zM6.8 2h4.6v5.2H6.8z'
    "M12.6 2h4.6v5.2h-4.6zM18.4 2H23v5.2h-4.6zM1 9.4h4.6v5.2H1zM6.8 9.4h4.6v5.2H6.8zM1 16.8h4.6V22H1z"
    '"/><path opacity=".3" d="M12.6 9.4h4.6v5.2h-4.6zM18.4 9.4H23v5.2h-4.6zM6.8 16.8h4.6V22H6.8z'
    'M12.6 16.8h4.6V22h-4.6zM18.4 16.8H23V22h-4.6z"/></g>',
    "code": '<path d="m8.5 7-5 5 5 5M15.5 7l5 5-5 5"/>',
}


def icon(name: str) -> str:
    """An icon as inline SVG, hidden from screen readers: its button has a name of its own."""
    return f'<svg class="icon icon-{name}" viewBox="0 0 24 24" aria-hidden="true">{_PATHS[name]}</svg>'


ICONS = {name: icon(name) for name in _PATHS}

_TICK = ("good", "....#/...##/#.##./###../.#...")
_CROSS = ("bad", "#...#/.#.#./..#../.#.#./#...#")
_SIGNS = {"✅": _TICK, "✓": _TICK, "❌": _CROSS, "✗": _CROSS}
"""The cells of a tick and of a cross, five rows of five, as the marks of pages have them."""
_SIGN = re.compile(rf"[{''.join(_SIGNS)}]")


def draw_signs(article: Node) -> None:
    """Draws the ticks and crosses of an article, for readers without an emoji font."""
    edit_texts(article, _SIGN, lambda found: sign(found[0]))


def sign(mark: str) -> str:
    """A tick or a cross of cells as inline SVG."""
    kind, rows = _SIGNS[mark]
    return (
        f'<svg class="sign sign-{kind}" viewBox="0 0 24 24" role="img" aria-label="{mark}">'
        f'<path d="{cells_path(rows.split("/"), "#", 4)}"/></svg>'
    )
