"""The profile as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tooling.simulator.counters.profile import KernelProfile
from tooling.simulator.counters.sources import file_and_line, source_text
from tooling.simulator.counters.texts import occupancy_phrase, say
from tooling.simulator.counters.traffic import Counts, Route, Traffic
from tooling.simulator.gpu.hooks import Space
from tooling.text.colours import rich_style


class Column(Struct, frozen=True):
    """A column of numbers; left out if it would be empty.

    Attributes:
        title: key of its title.
        number: the cell's text, or empty.
        style: `good`, `warn`, `bad`, or empty for a number that is neither.
    """

    title: str
    number: Callable[[Counts], str]
    style: Callable[[Counts], str] = lambda _counts: ""


def _whole(number: int) -> str:
    return f"{number:,}" if number else ""


_LOADS = (Route.GLOBAL_LOAD, Route.GLOBAL_ASYNC)
_ATOMICS = (Route.GLOBAL_REDUCTION, Route.GLOBAL_ATOMIC)


def _requests(title: str, *routes: Route) -> tuple[Column, Column]:
    """The requests of some routes, and their sectors per request."""

    def sectors(counts: Counts) -> str:
        traffic = counts.total(*routes)
        return f"{traffic.sectors_per_request:.3g}" if traffic.requests else ""

    return Column(title, lambda counts: _whole(counts.total(*routes).requests)), Column("sectors", sectors)


def _use(counts: Counts) -> str:
    traffic = counts.space(Space.GLOBAL)
    return f"{traffic.use:.0%}" if traffic.sectors else ""


def _conflicts(counts: Counts) -> str:
    traffic = counts.space(Space.SHARED)
    return f"{traffic.conflicts:,}" if traffic.requests else ""


def _lanes(counts: Counts) -> str:
    return f"{counts.lanes_per_instruction:.3g}" if counts.instructions else ""


def use_style(traffic: Traffic) -> str:
    """The style for the used share of the moved bytes."""
    return "good" if traffic.use > 0.99 else "warn" if traffic.use > 0.5 else "bad"


def conflict_style(traffic: Traffic) -> str:
    """The style for these bank conflicts."""
    return "good" if not traffic.conflicts else "warn" if traffic.ways <= 2 else "bad"


COLUMNS = (
    Column("instructions", lambda counts: _whole(counts.instructions)),
    Column("lanes", _lanes),
    *_requests("loads", *_LOADS),
    *_requests("stores", Route.GLOBAL_STORE),
    *_requests("atomics", *_ATOMICS),
    Column("use", _use, lambda counts: use_style(counts.space(Space.GLOBAL))),
    Column("wavefronts", lambda counts: _whole(counts.space(Space.SHARED).wavefronts)),
    Column("conflicts", _conflicts, lambda counts: conflict_style(counts.space(Space.SHARED))),
    Column("local", lambda counts: _whole(counts.space(Space.LOCAL).sectors)),
    Column("bulk", lambda counts: _whole(counts.bulk_read + counts.bulk_written)),
    Column("barriers", lambda counts: _whole(counts.barriers)),
)
_UNMEASURED = {"sectors": "cache_lines", "local": "local_lines", "wavefronts": "passes"}
"""Titles for a GPU whose counts no profiler has confirmed."""
_LEAST_SOURCE = 8  # columns, in a narrow terminal
_COLOURS = {"good": "green", "warn": "yellow", "bad": "red"}


def show(
    kernels: Sequence[KernelProfile], console: Console, language: str, *, instructions: bool = False
) -> None:
    """Print a table for each kernel, and notes on the numbers.

    Args:
        instructions: with the instructions of each line, and how often a warp issued them.
    """
    if not kernels:
        console.print(say("no_launch", language))
        return
    for kernel in kernels:
        console.print()
        console.print(headline(kernel, language), highlight=False)
        for number, table in enumerate(_tables(kernel, language, console.width, instructions=instructions)):
            if number:
                console.print()
            console.print(table)
    console.print()
    rules = kernels[0].rules
    notes = [say("no_times", language)]
    notes.append(say("ptx_note" if rules.measured else "lines_note", language, line=rules.line_bytes))
    for note in notes:
        console.print(f"[dim]{note}[/]", highlight=False)


def headline(kernel: KernelProfile, language: str) -> str:
    """Name, shape and number of launches, in rich's markup."""
    many = say("launch", language) if kernel.launches == 1 else say("launches", language, n=kernel.launches)
    items = [say("shape", language, grid=kernel.grid, block=kernel.block), many]
    if kernel.work.warps > 1:
        items.append(say("busiest", language, ratio=kernel.work.of_mean))
    if kernel.stages:
        items.append(say("stages", language, n=kernel.stages))
    if kernel.rules.measured:
        items.append(occupancy_phrase(kernel, language))
    else:
        items.append(say("plain_shape", language, shared=kernel.shared_bytes))
    if kernel.faults:
        items.append(f"[{rich_style('red')}]{say('faults', language, n=kernel.faults)}[/]")
    return f"[bold]{escape(kernel.name)}[/]  {', '.join(items)}"


