"""Lines do not break inside short code or between code and a particle."""

from __future__ import annotations

import pytest

from tooling.book.site.line_breaks import keep_together


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<code>--tiled</code>", '<code class="short">--tiled</code>'),
        ("<code>barrier()</code>를", '<code class="short">barrier()</code>\u2060를'),
        ("<code>a + b</code>를", '<code class="short">a + b</code>\u2060를'),
        ("<code>a</code> 를", '<code class="short">a</code> 를'),
        (f"<code>{'x' * 40}</code>", f"<code>{'x' * 40}</code>"),
        (
            "<code>uv run tooling profile p05 --solution</code>을",
            '<code>uv run tooling profile p05 <span class="short">--solution</span></code>\u2060을',
        ),
        (
            "<code>a number of cells less -1 and x - y</code>",
            '<code>a number of cells less <span class="short">-1</span> and x - y</code>',
        ),
        (
            '<pre><code class="language-bash">ls</code></pre>',
            '<pre><code class="language-bash">ls</code></pre>',
        ),
    ],
)
def test_short_code_and_particles_are_kept_together(html: str, kept: str) -> None:
    assert keep_together(html) == kept
