"""A launch as what a block demands of each unit of a GPU, and how long a warp takes by itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from tooling.simulator.backends import backend_of
from tooling.simulator.counters.hook import Tally
from tooling.simulator.counters.occupancy import theoretical_occupancy
from tooling.simulator.counters.traffic import Counts, Route
from tooling.simulator.gpu.code_model import Instruction, Integer
from tooling.simulator.gpu.hooks import AccessKind, LaunchContext, Space
from tooling.simulator.nvidia.machine_code.code import MachineCode
from tooling.simulator.timing.costs import (
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INTEGER,
    MULTIPLY,
    SHUFFLE,
    SPECIAL,
    BlockCode,
    Cost,
    block_code,
    cost_of,
    is_parameter,
    unit_of,
)
from tooling.simulator.timing.latency import Alone, Step, latency_of, step_of
from tooling.simulator.timing.observer import WorkObserver
from tooling.simulator.timing.parameters import Parameters, between
from tooling.simulator.timing.reuse import LINE, SECTOR, BlockReuse, footprint, reuse_of

_SMALLEST_REGISTERS = 16
_FLOATS = frozenset({"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"})
_PARAMETER_LATENCY = 8.0  # cycles: the constant cache has the parameters


class Work(Struct, frozen=True):
    """A launch on one GPU.

    Attributes:
        blocks, threads: of the grid, and of a block; warps: of a block.
        resident: blocks that a multiprocessor holds at a time; exact: registers are known.
        cycles: of a multiprocessor for a block, by unit.
        latency: cycles of a block that has the multiprocessor for itself; longest: of them, the longest wait
            for one result.
        barriers: per warp of a block; issued: machine instructions of its warps.
        second_level: nanoseconds of the GPU's second-level cache for a block.
        atomics: nanoseconds of the GPU for all atomic operations; contended: several threads update some
            of their addresses, but not all threads one address, or the numbers are of floating point: cases
            that were not measured.
        read, written: bytes of device memory for the whole grid; alone: see `Footprint`.
        sectors: bytes that the blocks ask the second level for, of the whole grid.
        sampled: blocks that were simulated.
    """

    blocks: int
    threads: int
    resident: int
    exact: bool
    cycles: dict[str, float]
    latency: float
    longest: float
    barriers: float
    issued: float
    second_level: float
    atomics: float
    contended: bool
    read: float
    written: float
    alone: float
    sectors: float
    sampled: int

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return -(-self.threads // 32)


class _Memory(Struct, frozen=True):
    """What a launch demands of the second level and of device memory: see `Work`.

    Attributes:
        read, written: bytes of device memory; alone: see `Footprint`; asked: bytes that blocks ask the second
            level for.
    """

    read: float
    written: float
    alone: float
    asked: float

    @property
    def far(self) -> float:
        """The share of what blocks ask for that comes from device memory."""
        return min(1.0, self.read / self.asked) if self.asked else 1.0


def work_of(
    observer: WorkObserver,
    tallies: Mapping[int, Tally],
    blocks: int,
    parameters: Parameters,
    code: MachineCode | None = None,
) -> Work:
    """What a launch demands.

    Args:
        tallies: of the counting hook; blocks: that they count.
        code: the machine code, if it is known.
    """
    context = observer.context
    assert context is not None
    launch = context.launch
    shared = context.shared_bytes
    registers = None if code is None else max(_SMALLEST_REGISTERS, code.resources.registers)
    occupancy = theoretical_occupancy(context.threads_per_block, shared, registers)
    resident = max(1, occupancy.blocks)
    total = Counts()
    for tally in tallies.values():
        total.add(tally.counts)
    fits = max(16.0, (parameters.cache_bytes - resident * (shared + 1024)) / LINE)
    here = min(resident, -(-launch.blocks // parameters.multiprocessors))
    reuse = {number: reuse_of(each, fits / here) for number, each in observer.blocks.items()}
    own = reuse[observer.near.first]
    codes = _Codes(context, code)
    units = codes.units(tallies, blocks)
    memory = _memory(observer, reuse, resident, parameters, launch.blocks)
    units_of_tensor = _tensor(tallies, blocks)
    cycles = _cycles(units, units_of_tensor, tallies, total, own, parameters=parameters, blocks=blocks)
    warps = -(-context.threads_per_block // 32)
    latency = _latency(observer, codes, own, parameters, far=memory.far, warps=warps)
    atomics, contended = _atomics(observer, tallies, launch.blocks / blocks, parameters)
    lines, sectors = parameters.second_level_line, parameters.second_level_sector
    second_level = (
        own.missed_lines * lines[0]
        + own.missed_sectors * sectors[0]
        + own.stored_lines * lines[1]
        + own.stored_sectors * sectors[1]
    )
    return Work(
        blocks=launch.blocks,
        threads=context.threads_per_block,
        resident=resident,
        exact=occupancy.exact,
        cycles=cycles,
        latency=latency.cycles,
        longest=latency.longest,
        barriers=total.barriers / blocks / warps,
        issued=sum(units.values()),
        second_level=second_level,
        atomics=atomics,
        contended=contended,
        read=memory.read,
        written=memory.written,
        alone=memory.alone,
        sectors=memory.asked,
        sampled=blocks,
    )


class _Codes:
    """Machine code by basic block of PTX."""

    def __init__(self, context: LaunchContext, code: MachineCode | None) -> None:
        program = backend_of(context.module).decode(context.module, context.launch.function)
        self.blocks = [tuple(block.instructions) for block in program.blocks]
        self.block_of: dict[int, int] = {
            id(instruction): number for number, block in enumerate(self.blocks) for instruction in block
        }
        self.costs: dict[int, Cost] = {}
        self.machine: list[BlockCode] | None = None
        if code is not None:
            of = {
                index: number
                for number, block in enumerate(code.blocks)
                for index in range(block.first, block.end)
            }
            self.machine = [block_code(block, code.instructions, of) for block in self.blocks]

    def cost(self, instruction: Instruction) -> Cost:
        """The cost of an instruction as PTX."""
        known = self.costs.get(id(instruction))
        if known is None:
            known = self.costs[id(instruction)] = cost_of(instruction)
        return known

    def units(self, tallies: Mapping[int, Tally], blocks: int) -> dict[str, float]:
        """Machine instructions of a block's warps, by unit."""
        found: dict[str, float] = {}
        if self.machine is None:
            for tally in tallies.values():
                for unit, count in self.cost(tally.instruction).units.items():
                    found[unit] = found.get(unit, 0.0) + count * tally.counts.instructions / blocks
            return found
        executed: dict[int, int] = {}
        for tally in tallies.values():
            number = self.block_of.get(id(tally.instruction))
            if number is not None:
                executed[number] = max(executed.get(number, 0), tally.counts.instructions)
        for number, count in executed.items():
            for unit, each in self.machine[number].units.items():
                found[unit] = found.get(unit, 0.0) + each * count / blocks
        return found

    def unrolled(self, instruction: Instruction) -> int:
        """Executions of its basic block that the machine code performs together."""
        number = self.block_of.get(id(instruction))
        return 1 if self.machine is None or number is None else self.machine[number].unrolled

    def issue(self, instruction: Instruction) -> float:
        """Machine instructions for it, on average over its basic block."""
        number = self.block_of.get(id(instruction))
        if self.machine is None or number is None:
            return self.cost(instruction).issued
        return sum(self.machine[number].units.values()) / max(1, len(self.blocks[number]))


