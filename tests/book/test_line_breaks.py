"""Lines do not break inside short code, a tuple or `puzzle 3`, nor between code and a particle."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.book.edited import edited
from tooling.book.code_breaks import breakable
from tooling.book.site.typography.emphasis import mark_emphasis
from tooling.book.site.typography.highlight import highlight
from tooling.book.site.typography.line_breaks import keep_together
from tooling.book.site.typography.superscripts import raise_exponents


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<code>--tiled</code>", '<code class="short">--tiled</code>'),
        ("<code>barrier()</code>를", '<code class="short">barrier()</code>\u2060를'),
        ("<code>a + b</code>를", '<code class="short">a + b</code>\u2060를'),
        ("윈도(window)에는 (둘)", "윈도\u2060(window)\u2060에는 (둘)"),
        (
            "<code>benchmarks/kernels/vector_addition.mojo</code>",
            '<code class="medium">benchmarks/<wbr>kernels/<wbr>vector_addition.mojo</code>',
        ),
        ("읽을 수 있고 쓸 수 없는", "읽을 수\u00a0있고 쓸 수\u00a0없는"),
        ("a mix-up, 1,048,576-byte, row-major", "a mix-\u2060up, 1,048,576-\u2060byte, row-major"),
        ("12.5%입니다. 100% 가", "12.5%\u2060입니다. 100% 가"),
        (
            "<code>f(x)를</code><pre># 윈도(window)에</pre>",
            '<code class="short">f(x)를</code><pre># 윈도(window)에</pre>',
        ),
        ("<code>a</code> 를", '<code class="short">a</code> 를'),
        (f"<code>{'x' * 50}</code>", f"<code>{'x' * 50}</code>"),
        (
            "<code>uv run tooling profile p05 --solution</code>을",
            '<code class="medium"><span class="medium"><span class="short">uv run</span> '
            '<span class="short">tooling profile p05</span></span>'
            ' <span class="short">--solution</span></code>\u2060을',
        ),
        (
            "<code>uv run tooling next</code>",
            '<code class="medium"><span class="medium"><span class="short">uv run</span> '
            '<span class="short">tooling next</span></span></code>',
        ),
        (
            "<code>uv run tooling profile p16_tile_tensor --target nvidia</code>",
            '<code><span class="medium"><span class="short">uv run</span> '
            '<span class="medium">tooling profile p16_tile_tensor</span></span>'
            ' <span class="short">--target nvidia</span></code>',
        ),
        (
            "<code>var vector = load[SIMD_WIDTH, alignment=ALIGN](i)</code>",
            '<code><span class="short">var vector =</span> load[SIMD_WIDTH, alignment=ALIGN](i)</code>',
        ),
        (
            "<code>a number of cells less -1 and x - y</code>",
            '<code class="medium">a number of cells less <span class="short">-1</span> and x - y</code>',
        ),
        (
            '<pre><code class="language-bash">ls</code></pre>',
            '<pre><code class="language-bash">ls</code></pre>',
        ),
        ("<p>as in puzzle 3, part 12</p>", "<p>as in puzzle\u00a03, part\u00a012</p>"),
        ("<p>퍼즐 3에서</p>", "<p>퍼즐\u00a03에서</p>"),
        ("<p>8 warps of 32 lanes each</p>", "<p>8\u00a0warps of 32\u00a0lanes each</p>"),
        ("<p>p100 threads, 1,024 threads</p>", "<p>p100 threads, 1,024 threads</p>"),
        (
            "<p>lanes 0 to 31 of 4-byte words</p>",
            "<p>lanes 0\u00a0to\u00a031\u00a0of 4-\u2060byte\u00a0words</p>",
        ),
        (
            "<p><em>D</em> = <em>A</em> · <em>B</em></p>",
            "<p><em>D</em>\u00a0=\u00a0<em>A</em>\u00a0·\u00a0<em>B</em></p>",
        ),
        (
            "<p>2 · 16 · 8 = 256 of them</p>",
            "<p>2\u00a0·\u00a016\u00a0·\u00a08\u00a0=\u00a0256 of them</p>",
        ),
        (
            "<code>shared[local_i] += shared[local_i - offset]</code>",
            '<code class="medium">shared[local_i] += '
            '<span class="short">shared[local_i - offset]</span></code>',
        ),
        ("<p>thread (2, 3) of (x, y, 0)</p>", "<p>thread\u00a0(2,\u00a03) of (x,\u00a0y,\u00a00)</p>"),
        ("<p>(two, three) parts 3</p>", "<p>(two, three) parts 3</p>"),
        ('<p title="puzzle 3">(1)</p>', '<p title="puzzle 3">(1)</p>'),
        ('<pre><code class="x">(2, 3)</code></pre>', '<pre><code class="x">(2, 3)</code></pre>'),
        ("<p>one tile moves up.</p><p>down.</p>", "<p>one tile moves up.</p><p>down.</p>"),
        ("<h1>Puzzle 3</h1>", "<h1>Puzzle 3</h1>"),
        ("<svg><text>(0, 1)</text></svg>", "<svg><text>(0, 1)</text></svg>"),
    ],
)
def test_what_belongs_together_stays_in_one_line(html: str, kept: str) -> None:
    assert edited(html, keep_together) == kept


def test_variables_are_italic_where_emphasis_is_not() -> None:
    page = "<p><em>i</em>는 <em>열</em>이고 <em>a + b</em>는 합입니다.</p>"
    marked = (
        '<p><em lang="en" class="variable">i</em>는 <em>열</em>이고 <em lang="en">a + b</em>는 합입니다.</p>'
    )
    assert edited(page, mark_emphasis, "ko") == marked
    assert edited(page, mark_emphasis, "en") == page.replace("<em>i", '<em class="variable">i')


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("output[i] = a[i] + 10", "output[i] = a[i] + 10"),  # has room
        (
            "output[unsafe_offset=i] = a[unsafe_offset=j] + b",
            "{output[unsafe_offset=i]} = {a[unsafe_offset=j]} {+ b}",
        ),
        (
            "a: TileTensor[dtype, type_of(in_layout), ImmutAnyOrigin],",
            "a: TileTensor[|dtype, {type_of(in_layout)}, ImmutAnyOrigin],",
        ),
        (
            "row_major[BM, BK + 1]().tile[BM, BK](0, 0) + 1",
            "{row_major[BM, BK + 1]()}|{.tile[BM, BK](0, 0)} {+ 1}",
        ),
        (
            "stack_allocation[dtype, address_space=AddressSpace.SHARED](",
            "stack_allocation[|dtype, address_space=|AddressSpace.SHARED](",
        ),
        (
            'call("an (opening bracket in a text", "and ] another") + f(x)',
            'call(|"an (opening bracket in a text", "and ] another") {+ f(x)}',
        ),
        (
            "var global_i = block_dim.x * block_idx.x + thread_idx.x",
            "var global_i = block_dim.x {* block_idx.x} {+ thread_idx.x}",
        ),
        (
            "if row < rows and column >= columns // 2 or (row == -1):",
            "if row {< rows} {and column} {>= columns}{ //} 2 {or (row == -1):}",
        ),
        (
            "a_name_that_has_thirty_one_letters = another_name + an_operand_that_is_longer_than_a_line",
            "a_name_that_has_thirty_one_letters = another_name + an_operand_that_is_longer_than_a_line",
        ),
        (
            "# A comment of which no line has one short word, as i.",
            "# A comment of which no line has one short word, {as i.}",
        ),
        (
            "var warp_row = warp_id() // (BN // WN) * WM",  # `//` begins no line, like a comment elsewhere
            "var warp_row = {warp_id()}{ //} {(BN // WN)} {* WM}",
        ),
        (
            "# A comment (with brackets) has no place that is marked",
            "# A comment (with brackets) has no place that is marked",
        ),
    ],
)
def test_a_bracketed_expression_stays_in_one_line_of_a_phone_if_it_fits(line: str, shown: str) -> None:
    html = breakable(highlight(line, "mojo"), 0)
    marked = re.sub(r'<span class="unit">((?:<span[^>]*>[^<]*</span>|[^<])*)</span>', r"{\1}", html)
    assert unescape(re.sub(r"<[^>]+>", "", marked.replace("<wbr>", "|"))) == shown


def test_exponents_are_raised_digits_outside_of_code() -> None:
    assert edited("<p>2⁻¹⁰, <em>n</em>³ <code>n³</code></p>", raise_exponents) == (
        "<p>2<sup>−10</sup>, <em>n</em><sup>3</sup> <code>n³</code></p>"
    )
