"""Columns of numbers in a page's tables."""

from __future__ import annotations

import pytest

from tests.book.edited import edited
from tooling.book.site.typography.tables import mark_cells


def marked(table: str) -> str:
    """What becomes of a table, without the element that a browser adds around its rows."""
    return edited(table, mark_cells).replace("<tbody>", "").replace("</tbody>", "")


@pytest.mark.parametrize(
    "cells",
    [
        ("0.2 %", "86 %"),
        ("75.9 µs", "471.8 µs"),
        ("1,024", "–"),
        ("−3", "<code>2</code>"),
        ("4바이트", "16 bytes"),
        ("147 MB", "2.1 TB/s"),
    ],
)
def test_a_column_of_numbers_is_marked_with_its_head(cells: tuple[str, str]) -> None:
    rows = "".join(f"<tr><td>name</td><td>{cell}</td><td>text</td></tr>" for cell in cells)
    shown = marked(f"<table><thead><tr><th>a</th><th>b</th><th>c</th></tr></thead>{rows}</table>")
    assert '<th>a</th><th class="number">b</th><th>c</th>' in shown
    assert [f'<td>name</td><td class="number">{cell}</td><td>text</td>' in shown for cell in cells] == [
        True,
        True,
    ]


def test_the_cells_of_a_wide_table_have_the_heads_of_their_columns() -> None:
    row = "<tr><td>x</td><td>1</td><td><code>b</code></td><td>c</td></tr>"
    heads = "<tr><th>mode</th><th>size</th><th>more <code>a</code></th><th>grid</th></tr>"
    assert marked(f"<table><thead>{heads}</thead>{row}</table>").endswith(
        '<tr><td>x</td><td class="number" data-head="size">1</td>'
        '<td><span class="head" aria-hidden="true">more <code>a</code></span><code>b</code></td>'
        '<td data-head="grid">c</td></tr></table>'
    )
    numbers = "<tr><td>x</td><td>1</td><td>2</td><td>c</td></tr>"
    assert "data-head" not in marked(f"<table><thead>{heads}</thead>{numbers}</table>")


def test_a_line_may_break_in_a_long_name_beside_numbers() -> None:
    head = "<table><thead><tr><th>kernel</th><th>sectors</th></tr></thead>"
    row = '<tr><td><code class="short">{}</code></td><td>{}</td></tr>'
    shown = marked(f"{head}{row.format('two_way_kernel', 8)}{row.format('short_kernel', 2)}</table>")
    assert "<code>two_<wbr>way_<wbr>kernel</code>" in shown
    assert '<code class="short">short_kernel</code>' in shown
    texts = f"{head}{row.format('two_way_kernel', 'many')}</table>"
    assert marked(texts) == texts


def test_a_few_short_words_stay_in_one_line() -> None:
    row = "<tr><td>{}</td><td>{}</td></tr>"
    head = "<table><thead><tr><th>memory</th><th>what</th></tr></thead>"
    shown = marked(f"{head}{row.format('shared memory', '<em>one</em> block')}</table>")
    assert shown.endswith(
        '<td class="short">shared memory</td><td class="short"><em>one</em> block</td></tr></table>'
    )
    longer = f"{head}{row.format('shared memories', 'global')}</table>"
    assert marked(longer) == longer


@pytest.mark.parametrize(
    "table",
    [
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tr><td>1</td><td>block</td></tr></table>",
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tr><td>1</td><td></td></tr></table>",
        '<table class="times"><tr><th>a</th><th>b</th></tr><tr><td>x</td><td>1</td></tr></table>',
        '<table><tr><th>a</th><th>b</th></tr><tr><td colspan="2">1</td></tr></table>',
        "<table><thead><tr><th>a</th><th>b</th></tr></thead></table>",
    ],
)
def test_other_columns_stay_as_they_are(table: str) -> None:
    assert marked(table) == table


def test_a_table_of_many_numbers_is_turned_or_stacked_unless_its_heads_are_numbers() -> None:
    row = "<tr><td>x</td><td>1</td><td>2</td><td>3</td><td>4</td></tr>"
    words = "<thead><tr><th>kernel</th><th>hits</th><th>misses</th><th>reads</th><th>writes</th></tr></thead>"
    sizes = "<thead><tr><th>stride</th><th>1</th><th>2</th><th>4</th><th>8</th></tr></thead>"
    turned = marked(f"<table>{words}{row * 3}</table>")
    assert turned.startswith('<table class="turned" style="--columns: 5"><thead><tr><th>kernel</th>')
    assert "data-head" not in turned
    assert marked(f"<table>{words}{row * 4}</table>").endswith('data-head="writes">4</td></tr></table>')
    assert marked(f"<table>{sizes}{row}</table>").startswith("<table><thead>")
