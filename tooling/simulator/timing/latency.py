"""How long a warp takes by itself: its instructions in order, each waiting for the results that it reads.

Within a run of instructions the assembler orders them so that long waits overlap: an instruction starts when
its operands are there. The next run begins when all of them have been issued, as a warp issues in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct

from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.nvidia.backend.counting import is_barrier
from tooling.simulator.timing.costs import Cost, is_parameter

MOST_STEPS = 10_000
"""Instructions that are followed one by one; of a longer warp the rest is extrapolated."""


class Step(Struct, frozen=True):
    """An instruction of a run.

    Attributes:
        latency: cycles until its result; issue: cycles that issuing it takes.
        load, store: whether it reads and writes memory whose order matters.
        barrier: whether it waits for the other warps of the block.
        copies: an asynchronous copy; waits: it waits for those.
    """

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    latency: float
    issue: float
    load: bool = False
    store: bool = False
    barrier: bool = False
    copies: bool = False
    waits: bool = False


def step_of(instruction: Instruction, cost: Cost, latency: float, issue: float, barrier: float) -> Step:
    """An instruction as a step."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    ordered = "nc" not in modifiers and not is_parameter(instruction)
    copies = opcode == "cp" and "async" in modifiers
    waits = copies and any(each.startswith("wait") for each in modifiers)
    meets = is_barrier(instruction)
    return Step(
        cost.reads,
        cost.writes,
        barrier if meets else latency,
        issue,
        load=opcode in ("ld", "ldmatrix") and ordered,
        store=opcode in ("st", "red", "atom"),
        barrier=meets,
        copies=copies and not waits and "commit_group" not in modifiers,
        waits=waits,
    )


class Alone(Struct, frozen=True):
    """A warp by itself.

    Attributes:
        cycles: that it takes; longest: of them, the longest wait for one result.
    """

    cycles: float
    longest: float


class _Warp:
    """A warp on its way."""

    def __init__(self) -> None:
        self.now = 0.0
        self.longest = 1.0
        self.ready: dict[str, float] = {}
        self.stored = 0.0
        self.copied = 0.0

    def run(self, steps: Sequence[Step]) -> None:
        """Perform a run of instructions."""
        entered = last = self.now
        issued = 0.0
        for step in steps:
            start = entered
            for register in step.reads:
                known = self.ready.get(register)
                if known is not None and known > start:
                    start = known
            if step.load and self.stored > start:
                start = self.stored
            if step.waits and self.copied > start:
                start = self.copied
            issued += step.issue
            if step.barrier:
                entered = max(last, entered + issued, start) + step.latency
                last, issued = entered, 0.0
                continue
            self.longest = max(self.longest, start - last)
            last = max(last, start)
            end = start + step.latency
            for register in step.writes:
                self.ready[register] = end
            if step.store:
                self.stored = start
            if step.copies and end > self.copied:
                self.copied = end
        self.now = max(last, entered + issued)


def latency_of(path: Sequence[int], steps: Sequence[Sequence[Step]], unrolled: Callable[[int], int]) -> Alone:
    """How long a warp takes that executes these runs alone.

    Args:
        path: numbers of runs; steps: of each run.
        unrolled: how many executions of a run in a row the machine code performs together.
    """
    warp = _Warp()
    spent: Counter[int] = Counter()
    times: Counter[int] = Counter()
    position = performed = 0
    while position < len(path) and performed < MOST_STEPS:
        number = path[position]
        together = 1
        most = unrolled(number)
        while together < most and position + together < len(path) and path[position + together] == number:
            together += 1
        before = warp.now
        own = steps[number]
        warp.run(_renamed(own, together) if together > 1 else own)
        spent[number] += warp.now - before  # type: ignore[assignment]
        times[number] += together
        performed += together * len(own)
        position += together
    left = Counter(path[position:])
    mean = warp.now / max(1, position)
    rest = sum(
        count * (spent[number] / times[number] if number in times else mean) for number, count in left.items()
    )
    return Alone(warp.now + rest, warp.longest)


def _renamed(steps: Sequence[Step], times: int) -> list[Step]:
    """The same instructions several times, all loads of which may come before the first use."""
    return [step for _ in range(times) for step in steps]