def _tables(kernel: KernelProfile, language: str, width: int, *, instructions: bool) -> Iterator[Table]:
    """The numbers of each line; in several tables where the terminal is too narrow for one."""
    shown = [column for column in COLUMNS if column.number(kernel.counts)]
    titles = {} if kernel.rules.measured else _UNMEASURED
    heads = {column: _head(titles.get(column.title, column.title), language) for column in shown}
    numbers = sum(2 + _head_width(head) for head in heads.values())
    wide = width >= 24 + 16 + numbers
    names = _names(kernel, language, narrow=not wide)
    widest = max(cell_len(name) for name in (*names, say("total", language)))
    groups: list[list[Column]] = [[]]
    room = most = width - widest - 2 - _LEAST_SOURCE - 2
    for column, head in heads.items():
        room -= 2 + _head_width(head)
        if room < 0 and groups[-1]:
            groups.append([])
            room = most - 2 - _head_width(head)
        groups[-1].append(column)
    for group in groups:
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        table.add_column(say("line", language), no_wrap=True, min_width=widest, style=rich_style("cyan"))
        table.add_column(say("source", language), no_wrap=True)
        for column in group:
            table.add_column(heads[column], justify="right", no_wrap=True)
        numbers = sum(2 + _head_width(heads[column]) for column in group)
        source = width - 24 - numbers if wide else max(_LEAST_SOURCE, width - widest - 4 - numbers)
        for profile, name in zip(kernel.in_order(), names, strict=True):
            cells = [_cell(column, profile.counts) for column in group]
            if group is groups[0] or any(cells):
                table.add_row(escape(name), escape(shortened(source_text(profile.line), source)), *cells)
            if instructions and group is groups[0]:
                for line, (form, issued) in sorted(profile.forms.items()):
                    words = shortened(f"  {form}", source)
                    position = f"  PTX:{line}" if kernel.rules.measured else ""
                    table.add_row(position, escape(words), f"{issued:,}", style="dim")
        totals = [_cell(column, kernel.counts) for column in group]
        table.add_row(say("total", language), "", *totals, style="bold")
        yield table


def _names(kernel: KernelProfile, language: str, *, narrow: bool) -> list[str]:
    """`p15.mojo:12` for each line; where there is little room for it, the number alone if it is enough."""
    lines = [profile.line for profile in kernel.in_order()]
    alone = narrow and len({line.file for line in lines if line.number}) == 1
    return [
        (str(line.number) if alone and line.number else file_and_line(line)) or say("elsewhere", language)
        for line in lines
    ]


def shortened(text: str, room: int) -> str:
    """The text, with its end cut off where it is longer than `room`."""
    return text if len(text) <= room else text[: room - 1] + "…"


def _head(title: str, language: str) -> str:
    """The title on two lines, so that it is no wider than its numbers need."""
    return say(title, language).replace(" ", "\n", 1)


def _head_width(head: str) -> int:
    return max(6, *(cell_len(line) for line in head.splitlines()))


def _cell(column: Column, counts: Counts) -> str:
    text, style = column.number(counts), column.style(counts)
    return f"[{rich_style(_COLOURS[style])}]{text}[/]" if text and style else text
