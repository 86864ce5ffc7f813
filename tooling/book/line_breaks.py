"""Where a line must not break: inside a short piece of code, and between code and its Korean particle."""

from __future__ import annotations

import re

_LONGEST = 26  # letters that fit beside a list's bullet on a screen of 360 pixels
_SHORT = re.compile(rf"<code>([^<]{{1,{_LONGEST}}})</code>")
_PARTICLE = re.compile(r"</code>(?=[가-힣])")
_JOINER = "\N{WORD JOINER}"


def keep_together(html: str) -> str:
    """A rendered page whose short code is neither taken apart nor separated from its particle."""
    return _PARTICLE.sub(f"</code>{_JOINER}", _SHORT.sub(r'<code class="short">\1</code>', html))
