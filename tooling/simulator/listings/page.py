"""The listing on the page of a profile: Mojo, PTX and SASS in three columns, linked by line.

Without JavaScript the columns can be read, with the colours of the lines and with links from an instruction
to those that it waits for; with it, lines are marked and scrolled to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from pathlib import PurePath

from tooling.simulator.counters.page import Listings
from tooling.simulator.counters.profile import ELSEWHERE, Line
from tooling.simulator.counters.sources import whole_line
from tooling.simulator.listings.listing import Listing
from tooling.simulator.listings.table import sets, setter_name, stall
from tooling.simulator.listings.texts import COLOURS, HEADS, LEGEND, RELEASED, TITLE, summary

_HUES = 8
_GAP = 12
"""Lines of the source without machine code that are shown between two lines with some."""

STYLE = (
    "".join(
        f".row.h{hue} {{ --row: hsl({hue * 360 // _HUES} 70% 90%); }}\n"
        f':root[data-theme="dark"] .row.h{hue} {{ --row: hsl({hue * 360 // _HUES} 35% 20%); }}\n'
        for hue in range(_HUES)
    )
    + """.code { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) minmax(0, 1.9fr);
  gap: .6rem; width: calc(100vw - 3rem); max-width: 130rem; position: relative; left: 50%;
  transform: translateX(-50%); }
.code h4 { font-size: .85rem; font-weight: 600; margin: 0 0 .2rem; color: var(--soft); }
.code pre { margin: 0; height: 70vh; overflow: auto; border: 1px solid var(--line); border-radius: 8px;
  font: .78rem/1.5 var(--mono); background: var(--panel); padding: .4rem 0; }
.row { display: block; width: max-content; min-width: 100%; padding: 0 .6rem; background: var(--row, none); }
.row.on, .row:target { outline: 2px solid var(--accent); outline-offset: -2px; }
.row i { font-style: normal; color: var(--soft); } .row a { color: var(--accent); }
.summary { margin: .3rem 0; max-width: 60rem; }
@media (max-width: 60rem) { .code { grid-template-columns: minmax(0, 1fr); } .code pre { height: 45vh; } }
@media print { .code pre { height: auto; } }
"""
)

SCRIPT = """
for (const code of document.querySelectorAll(".code")) {
  const rows = [...code.querySelectorAll(".row[data-line]")];
  const alike = (one, other) => one.dataset.line === other.dataset.line;
  const mark = row => rows.forEach(each => each.classList.toggle("on", row !== null && alike(each, row)));
  code.addEventListener("mouseover", event => mark(event.target.closest(".row[data-line]")));
  code.addEventListener("mouseleave", () => mark(null));
  code.addEventListener("click", event => {
    const row = event.target.closest(".row[data-line]");
    if (!row || event.target.closest("a")) return;
    for (const pane of code.querySelectorAll("pre")) {
      const first = rows.find(each => alike(each, row) && pane.contains(each));
      if (first && !pane.contains(row))
        pane.scrollTop = first.offsetTop - pane.offsetTop - pane.clientHeight / 3;
    }
  });
}
"""


def listings_page(listings: Sequence[Listing], language: str) -> Listings:
    """The listings of a profile's kernels for its page."""
    sections = [_section(number, listing, language) for number, listing in enumerate(listings, start=1)]
    return Listings(sections, STYLE, SCRIPT)


def _section(number: int, listing: Listing, language: str) -> str:
    hues = {line: index % _HUES for index, line in enumerate(listing.lines)}
    sentences = "".join(
        f'<p class="summary">{escape(sentence.render(language))}</p>\n' for sentence in summary(listing)
    )
    panes = (
        _pane(HEADS["source"].render(language), _source_rows(listing, hues)),
        _pane(HEADS["ptx"].render(language), _ptx_rows(listing, hues)),
        _pane(HEADS["sass"].render(language), _sass_rows(number, listing, hues, language)),
    )
    legend = escape(f"{COLOURS.render(language)} {LEGEND.render(language)}")
    return (
        f"<h3>{escape(TITLE.render(language))}</h3>\n{sentences}"
        f'<p class="legend">{legend}</p>\n<div class="code">{"".join(panes)}</div>\n'
    )


def _pane(title: str, rows: Iterator[str]) -> str:
    name = escape(title, quote=True)
    code = f'<pre tabindex="0" role="group" aria-label="{name}">{"".join(rows)}</pre>'
    return f"<div><h4>{name}</h4>{code}</div>\n"


def _row(line: Line, hues: dict[Line, int], content: str, identifier: str = "") -> str:
    name = f' id="{identifier}"' if identifier else ""
    if line not in hues:
        return f'<span class="row"{name}>{content}</span>'
    key = escape(f"{line.file}:{line.number}", quote=True)
    return f'<span class="row h{hues[line]}" data-line="{key}"{name}>{content}</span>'


def _source_rows(listing: Listing, hues: dict[Line, int]) -> Iterator[str]:
    """The lines with machine code and those between them, by file; longer stretches without are left out."""
    files = dict.fromkeys(line.file for line in listing.lines)
    for file in files:
        numbers = [line.number for line in listing.lines if line.file == file]
        yield _row(ELSEWHERE, hues, f"<i>{escape(PurePath(file).name)}</i>")
        shown = [numbers[0]]
        for before, after in pairwise(numbers):
            if after - before <= _GAP:
                shown += range(before + 1, after)
            shown.append(after)
        last = shown[0] - 1
        for number in shown:
            if number > last + 1:
                yield _row(ELSEWHERE, hues, "<i>⋯</i>")
            line = Line(file, number)
            yield _row(line, hues, f"<i>{number:4}</i>  {escape(whole_line(line))}")
            last = number


def _ptx_rows(listing: Listing, hues: dict[Line, int]) -> Iterator[str]:
    linked = {instruction.ptx_line for instruction in listing.instructions}
    for number, text in listing.ptx.items():
        line = listing.line_of_ptx(number) if number in linked or number in listing.sources else ELSEWHERE
        yield _row(line, hues, f"<i>{number:4}</i>  {escape(text.expandtabs(4))}")


def _sass_rows(number: int, listing: Listing, hues: dict[Line, int], language: str) -> Iterator[str]:
    widest = max((len(instruction.text) for instruction in listing.instructions), default=0)
    for index, instruction in enumerate(listing.instructions):
        control = f"{stall(instruction):>3}  {sets(instruction):<5}"
        text = f"{instruction.text:<{min(widest, 52)}}"
        waits = "; ".join(_wait(number, listing, index, language))
        content = f"<i>{instruction.address:04x}  {control}</i>  {escape(text)}"
        if waits:
            content += f"  <i>← {waits}</i>"
        yield _row(listing.line_of(index), hues, content, _anchor(number, listing, index))


def _anchor(number: int, listing: Listing, index: int) -> str:
    return f"k{number}-sass-{listing.instructions[index].address:04x}"


def _wait(number: int, listing: Listing, index: int, language: str) -> Iterator[str]:
    for wait in listing.waits_of(index):
        if not wait.setters:
            yield escape(RELEASED.of(number=wait.scoreboard).render(language))
        for setter in wait.setters:
            name = escape(setter_name(listing, setter))
            yield f'<a href="#{_anchor(number, listing, setter)}">{name}</a>'
