"""The sentences about machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tooling.simulator.counters.occupancy import LIMITS
from tooling.simulator.counters.sources import file_and_line
from tooling.simulator.listings.listing import Listing
from tooling.simulator.nvidia.machine_code.flow import Loop
from tooling.simulator.nvidia.machine_code.mix import Kind, mix_of
from tooling.text import JoinedText, Sentence, Text, joined

HEADS: Mapping[str, Text] = {
    "line": Text("line"),
    "source": Text("Mojo"),
    "ptx": Text("PTX"),
    "sass": Text("machine code (SASS)"),
    "stall": Text("stall"),
    "sets": Text("sets"),
    "waits": Text("waits for"),
}
TITLE = Text("Machine code")
LEGEND = Text(
    "stall: cycles until the warp can issue its next instruction, with y if the scheduler should prefer "
    "another warp. sets: the scoreboard that is released when the result is written (w) or when the operands "
    "have been read (r). waits for: the instructions that must have released their scoreboards."
)
COLOURS = Text(
    "Lines with the same colour come from the same line of Mojo. Point at a line to mark them, and click to "
    "scroll to them."
)
RELEASED = Text("scoreboard {number} (already released)")

_CODE = Text(
    "{n} instructions for {target}, by ptxas {version}; {registers} registers per thread, {spills}; "
    "{stack:,} B of stack per thread, {shared:,} B of static shared memory per block"
)
_NO_SPILLS = Text("no spills")
_SPILLS = Text("spills of {stores:,} B stored and {loads:,} B loaded")
_OCCUPANCY = Text("occupancy {share:.0%}: {blocks} block(s) of {warps} warp(s), limited by {limit}")
_MIX = Text("instructions: {mix}")
_LOOP = Text(
    "loop at {address:04x} ({lines}), depth {depth}: {n} instructions ({mix}); longest chain of dependent "
    "instructions: {longest}; from one iteration to the next: {carried}"
)
_UNKNOWN_LINES = Text("no line is known")

_KINDS: Mapping[Kind, Text] = {
    Kind.GLOBAL: Text("global memory"),
    Kind.SHARED: Text("shared memory"),
    Kind.LOCAL: Text("local memory"),
    Kind.GENERIC: Text("generic addresses"),
    Kind.CONSTANT: Text("constant memory"),
    Kind.COPY: Text("asynchronous copies"),
    Kind.TENSOR: Text("tensor cores"),
    Kind.FLOAT32: Text("float32"),
    Kind.FLOAT64: Text("float64"),
    Kind.FLOAT16: Text("float16"),
    Kind.SPECIAL: Text("special functions and conversions"),
    Kind.INTEGER: Text("integers and moves"),
    Kind.UNIFORM: Text("uniform"),
    Kind.WARP: Text("exchange within a warp"),
    Kind.SYNCHRONISATION: Text("barriers and fences"),
    Kind.CONTROL: Text("control flow"),
    Kind.OTHER: Text("other"),
}


def summary(listing: Listing) -> tuple[Sentence, ...]:
    """The resources of a kernel, its occupancy, its instructions and its loops, a sentence each."""
    code, occupancy = listing.code, listing.kernel.occupancy
    resources = code.resources
    spills = _SPILLS.of(stores=resources.spill_stores, loads=resources.spill_loads)
    return (
        _CODE.of(
            n=f"{len(code.instructions):,}",
            target=code.target,
            version=code.assembler,
            registers=resources.registers,
            spills=spills if resources.spill_stores or resources.spill_loads else _NO_SPILLS,
            stack=resources.stack,
            shared=resources.shared,
        ),
        _OCCUPANCY.of(
            share=occupancy.fraction,
            blocks=occupancy.blocks,
            warps=-(-listing.kernel.block.count // 32),
            limit=LIMITS[occupancy.limited_by],
        ),
        _MIX.of(mix=_mix(listing, range(len(code.instructions)))),
        *(_loop(listing, loop) for loop in code.loops),
    )


def _loop(listing: Listing, loop: Loop) -> Text:
    chains = listing.code.chains(loop)
    lines = sorted({listing.line_of(index).number for index in loop.instructions} - {0})
    return _LOOP.of(
        address=listing.instructions[loop.header].address,
        lines=_span(listing, loop) if lines else _UNKNOWN_LINES,
        depth=loop.depth,
        n=f"{len(loop.instructions):,}",
        mix=_mix(listing, loop.instructions),
        longest=len(chains.longest),
        carried=len(chains.carried),
    )


def _span(listing: Listing, loop: Loop) -> str:
    """`p15.mojo:49-55`, in the file of most of its instructions."""
    found = [line for index in loop.instructions if (line := listing.line_of(index)).number]
    file = max({line.file for line in found}, key=lambda name: sum(line.file == name for line in found))
    own = sorted((line for line in found if line.file == file), key=lambda line: line.number)
    first, last = own[0], own[-1]
    return file_and_line(first) + (f"-{last.number}" if last != first else "")


def _mix(listing: Listing, indices: Sequence[int]) -> JoinedText:
    mix = mix_of(listing.instructions[index] for index in indices)
    ordered = sorted(mix.items(), key=lambda item: -item[1])
    return joined([joined((_KINDS[kind], f" {count:,}"), "") for kind, count in ordered], ", ")
