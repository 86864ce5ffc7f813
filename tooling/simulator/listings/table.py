"""The listing in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tooling.simulator.counters.sources import file_and_line, source_text
from tooling.simulator.counters.table import shortened
from tooling.simulator.listings.listing import Listing
from tooling.simulator.listings.texts import HEADS, LEGEND, RELEASED, TITLE, summary
from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction
from tooling.text.colours import rich_style

_OTHERS = 66  # columns for lines, stalls, scoreboards and what is waited for, with the space between
_MOST_SASS = 46
_LEAST = 12
_MOST_SETTERS = 3


def show_listing(listing: Listing, console: Console, language: str) -> None:
    """Print what the machine code of a kernel needs, and each instruction with its PTX and Mojo line."""
    console.print()
    console.print(f"[bold]{escape(listing.kernel.name)}[/]  {TITLE.render(language)}", highlight=False)
    for sentence in summary(listing):
        console.print(escape(sentence.render(language)), highlight=False)
    console.print()
    widest = max((len(instruction.text) for instruction in listing.instructions), default=0)
    sass_room = min(6 + widest, _MOST_SASS)
    room = max((console.width - _OTHERS - sass_room) // 2, _LEAST)  # for Mojo, and for PTX
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column(HEADS["line"].render(language), no_wrap=True, style=rich_style("cyan"))
    table.add_column(HEADS["source"].render(language), no_wrap=True)
    table.add_column(HEADS["ptx"].render(language), no_wrap=True, style="dim")
    table.add_column(HEADS["sass"].render(language), min_width=sass_room)
    table.add_column(HEADS["stall"].render(language), justify="right", no_wrap=True)
    table.add_column(HEADS["sets"].render(language), no_wrap=True)
    table.add_column(HEADS["waits"].render(language))
    before_line, before_ptx = None, None
    for index, instruction in enumerate(listing.instructions):
        line, number = listing.line_of(index), instruction.ptx_line
        name = source = ptx = ""
        if line != before_line and line.number:
            name, source = file_and_line(line), shortened(source_text(line), room)
        if number is not None and number != before_ptx and number in listing.ptx:
            ptx = shortened(" ".join((str(number), *listing.ptx[number].split())), room)
        table.add_row(
            escape(name),
            escape(source),
            escape(ptx),
            escape(f"{instruction.address:04x}  {instruction.text}"),
            stall(instruction),
            sets(instruction),
            escape(_waits(listing, index, language)),
        )
        before_line, before_ptx = line, number
    console.print(table)
    console.print()
    console.print(f"[dim]{escape(LEGEND.render(language))}[/]", highlight=False)


def stall(instruction: SassInstruction) -> str:
    """`5`, or `5y` where the scheduler should prefer another warp."""
    control = instruction.control
    return f"{control.stall}{'y' if control.yields else ''}"


def sets(instruction: SassInstruction) -> str:
    """`w0 r1`: the scoreboards that the instruction sets for its result and for its operands."""
    control = instruction.control
    pairs = (("w", control.write_barrier), ("r", control.read_barrier))
    return " ".join(f"{letter}{number}" for letter, number in pairs if number is not None)


def setter_name(listing: Listing, index: int) -> str:
    """`LDG 00b0 (p15.mojo:38)`."""
    instruction = listing.instructions[index]
    where = file_and_line(listing.line_of(index))
    return f"{instruction.name} {instruction.address:04x}" + (f" ({where})" if where else "")


def _waits(listing: Listing, index: int, language: str) -> str:
    named = []
    for wait in listing.waits_of(index):
        names = [setter_name(listing, setter) for setter in wait.setters[:_MOST_SETTERS]]
        if len(wait.setters) > _MOST_SETTERS:
            names.append(f"+{len(wait.setters) - _MOST_SETTERS}")
        named.append(", ".join(names) if names else RELEASED.of(number=wait.scoreboard).render(language))
    return "; ".join(named)
