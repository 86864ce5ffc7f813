"""Sets exponents as raised digits of the text: fonts draw `⁻¹⁰` from signs of different shapes."""

from __future__ import annotations

import re

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_DIGITS = str.maketrans(_RAISED, "0123456789\N{MINUS SIGN}")
_EXPONENT = re.compile(
    rf"<(head|pre|code|svg|math|script|style)\b.*?</\1>|<[^>]*>|[{_RAISED}]+",  # tags and code stay
    re.DOTALL,
)


def raise_exponents(html: str) -> str:
    """The rendered page with `2⁻¹⁰` as `2<sup>−10</sup>`."""
    return _EXPONENT.sub(_raised, html)


def _raised(found: re.Match[str]) -> str:
    text = found[0]
    return text if text.startswith("<") else f"<sup>{text.translate(_DIGITS)}</sup>"
