"""Marks variables, such as *i*, and emphasised Latin letters in languages whose emphasis is not italic."""

from __future__ import annotations

import re

from tooling.text import ENGLISH

_VARIABLE = re.compile(r"<em((?: lang=\"en\")?)>([A-Za-z])</em>")
_LATIN = re.compile(r"<em>([ -;=-~]+)</em>")  # of one element: no `<`


def mark_latin(html: str, language: str) -> str:
    """The page with `lang="en"` on such letters: the theme's dots of emphasis are for Hangul."""
    return html if language == ENGLISH else _LATIN.sub(r'<em lang="en">\1</em>', html)


def mark_variables(html: str) -> str:
    """The page with a class at emphasised single letters, which are variables of mathematics."""
    return _VARIABLE.sub(r'<em\1 class="variable">\2</em>', html)
