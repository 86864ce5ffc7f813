"""Where a line must not break: inside a short name of code, and between code and its Korean particle."""

from __future__ import annotations

import re

_LONGEST = 26  # letters that fit beside a list's bullet on a screen of 360 pixels
_NAME = re.compile(rf"<code>([^<\s]{{1,{_LONGEST}}})</code>")
_PARTICLE = re.compile(r"</code>(?=[가-힣])")
_JOINER = "\N{WORD JOINER}"


def keep_together(html: str) -> str:
    """A rendered page whose names of code are not taken apart at their hyphens, nor from their particles."""
    return _PARTICLE.sub(f"</code>{_JOINER}", _NAME.sub(r'<code class="name">\1</code>', html))
