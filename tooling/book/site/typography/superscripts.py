"""Sets exponents as raised digits of the text: fonts draw `⁻¹⁰` from signs of different shapes."""

from __future__ import annotations

import re

from tooling.book.site.tree import Node, edit_texts

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_DIGITS = str.maketrans(_RAISED, "0123456789\N{MINUS SIGN}")
_EXPONENT = re.compile(rf"[{_RAISED}]+")
_CODE = frozenset({"pre", "code", "svg", "math", "script", "style"})


def raise_exponents(page: Node) -> None:
    """Sets `2⁻¹⁰` as `2<sup>−10</sup>`, except in code."""
    edit_texts(page, _EXPONENT, lambda found: f"<sup>{found[0].translate(_DIGITS)}</sup>", _CODE)
