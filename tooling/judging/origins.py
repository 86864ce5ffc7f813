"""Judges whether the GPU did the work: where a right result came from, and how its kernels were launched.

Only the simulated GPU sees this. On hardware the two data sets and the guard stay the check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tooling.catalog.model import LaunchShape, LeastThreads, Mode, MostCopyTime, Output, SharedMemoryUse
from tooling.execution.channel import BufferContent, element_bytes
from tooling.judging.diagnosis import GUARD
from tooling.judging.reference import ReferenceCase
from tooling.judging.verdict import Problem, explained
from tooling.text import Sentence, Text

if TYPE_CHECKING:
    from tooling.simulator.checks.happens_before.copy_times import CopyTimes
    from tooling.simulator.server.provenance import LaunchFacts, Provenance


_BY_SEVERAL = Text(
    "element {index} of `{output}` was stored by several threads of one launch; the result is right because "
    "all of them stored the same value",
    "{count} elements of `{output}`, the first of them {index}, were stored by several threads of one "
    "launch; the result is right because all of them stored the same values",
)


def result_sizes(mode: Mode, case: ReferenceCase) -> frozenset[int]:
    """The sizes, in bytes, of the results whose origin is judged."""
    return frozenset(
        case.expected[output.name].size * element_bytes(output.dtype)
        for output in mode.outputs
        if not output.host
    )


def judge_origin(
    output: Output, buffer: BufferContent, initial: np.ndarray | None, provenance: Provenance
) -> Problem | None:
    """What is wrong with the origin of an output whose values are right.

    An element may keep the value that it had before the launch, and a zero may come from a fill before it, to
    which a kernel adds: nothing has to be stored there.

    Args:
        initial: the content that was staged, if the output was.
        provenance: what the simulated GPU recorded.
    """
    if output.host:
        return None
    origin = provenance.of(buffer.content)
    if origin is None:
        return explained("not-from-device", output=output.name)
    if output.name == GUARD:
        return explained("guard-refilled", output=output.name) if origin.ever_by_kernel else None
    by_kernel = origin.elements(element_bytes(output.dtype))
    if by_kernel is None:
        return None
    foreign = ~by_kernel
    got = buffer.array()
    foreign &= got != 0
    if initial is not None and initial.size == foreign.size:
        before = initial.ravel()
        foreign &= ~((got == before) | ((got != got) & (before != before)))  # noqa: PLR0124 - a NaN stays one
    count = int(np.count_nonzero(foreign))
    return explained("stored-by-host", output=output.name, count=count) if count else None


def judge_sources(
    output: Output, buffer: BufferContent, inputs: Sequence[bytes], provenance: Provenance
) -> Problem | None:
    """Whether the kernel copied an output, whose origin is right, from a buffer that is none of the inputs.

    A result that is part of an input, as after a copy, needs no other source. An allocation may hold an input
    among other bytes, or a slice of one.

    Args:
        inputs: what the program staged, without the outputs.
    """
    if output.host or not inputs or any(buffer.content in each for each in inputs):
        return None
    for source in provenance.sources_of(buffer.content):
        if not any(each in source or source in each for each in inputs):
            return explained("copied-from-host", output=output.name)
    return None


def stored_by_several(
    mode: Mode, submitted: Mapping[str, BufferContent], provenance: Provenance
) -> list[Sentence]:
    """A note for each output of which several threads of one launch stored the same elements."""
    found: list[Sentence] = []
    for output in mode.outputs:
        buffer = submitted.get(output.name)
        origin = provenance.of(buffer.content) if buffer and not output.host else None
        if origin is None or origin.by_several is None or output.name == GUARD:
            continue
        several = origin.by_several.reshape(-1, element_bytes(output.dtype)).any(axis=1)
        count, index = int(np.count_nonzero(several)), int(np.argmax(several))
        found.append(_BY_SEVERAL.of(count=count, output=output.name, index=index))
    return found


def judge_launches(mode: Mode, launches: Sequence[LaunchFacts]) -> list[Problem]:
    """What is wrong with the launches of a run whose values are right."""
    found = []
    if mode.launch is not None:
        found += _other_shape(mode.launch, launches)
    if mode.threads is not None:
        found += _few_threads(mode.threads, launches)
    if mode.shared_memory is not None:
        found += _no_shared_memory(mode.shared_memory, launches)
    return found


def judge_copies(wanted: MostCopyTime, copies: CopyTimes) -> list[Problem]:
    """What is wrong with the order of the copies of a run whose values are right."""
    if copies.relative <= wanted.most:
        return []
    facts: dict[str, Any] = {"times": copies.relative, "most": wanted.most, "because": wanted.because}
    return [explained("copies-in-turn", **facts)]


def _other_shape(wanted: LaunchShape, launches: Sequence[LaunchFacts]) -> list[Problem]:
    for launch in launches:
        if (tuple(launch.grid), tuple(launch.block)) != (wanted.grid, wanted.block):
            facts = {"grid": _shown(launch.grid), "block": _shown(launch.block)}
            facts |= {"wanted_grid": _shown(wanted.grid), "wanted_block": _shown(wanted.block)}
            return [explained("launch-shape", output=launch.kernel, because=wanted.because, **facts)]
    return []


def _few_threads(wanted: LeastThreads, launches: Sequence[LaunchFacts]) -> list[Problem]:
    if not launches:
        return []
    largest = max(launches, key=lambda launch: launch.threads)
    if largest.threads >= wanted.least:
        return []
    facts: dict[str, Any] = {"count": largest.threads, "least": wanted.least, "because": wanted.because}
    return [explained("few-threads", output=largest.kernel, **facts)]


def _no_shared_memory(wanted: SharedMemoryUse, launches: Sequence[LaunchFacts]) -> list[Problem]:
    if not launches or any(launch.reads_shared for launch in launches):
        return []
    largest = max(launches, key=lambda launch: launch.threads)
    return [explained("no-shared-memory", output=largest.kernel, because=wanted.because)]


def _shown(extents: Sequence[int]) -> str:
    return f"({', '.join(map(str, extents))})"
