"""The sentences of a verdict by counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tooling.catalog.model import Bound, CounterMetric
from tooling.simulator.counters.occupancy import LIMITS, Limit
from tooling.text import Sentence, Text

FOUND: Mapping[CounterMetric, Text] = {
    CounterMetric.SECTORS_PER_REQUEST: Text("`{kernel}` transfers {counted:.3g} sectors per request"),
    CounterMetric.BYTES_USED: Text(
        "`{kernel}` uses {counted:.1%} of the bytes that it transfers, {sectors:.3g} sectors per request"
    ),
    CounterMetric.BANK_CONFLICTS: Text(
        "`{kernel}` has {counted:,} bank conflicts: {ways:.3g} passes over the banks where 1 would be enough"
    ),
    CounterMetric.GLOBAL_READ: Text("the threads of `{kernel}` read {counted:,} bytes from global memory"),
    CounterMetric.GLOBAL_WRITTEN: Text("the threads of `{kernel}` store {counted:,} bytes to global memory"),
    CounterMetric.TMA_READ: Text("the tensor copies of `{kernel}` read {counted:,} bytes from global memory"),
    CounterMetric.TMA_WRITTEN: Text(
        "the tensor copies of `{kernel}` write {counted:,} bytes to global memory"
    ),
    CounterMetric.STAGES: Text("the copies of a block of `{kernel}` fill at most {counted} stage(s) at once"),
    CounterMetric.SHARED_READ: Text("the threads of `{kernel}` read {counted:,} bytes from shared memory"),
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
    CounterMetric.BLOCKS: Text("a launch of `{kernel}` has {counted:,} blocks"),
    CounterMetric.BUSIEST_WARP: Text(
        "the busiest of the {warps:,} warps of `{kernel}` issues {busiest:,} instructions, "
        "{counted:.3g} times the mean"
    ),
    CounterMetric.GLOBAL_ATOMICS: Text(
        "the threads of `{kernel}` execute {counted:,} atomic operations on global memory"
    ),
    CounterMetric.SHARED_ATOMICS: Text(
        "the threads of `{kernel}` execute {counted:,} atomic operations on shared memory"
    ),
}
"""What was counted."""

_BY_REGISTERS = Text(
    "`{kernel}` reaches an occupancy of {counted:.0%}: a multiprocessor holds {blocks} block(s) of "
    "{threads:,} threads with {registers} registers each, limited by {limit}"
)
_FEWER_REGISTERS = Text(
    "occupancy is the number of resident warps out of 64: let fewer values be needed at the same time, or "
    "use smaller blocks; `tooling profile --sass` shows the registers"
)

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
    CounterMetric.GLOBAL_READ: Text(
        "find the elements that are loaded more than once, and keep them in registers or in shared memory"
    ),
    CounterMetric.GLOBAL_WRITTEN: Text(
        "let the threads store to shared memory, and one thread begin the copy to global memory"
    ),
    CounterMetric.TMA_READ: Text(
        "count the tiles that are copied, and how often each is: `tooling profile` shows the bytes of each "
        "line"
    ),
    CounterMetric.TMA_WRITTEN: Text(
        "count the tiles that are copied, and how often each is: `tooling profile` shows the bytes of each "
        "line"
    ),
    CounterMetric.STAGES: Text(
        "a stage counts from the start of its copies until the thread that copies knows that they are done: "
        "let it wait only for the stage that it fills next"
    ),
    CounterMetric.SHARED_READ: Text(
        "use an element in a register for several results before it is loaded again; `tooling profile` shows "
        "the requests of each line"
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
    CounterMetric.BLOCKS: Text(
        "let each thread process several elements in a loop, whose step is the number of threads of the grid"
    ),
    CounterMetric.BUSIEST_WARP: Text(
        "a launch ends when its busiest warp has ended: find out for which data one warp repeats a loop more "
        "often than the others do, and divide the work so that each warp gets an equal part"
    ),
    CounterMetric.GLOBAL_ATOMICS: Text(
        "combine the values of a block in registers or shared memory first, and let few threads add the "
        "result"
    ),
    CounterMetric.SHARED_ATOMICS: Text(
        "combine the values that the lanes of a warp add to the same element, and let one lane add the result"
    ),
}
"""What to try."""

NOT_MET, MISSING, STOPPED = "counter-not-met", "counters-missing", "counters-incomplete"
"""The keys of the messages."""

_WITHOUT_COUNTS: Mapping[str, Text] = {
    MISSING: Text("`{kernel}` was never launched, so there is nothing to count"),
    STOPPED: Text("`{kernel}` was stopped by an error, so its counts are incomplete"),
}
_FOUND_AND_REQUIRED = Text("{found}; required: {required}")
NOT_JUDGED = Text(
    "this mode is also judged by counters, which only the simulated NVIDIA GPU has, not {device}"
)


def counter_sentences(
    message: str, kernel: str, facts: Mapping[str, Any]
) -> tuple[Sentence, Sentence, Sentence]:
    """What was counted and is required, why it matters, and what to try.

    Args:
        message: its key.
        facts: as `judging.counters` collects them.

    Raises:
        KeyError: there is no such message, or a fact is missing.
    """
    metric = CounterMetric(facts["metric"])
    by_registers = metric is CounterMetric.OCCUPANCY and "registers" in facts
    if message == NOT_MET:
        required = _required(metric, Bound(facts["bound"]), facts["value"])
        counts = {**facts, "kernel": kernel, "limit": LIMITS[Limit(facts["limit"])]}
        found = _BY_REGISTERS if by_registers else FOUND[metric]
        what = _FOUND_AND_REQUIRED.of(found=found.of(**counts), required=required)
    else:
        what = _WITHOUT_COUNTS[message].of(kernel=kernel)
    return what, facts["because"], _FEWER_REGISTERS if by_registers else ADVICE[metric]


def _required(metric: CounterMetric, bound: Bound, value: float) -> Text | str:
    share = metric in (CounterMetric.BYTES_USED, CounterMetric.OCCUPANCY)
    shown = f"{value:.0%}" if share else f"{value:,.6g}"
    exact = share and bound is Bound.AT_LEAST and value >= 1
    return shown if exact else REQUIRED[bound].of(value=shown)
