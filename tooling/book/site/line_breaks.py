"""Prevents line breaks inside short code, inside a flag, and between code and its Korean particle."""

from __future__ import annotations

import re

_LONGEST = 26  # letters that fit beside a list's bullet on a screen of 360 pixels
_SHORT = re.compile(rf"<code>([^<]{{1,{_LONGEST}}})</code>")
_LONG = re.compile(r"<code>([^<]+)</code>")
_FLAG = re.compile(r"(?<=\s)--?\w[\w-]*")  # browsers break lines after a hyphen
_PUZZLE = re.compile(r"<a (?=[^>]*>(?:[Pp]uzzle|퍼즐) \d+</a>)")
_PARTICLE = re.compile(r"</code>(?=[가-힣])")
_JOINER = "\N{WORD JOINER}"


def keep_together(html: str) -> str:
    """The rendered page without these line breaks."""
    html = _PUZZLE.sub('<a class="short" ', html)
    html = _SHORT.sub(r'<code class="short">\1</code>', html)
    html = _LONG.sub(lambda code: _FLAG.sub(r'<span class="short">\g<0></span>', code[0]), html)
    return _PARTICLE.sub(f"</code>{_JOINER}", html)
