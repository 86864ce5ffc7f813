"""The sentences about times and their limits."""

from __future__ import annotations

from collections.abc import Mapping

from tooling.simulator.timing.model import Limit
from tooling.text import Text

HEADING = Text("Estimated, not measured")
RANGE = Text("estimated for an {gpu}: {low} to {high} µs")
REFUSED = Text("no time is estimated: {reason}")
NOTE = Text(
    "An estimate is a model with constants of microbenchmarks; such ranges held {held} of {all} kernels that "
    "were measured. A bar is the time that one limit alone would take, as a share of the whole."
)
PTX_NOTE = Text(
    "The extra `sass` is not installed, so PTX stands for machine code, and registers are unknown: the range "
    "is wider."
)
KERNEL = Text("kernel")
ELEMENTS = Text("elements")
TIME = Text("time on an {gpu}")
ESTIMATED = Text("estimated {low} to {high} µs")
NOT_ESTIMATED = Text("not estimated")
SAMPLED = Text(
    "{sampled:,} of {blocks:,} blocks were simulated, at several places of the grid: ±{error:.1f}%"
)
SAMPLING = Text("error of the sample")
LARGEST = Text("largest share")
SHARE = Text("{limit}, {share:.0f}%")

CONTENDED = Text(
    "many threads update a few addresses by atomic operations, whose time depends on the data or was not "
    "measured"
)

NAMES: Mapping[Limit, Text] = {
    Limit.LAUNCH: Text("the launch itself"),
    Limit.START: Text("start of blocks"),
    Limit.ISSUE: Text("issue of instructions"),
    Limit.LATENCY: Text("latency"),
    Limit.SHARED: Text("shared memory"),
    Limit.FIRST_LEVEL: Text("L1 cache"),
    Limit.SECOND_LEVEL: Text("L2 cache"),
    Limit.MEMORY: Text("device memory"),
    Limit.TENSOR: Text("tensor cores"),
    Limit.ATOMICS: Text("atomic operations"),
}
"""What the limits are called."""

ADVICE: Mapping[Limit, Text] = {
    Limit.LAUNCH: Text(
        "The launch itself takes most of the time ({launch:.1f} µs for a block without work). More work in "
        "one launch usually helps."
    ),
    Limit.START: Text(
        "The start of blocks takes most of the time: {blocks:,} blocks, of which the GPU starts about "
        "{rate:,.0f} per µs. Larger blocks, or several elements per thread, usually help."
    ),
    Limit.ISSUE: Text(
        "Instructions take most of the time: {issued:,.0f} for each warp (`warp instr.` counts those of "
        "PTX). Fewer of them per element usually help: wider loads, indices that are computed once."
    ),
    Limit.LATENCY: Text(
        "Waiting takes most of the time: a block takes {latency:,.0f} cycles by itself, and {resident} fit "
        "on a multiprocessor (see the occupancy). More blocks at a time, fewer barriers, or several "
        "independent loads per thread usually help."
    ),
    Limit.SHARED: Text(
        "Shared memory takes most of the time (`shared wavefronts`, and exchanges between lanes). Fewer "
        "bank conflicts, wider loads, or values that stay in registers usually help."
    ),
    Limit.FIRST_LEVEL: Text(
        "The L1 cache takes most of the time: it looks up one line of 128 bytes per cycle (`sectors /req.`). "
        "Neighbouring lanes that access neighbouring addresses usually help."
    ),
    Limit.SECOND_LEVEL: Text(
        "The L2 cache takes most of the time: the blocks ask it for {asked:,.3g} MB. Data that a block reads "
        "once, and keeps in shared memory, usually help."
    ),
    Limit.MEMORY: Text(
        "Device memory takes most of the time: about {moved:,.3g} MB move (`bytes used` is the share that is "
        "needed). Reading less, or reading it once, is all that helps."
    ),
    Limit.TENSOR: Text("The tensor cores take most of the time: the kernel uses the GPU well."),
    Limit.ATOMICS: Text(
        "Atomic operations take most of the time: many threads update the same addresses (`global atomics`). "
        "Sums in each block first, and one update per block, usually help."
    ),
}
"""What the limit that binds means, with the counter that shows it, and what usually helps."""
NO_SINGLE = Text(
    "No single limit takes half of the time. A larger launch, or more blocks whose waiting overlaps, usually "
    "help."
)