def _tensor(tallies: Mapping[int, Tally], blocks: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for tally in tallies.values():
        if tally.counts.tensor:
            unit = unit_of(tally.instruction)
            shape = tally.instruction.modifiers
            smaller = 0.5 if "m16n8k4" in shape or ("m16n8k8" in shape and unit == FLOAT16) else 1.0
            found[unit] = found.get(unit, 0.0) + smaller * tally.counts.tensor / blocks
    return found


def _cycles(
    units: dict[str, float],
    tensor: dict[str, float],
    tallies: Mapping[int, Tally],
    total: Counts,
    own: BlockReuse,
    *,
    parameters: Parameters,
    blocks: int,
) -> dict[str, float]:
    """Cycles of a multiprocessor for a block, by unit.

    Args:
        total: of all tallies; blocks: that they count.
    """
    interval = parameters.interval

    def of(*names: str) -> float:
        return sum(units.get(name, 0.0) * interval[name] for name in names)

    shared = total.space(Space.SHARED)
    atomic = total.total(Route.SHARED_ATOMIC)
    passes = (shared.wavefronts - atomic.wavefronts) * parameters.shared_pass
    passes += sum(_shared_atomics(tally, parameters) for tally in tallies.values())
    shuffles = units.get(SHUFFLE, 0.0) * interval[SHUFFLE]
    lines = own.lines / own.requests if own.requests else 0.0
    stored = total.total(Route.GLOBAL_STORE, Route.GLOBAL_ATOMIC, Route.GLOBAL_REDUCTION)
    first_level = own.requests * between(parameters.nearest, lines) + max(
        own.stored_lines, stored.requests / blocks
    )
    return {
        "issue": max(
            sum(units.values()) / 4,
            of(FLOAT32, MULTIPLY),
            of(INTEGER),
            of(FLOAT64),
            of(SPECIAL),
        ),
        "shared": passes / blocks + shuffles,
        "first_level": first_level,
        "tensor": sum(count * interval[unit] for unit, count in tensor.items()),
    }


def _shared_atomics(tally: Tally, parameters: Parameters) -> float:
    """Cycles of the atomic operations of an instruction on shared memory.

    The lanes of a warp that add one are counted together, whatever their addresses.
    """
    traffic = tally.counts.total(Route.SHARED_ATOMIC)
    if not traffic.requests:
        return 0.0
    instruction = tally.instruction
    counts = "add" in instruction.modifiers and instruction.operands[-1] == Integer(1)
    addresses = 32.0 if counts else 32 * traffic.requests / traffic.wavefronts
    return traffic.requests * between(parameters.shared_atomic, addresses)


def _memory(
    observer: WorkObserver,
    reuse: dict[int, BlockReuse],
    resident: int,
    parameters: Parameters,
    blocks: int,
) -> _Memory:
    context = observer.context
    assert context is not None
    grid = context.launch.grid
    own = reuse[observer.near.first]
    wave = min(blocks, parameters.multiprocessors * resident)
    read, written = (
        footprint(
            {number: each.read if loads else each.written for number, each in reuse.items()},
            observer.near,
            grid,
            wave=wave,
            scale=own.scale,
            most_bytes=_allocated(observer, loads=loads),
        )
        for loads in (True, False)
    )
    asked = own.missed_sectors * SECTOR * blocks
    held = parameters.second_level_bytes / 2
    if min(read.grid, read.allocated) + min(written.grid, written.allocated) <= held:
        loaded = min(read.grid, read.allocated)
    elif 2 * read.wave <= held:
        loaded = read.grid  # more than is allocated: blocks far apart read the same sectors, which are gone
    elif read.wave <= held:
        loaded = (read.grid * max(read.grid, read.wave * blocks / wave)) ** 0.5
    else:
        loaded = max(read.grid, asked)
    return _Memory(
        read=min(loaded, max(asked, read.wave)),
        written=min(written.grid, written.allocated),
        alone=read.alone,
        asked=asked,
    )


def _allocated(observer: WorkObserver, *, loads: bool) -> float:
    """Bytes of the allocations that the observed blocks access."""
    context = observer.context
    assert context is not None
    found: dict[int, int] = {}
    for block in observer.blocks.values():
        seen: set[int] = set()
        for instruction, kind, addresses in zip(
            block.instructions, block.kinds, block.addresses, strict=True
        ):
            if (kind is AccessKind.LOAD) is loads and instruction not in seen:
                seen.add(instruction)
                allocation = context.memory.containing(int(addresses[0]))
                if allocation is not None:
                    found[allocation.base] = allocation.size
    return float(sum(found.values()))


def _latency(
    observer: WorkObserver,
    codes: _Codes,
    own: BlockReuse,
    parameters: Parameters,
    *,
    far: float,
    warps: int,
) -> Alone:
    """A block by itself: the longest of some of its warps.

    Args:
        far: see `_Memory`; warps: of the block.
    """
    missed = parameters.level[2] * far + parameters.level[1] * (1 - far)
    barrier = between(parameters.barrier, warps)

    def latency(instruction: Instruction, cost: Cost) -> float:
        opcode, modifiers = instruction.opcode, instruction.modifiers
        if opcode in ("ld", "cp", "ldu", "prefetch"):
            if "shared" in modifiers and opcode == "ld":
                return parameters.latency["ld.shared"]
            if is_parameter(instruction):
                return _PARAMETER_LATENCY
            if "local" in modifiers:
                return parameters.level[0]
            hit = own.hits.get(instruction.code_line, 0.0)
            return hit * parameters.level[0] + (1 - hit) * missed
        if opcode == "atom":
            return parameters.latency["ld.shared"] if "shared" in modifiers else parameters.level[1]
        if opcode == "ldmatrix":
            return parameters.latency["ld.shared"]
        if not cost.result:
            return 1.0
        base = parameters.latency[cost.result]
        return base + 4 * max(0.0, cost.issued - 1)

    def steps(instruction: Instruction) -> Step:
        cost = codes.cost(instruction)
        return step_of(instruction, cost, latency(instruction, cost), codes.issue(instruction), barrier)

    table = [tuple(map(steps, run)) for run in observer.runs]
    lengths = [
        latency_of(path.runs, table, lambda number: codes.unrolled(observer.runs[number][0]))
        for path in observer.paths
    ]
    return max(lengths, key=lambda each: each.cycles, default=Alone(0.0, 1.0))


def _atomics(
    observer: WorkObserver, tallies: Mapping[int, Tally], scale: float, parameters: Parameters
) -> tuple[float, bool]:
    """See `Work.atomics` and `Work.contended`."""
    lanes = sum(
        tally.counts.total(Route.GLOBAL_ATOMIC, Route.GLOBAL_REDUCTION).lanes for tally in tallies.values()
    )
    found = [
        addresses
        for block in observer.blocks.values()
        for kind, addresses in zip(block.kinds, block.addresses, strict=True)
        if kind == AccessKind.ATOMIC
    ]
    if not found:
        return 0.0, False
    floats = any(
        tally.counts.total(Route.GLOBAL_ATOMIC, Route.GLOBAL_REDUCTION).lanes
        and not _FLOATS.isdisjoint(tally.instruction.modifiers)
        for tally in tallies.values()
    )
    _, counts = np.unique(np.concatenate(found), return_counts=True)
    if counts.max() <= 1:
        return float(lanes * scale * parameters.atomic[max(parameters.atomic)]), False
    addresses = float(counts.sum() / counts.max())
    return float(lanes * scale * between(parameters.atomic, addresses)), floats or addresses > 1
