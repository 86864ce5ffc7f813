"""The sentences of a verdict by counters."""

from __future__ import annotations

from collections.abc import Mapping

from tooling.catalog.model import Bound, CounterMetric
from tooling.simulator.counters.occupancy import Limit
from tooling.text import Text

FOUND: Mapping[CounterMetric, Text] = {
    CounterMetric.SECTORS_PER_REQUEST: Text("`{kernel}` transfers {counted:.3g} sectors per request"),
    CounterMetric.BYTES_USED: Text(
        "`{kernel}` uses {counted:.1%} of the bytes that it transfers, {sectors:.3g} sectors per request"
    ),
    CounterMetric.BANK_CONFLICTS: Text(
        "`{kernel}` has {counted:,} bank conflicts: {ways:.3g} passes over the banks where 1 would be enough"
    ),
    CounterMetric.SHARED_BYTES: Text("a block of `{kernel}` uses {counted:,} bytes of shared memory"),
    CounterMetric.SHARED_BLOCKS: Text(
        "a block of `{kernel}` uses {shared:,} bytes of shared memory, so the {available:,} bytes of a "
        "multiprocessor are enough for {counted} block(s)"
    ),
    CounterMetric.OCCUPANCY: Text(
        "`{kernel}` reaches an occupancy of at most {counted:.0%}: a multiprocessor holds "
        "{blocks} block(s) of {threads:,} threads, limited by {limit}"
    ),
    CounterMetric.TENSOR: Text("the warps of `{kernel}` execute {counted:,} tensor-core instructions"),
}
"""What was counted."""

REQUIRED: Mapping[Bound, Text] = {
    Bound.AT_LEAST: Text("at least {value}"),
    Bound.AT_MOST: Text("at most {value}"),
    Bound.EQUALS: Text("{value}"),
}

ADVICE: Mapping[CounterMetric, Text] = {
    CounterMetric.SECTORS_PER_REQUEST: Text(
        "write down the elements that lanes 0, 1 and 2 of a warp access: neighbouring lanes should access "
        "neighbouring elements; `tooling profile` shows the requests"
    ),
    CounterMetric.BYTES_USED: Text(
        "memory is transferred in sectors of 32 bytes: write down the addresses of lanes 0 to 31, how many "
        "sectors they touch and where the first one begins; `tooling profile` shows the sectors"
    ),
    CounterMetric.BANK_CONFLICTS: Text(
        "word i is in bank i mod 32: work out the bank of each lane; lanes may access the same word, but "
        "different words must be in different banks"
    ),
    CounterMetric.SHARED_BYTES: Text(
        "for each array in shared memory, work out how many of its elements are needed at the same time"
    ),
    CounterMetric.SHARED_BLOCKS: Text(
        "each block takes its own bytes and 1,024 more for the driver; reuse an array that is no longer "
        "needed instead of allocating another"
    ),
    CounterMetric.OCCUPANCY: Text(
        "occupancy is the number of resident warps out of 64 (registers are not considered, since PTX does "
        "not specify their number): use less of the limiting resource"
    ),
    CounterMetric.TENSOR: Text(
        "multiply the fragments of a warp with `mma`, and check that the threads of every warp reach it"
    ),
}
"""What to try."""

LIMITS: Mapping[Limit, Text] = {
    Limit.WARPS: Text("the number of warps"),
    Limit.BLOCKS: Text("the number of blocks"),
    Limit.SHARED: Text("shared memory"),
    Limit.REGISTERS: Text("registers"),
}

MISSING = Text("`{kernel}` was never launched, so there is nothing to count")
STOPPED = Text("`{kernel}` was stopped by an error, so its counts are incomplete")
NOT_JUDGED = Text(
    "this mode is also judged by counters, which only the simulated NVIDIA GPU has, not {device}"
)
