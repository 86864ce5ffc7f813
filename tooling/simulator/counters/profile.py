"""Counts by kernel and by Mojo line, for the reports."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from tooling.simulator.backends import backend_of, default_backend
from tooling.simulator.checks.base import allocation_number, source_position
from tooling.simulator.counters.hook import CounterHook, Sample, Tally
from tooling.simulator.counters.issue import WarpWork
from tooling.simulator.counters.occupancy import Occupancy, theoretical_occupancy
from tooling.simulator.counters.traffic import Counts, Route, Traffic
from tooling.simulator.gpu.code_model import Module
from tooling.simulator.gpu.hooks import LaunchContext, Space
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.program.counting import CountingRules


class Line(Struct, frozen=True):
    """A source line; number 0 if the PTX has no line table."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}" if self.number else "?"


ELSEWHERE = Line("", 0)


class Picture(Struct, frozen=True, eq=False):
    """A request to draw.

    Attributes:
        block, warp: block index, and the warp's number inside its block.
        buffer, size, base: number (from 1), bytes and first address of the allocation that the lowest
            address is in; 0 if there is none.
    """

    sample: Sample
    block: Dim3
    warp: int
    buffer: int = 0
    size: int = 0
    base: int = 0


class AccessProfile(Struct):
    """One memory instruction of a line, on one route."""

    route: Route
    form: str
    column: int
    code_line: int
    traffic: Traffic = field(default_factory=Traffic)
    picture: Picture | None = None


class LineProfile(Struct):
    """Everything at one line.

    Attributes:
        forms: its instructions by line of the code: the mnemonic, and how often a warp issued it.
    """

    line: Line
    counts: Counts = field(default_factory=Counts)
    accesses: dict[tuple[int, Route], AccessProfile] = field(default_factory=dict)
    forms: dict[int, tuple[str, int]] = field(default_factory=dict)


class KernelProfile(Struct):
    """All launches of a kernel in one shape.

    Attributes:
        name: as its author wrote it; `symbol`: as the PTX has it.
        shared_bytes: shared memory of a block, static and dynamic.
        faults: launches that were stopped; their counts end there.
        work: of the warps of one launch, the one whose busiest warp has most relative to the mean.
        stages: that copies of a block fill at the same time, at most (`CounterHook.stages`).
        rules: how its accesses were counted.
        module: the code that it was launched from.
        registers: of a thread, as the assembler allocates them; None: unknown, since PTX does not name them.
    """

    name: str
    symbol: str
    grid: Dim3
    block: Dim3
    shared_bytes: int = 0
    launches: int = 0
    faults: int = 0
    counts: Counts = field(default_factory=Counts)
    lines: dict[Line, LineProfile] = field(default_factory=dict)
    work: WarpWork = WarpWork()
    stages: int = 0
    rules: CountingRules = field(default_factory=lambda: default_backend().counting)
    module: Module | None = None
    registers: int | None = None

    @property
    def occupancy(self) -> Occupancy:
        """Its theoretical occupancy; without registers an upper bound."""
        return theoretical_occupancy(self.block.count, self.shared_bytes, self.registers)

    def in_order(self) -> list[LineProfile]:
        """Its lines, by file and number; last, as one with number 0, library code that accesses no memory."""
        issued: Counter[str] = Counter()
        for line, profile in self.lines.items():
            issued[line.file] += profile.counts.instructions
        own = issued.most_common(1)[0][0] if issued else ""
        rest = LineProfile(ELSEWHERE)
        kept = []
        for line, profile in self.lines.items():
            if profile.accesses or profile.counts.barriers or (line.number and line.file == own):
                kept.append(profile)
            else:
                rest.counts.add(profile.counts)
        kept.sort(key=lambda profile: (profile.line.file != own, profile.line.file, profile.line.number))
        return [*kept, rest] if rest.counts.instructions else kept


class Profiles:
    """Collects launches."""

    def __init__(self) -> None:
        self._kernels: dict[tuple[str, str, Dim3, Dim3, int], KernelProfile] = {}

    @property
    def kernels(self) -> list[KernelProfile]:
        """What was launched, in the order of first launches."""
        return list(self._kernels.values())

    def add(self, context: LaunchContext, counter: CounterHook, *, fault: bool) -> None:
        """Add a launch to its kernel's profile."""
        launch, module = context.launch, context.module
        backend = backend_of(module)
        kernel_handle = backend.describe_kernel(module, launch.function, 0)
        shared = kernel_handle.static_shared + launch.shared_bytes
        key = (module.digest, launch.function.name, launch.grid, launch.block, shared)
        kernel = self._kernels.get(key)
        if kernel is None:
            name = readable_kernel(launch.function.name, module.files.values())
            kernel = KernelProfile(
                name,
                launch.function.name,
                launch.grid,
                launch.block,
                shared,
                rules=backend.counting,
                module=module,
            )
            self._kernels[key] = kernel
        kernel.launches += 1
        kernel.faults += fault
        kernel.work = max(kernel.work, counter.work, key=lambda each: each.of_mean)
        kernel.stages = max(kernel.stages, counter.stages)
        for tally in counter.tallies.values():
            _add(kernel, tally, context)


def _add(kernel: KernelProfile, tally: Tally, context: LaunchContext) -> None:
    position = source_position(tally.instruction)
    line = Line(position.file, position.line)
    profile = kernel.lines.setdefault(line, LineProfile(line))
    profile.counts.add(tally.counts)
    _, issued = profile.forms.get(position.code_line, ("", 0))
    profile.forms[position.code_line] = (tally.instruction.form, issued + tally.counts.instructions)
    kernel.counts.add(tally.counts)
    for route, traffic in tally.counts.routes.items():
        access = profile.accesses.get((position.code_line, route))
        if access is None:
            access = AccessProfile(route, tally.instruction.form, position.column, position.code_line)
            profile.accesses[position.code_line, route] = access
        access.traffic.add(traffic)
        sample = tally.samples[route]
        if access.picture is None or sample.cost > access.picture.sample.cost:
            access.picture = _picture(sample, route, context)


def _picture(sample: Sample, route: Route, context: LaunchContext) -> Picture:
    per_block = -(-context.threads_per_block // context.warp_size)
    block = context.launch.grid.position(sample.warp // per_block)
    warp = sample.warp % per_block
    if route.space is not Space.GLOBAL:
        return Picture(sample, block, warp)
    lowest = int(sample.addresses[sample.addresses >= 0].min())
    allocation = context.memory.containing(lowest)
    if allocation is None:
        return Picture(sample, block, warp)
    number = allocation_number(context.memory, allocation)
    return Picture(sample, block, warp, number, allocation.size, allocation.base)
