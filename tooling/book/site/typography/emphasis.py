"""Marks emphasised Latin letters, such as the variable *i*, in languages whose emphasis is not italic."""

from __future__ import annotations

import re

from tooling.text import ENGLISH

_LATIN = re.compile(r"<em>([ -;=-~]+)</em>")  # of one element: no `<`


def mark_latin(html: str, language: str) -> str:
    """The page with `lang="en"` on such letters: the theme's dots of emphasis are for Hangul."""
    return html if language == ENGLISH else _LATIN.sub(r'<em lang="en">\1</em>', html)
