"""The sentences of a verdict by counters, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from tooling.catalog.model import Bound, CounterMetric
from tooling.simulator.counters.occupancy import Limit
from tooling.text import Text

FOUND: Mapping[CounterMetric, Text] = {
    CounterMetric.SECTORS_PER_REQUEST: Text("`{kernel}` moves {counted:.3g} sectors per request{place}"),
    CounterMetric.BYTES_USED: Text(
        "`{kernel}` uses {counted:.1%} of the bytes that it moves, {sectors:.3g} sectors per request{place}"
    ),
    CounterMetric.BANK_CONFLICTS: Text(
        "`{kernel}` has {counted:,} bank conflicts: {ways:.3g} passes over the banks where 1 would do{place}"
    ),
    CounterMetric.SHARED_BYTES: Text("a block of `{kernel}` takes {counted:,} bytes of shared memory"),
    CounterMetric.SHARED_BLOCKS: Text(
        "a block of `{kernel}` takes {shared:,} bytes of shared memory, so a multiprocessor's {available:,} "
        "are enough for {counted} of them"
    ),
    CounterMetric.OCCUPANCY: Text(
        "`{kernel}` fills a multiprocessor to {counted:.0%} at most: {blocks} × {threads:,} threads fit, and "
        "the limit is {limit}"
    ),
}
"""What was counted."""

WANTED: Mapping[Bound, Text] = {
    Bound.AT_LEAST: Text("at least {value}"),
    Bound.AT_MOST: Text("at most {value}"),
    Bound.EQUALS: Text("{value}"),
}

ADVICE: Mapping[CounterMetric, Text] = {
    CounterMetric.SECTORS_PER_REQUEST: Text(
        "write down the element of lanes 0, 1 and 2 of a warp: neighbouring lanes belong on neighbouring "
        "elements; `tooling profile` draws the requests"
    ),
    CounterMetric.BYTES_USED: Text(
        "memory moves in sectors of 32 bytes: write down the addresses of lanes 0 to 31, and see how many "
        "sectors they touch and where the first one begins; `tooling profile` draws it"
    ),
    CounterMetric.BANK_CONFLICTS: Text(
        "word i lies in bank i mod 32: work out the bank of each lane; lanes may share a word, not a bank"
    ),
    CounterMetric.SHARED_BYTES: Text(
        "ask of each array in shared memory how many of its elements are still needed at any one time"
    ),
    CounterMetric.SHARED_BLOCKS: Text(
        "divide: a block costs its own bytes and 1,024 for the driver; what can be used again need not be "
        "there twice"
    ),
    CounterMetric.OCCUPANCY: Text(
        "occupancy is resident warps out of 64 (registers are left out, since PTX does not tell them): "
        "spend less of what is named as the limit"
    ),
}
"""What to try."""

LIMITS: Mapping[Limit, Text] = {
    Limit.WARPS: Text("the number of warps"),
    Limit.BLOCKS: Text("the number of blocks"),
    Limit.SHARED: Text("shared memory"),
    Limit.REGISTERS: Text("registers"),
}

PLACE = Text(" (mostly at {place}: `{source}`)")
MISSING = Text("`{kernel}` was never launched, so there is nothing to count")
STOPPED = Text("`{kernel}` was stopped by an error, so its counts are incomplete")
NOT_JUDGED = Text(
    "this mode is judged by counters as well, and a run on {device} has none; the simulated GPU counts"
)
