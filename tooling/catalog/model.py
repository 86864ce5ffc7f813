"""The data model of a puzzle, as frozen types."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.text import LocalText


class PartNumber(int):
    """The number of a part, made from the Roman numeral of a manifest.

    Formatted as `{number:roman}` it is that numeral, otherwise the Arabic number, as in Korean.
    """

    def __new__(cls, numeral: str) -> PartNumber:
        values = [{"I": 1, "V": 5, "X": 10}[letter] for letter in numeral]
        signed = (-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))
        number = super().__new__(cls, sum(signed))
        number._numeral = numeral
        return number

    def __format__(self, form: str) -> str:
        return self._numeral if form == "roman" else super().__format__(form)

    _numeral: str


class TensorApi(Enum):
    """How the kernels of a program address its buffers; `tooling list` shows it."""

    RAW = "raw"  # pointers
    LAYOUT_TENSOR = "layout_tensor"
    TILE_TENSOR = "tile_tensor"


class ProgramLanguage(Enum):
    """The language of a program's main file."""

    MOJO = "mojo"
    PYTHON = "python"  # a MAX graph with custom operations in Mojo; needs an extra


class Extra(Enum):
    """The optional dependencies of pyproject.toml that a program in Python needs."""

    MAX = "max"
    TORCH = "torch"  # with MAX


class ModeKind(Enum):
    """What the learner does in a mode."""

    PUZZLE = "puzzle"  # the skeleton must fail, the solution must pass
    GIVEN = "given"  # the code is complete: the skeleton passes too
    BENCHMARK = "benchmark"  # prints measurements; judged only by its exit status
    DEMO = "demo"  # shows something; not judged


class Vendor(Enum):
    """Vendors of GPUs that Mojo compiles for."""

    NVIDIA = "nvidia"
    AMD = "amd"
    APPLE = "apple"

    @property
    def named(self) -> str:
        """The vendor's name in sentences."""
        return "Apple" if self is Vendor.APPLE else self.name


class Requirement(Struct, frozen=True):
    """What a mode needs of one vendor's GPUs.

    One of four: no limit, a minimum compute capability, a number of lanes, or not supported.
    """

    vendor: Vendor
    compute: tuple[int, int] | None = None  # minimum NVIDIA compute capability, e.g. (9, 0)
    lanes: int = 0  # that a warp must have; 0 if any number will do
    unsupported: bool = False
    builds: bool = False  # if unsupported: it compiles, but cannot run there
    because: LocalText | None = None  # required with a limit


LANES = 32
"""Threads of a warp on all GPUs except AMD's CDNA, whose warps have 64."""


class Output(Struct, frozen=True):
    """A buffer that the program hands in to the judge."""

    name: str
    dtype: str  # NumPy name: float32, int32, ...
    shape: tuple[int, ...]  # where a warp has LANES lanes
    rtol: float = 0.0
    atol: float = 0.0
    simulated: tuple[int, ...] | None = None  # its shape on the simulated GPU, if different
    lane_axes: tuple[int, ...] = ()  # axes of the shape whose extent is the number of lanes of a warp
    host: bool = False  # the program computes it on the CPU, so no kernel has to have stored it

    def sized(self, *, simulated: bool, lanes: int) -> Output:
        """The output with its shape on one GPU."""
        if simulated and self.simulated:
            return replace(self, shape=self.simulated)
        return replace(
            self,
            shape=tuple(
                lanes if axis in self.lane_axes else extent for axis, extent in enumerate(self.shape)
            ),
        )


class CounterMetric(Enum):
    """The counter of a criterion; `tooling.judging.counters` computes it."""

    SECTORS_PER_REQUEST = "sectors_per_request"  # global memory, loads and stores
    BYTES_USED = "bytes_used"  # fraction of the transferred global bytes that a lane requested, 0 to 1
    BANK_CONFLICTS = "bank_conflicts"  # wavefronts of shared memory beyond the unavoidable ones
    GLOBAL_READ = "global_bytes_read"  # that threads load from global memory, each as often as it is loaded
    GLOBAL_WRITTEN = "global_bytes_written"  # that threads store to global memory
    SHARED_READ = "shared_bytes_read"  # that threads load from shared memory, each as often as it is loaded
    TMA_READ = "tma_bytes_read"  # that bulk copies read from global memory; of a multicast, once
    TMA_WRITTEN = "tma_bytes_written"  # that bulk copies write to global memory
    STAGES = "stages_in_flight"  # that tensor copies of a block fill at the same time, at most
    SHARED_BYTES = "shared_bytes"  # shared memory of a block, static and dynamic
    SHARED_BLOCKS = "blocks_by_shared_memory"  # blocks that fit in the shared memory of a multiprocessor
    OCCUPANCY = "occupancy"  # theoretical, 0 to 1, from block size and shared memory
    TENSOR = "tensor_core_instructions"  # matrix products on tensor cores, once per warp
    BLOCKS = "blocks"  # of one launch
    BUSIEST_WARP = "busiest_warp"  # instructions of the warp of a launch with most, relative to the mean
    GLOBAL_ATOMICS = "global_atomics"  # atomic operations on global memory, once per thread
    SHARED_ATOMICS = "shared_atomics"  # atomic operations on shared memory, once per thread

    @property
    def portable(self) -> bool:
        """Whether it is judged on every simulated GPU: it compares the warps of one launch with one another,
        so that it depends neither on an H200's limits nor on how many instructions a compiler needs."""
        return self is CounterMetric.BUSIEST_WARP


class Bound(Enum):
    """How a counter is compared with a criterion's value."""

    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    EQUALS = "equals"


class Criterion(Struct, frozen=True):
    """A bound on a counter of one kernel that a solution of the mode must meet."""

    kernel: str  # its name in the source
    metric: CounterMetric
    bound: Bound
    value: float
    because: LocalText
    simulated_only: bool = False  # where nothing is counted, the values decide

    def met_by(self, counted: float) -> bool:
        """Whether this count is within the bound."""
        if self.bound is Bound.EQUALS:
            return counted == self.value
        return counted >= self.value if self.bound is Bound.AT_LEAST else counted <= self.value


class LaunchShape(Struct, frozen=True):
    """The shape that every launch of a mode must have; judged on the simulated GPU."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    because: LocalText


class LeastThreads(Struct, frozen=True):
    """How many threads of some launch must access global memory; judged on the simulated GPU."""

    least: int
    because: LocalText


class SharedMemoryUse(Struct, frozen=True):
    """Some launch of a mode must read shared memory; judged on the simulated GPU."""

    because: LocalText


class MostCopyTime(Struct, frozen=True):
    """How long the copies between host and GPU may take, relative to those of the longer direction; judged on
    the simulated GPU."""

    most: float
    because: LocalText


class SourceFile(Struct, frozen=True):
    """A problem file and the solution file that it is generated from."""

    name: str  # below the puzzle's folder: p15.mojo, op/conv1d.mojo
    problem: Path
    solution: Path


class Program(Struct, frozen=True):
    """One `pXX….mojo` or `pXX….py`: a problem file and a solution file of the same name."""

    name: str  # the argument of `tooling run`, and (unless the manifest names a file) the file's stem
    api: TensorApi
    problem: Path
    solution: Path
    language: ProgramLanguage = ProgramLanguage.MOJO
    extra: Extra = Extra.MAX  # only for a program in Python
    file: str = ""  # the main file below the puzzle's folder; empty: NAME.mojo or NAME.py
    other_files: tuple[
        SourceFile, ...
    ] = ()  # further files, such as the package of operations of a MAX graph

    @property
    def sources(self) -> tuple[SourceFile, ...]:
        """Every file of the program, the main one first."""
        return (SourceFile(self.file or self.problem.name, self.problem, self.solution), *self.other_files)

    def folder_of(self, source: Path) -> Path:
        """The folder of all files of the program whose main file is `source`."""
        return source.parents[len(Path(self.file or source.name).parts) - 1]

    @property
    def packages(self) -> tuple[str, ...]:
        """The folders among its files that are Mojo packages."""
        inits = [Path(file.name) for file in self.other_files if Path(file.name).name == "__init__.mojo"]
        return tuple(path.parent.as_posix() for path in inits)


class OtherSizes(Struct, frozen=True):
    """The sizes of a further run of a mode's programs.

    Attributes:
        constants: the new value of each of a program's constants, as it is written there.
        shapes: of the outputs, by name.
    """

    constants: Mapping[str, str]
    shapes: Mapping[str, tuple[int, ...]]

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.constants.items())


class Mode(Struct, frozen=True):
    """One mode of a program, selected by flags (none for a program with one mode)."""

    name: str
    kind: ModeKind
    flags: tuple[str, ...]
    programs: tuple[str, ...]  # names of the programs that have this mode
    anchors: Mapping[str, tuple[str, ...]]  # by program: regions that the learner fills in
    outputs: tuple[Output, ...]
    datasets: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    hints: tuple[LocalText, ...]
    time_limit: float  # seconds
    counters: tuple[Criterion, ...] = ()  # judged if the target has counters
    launch: LaunchShape | None = None
    threads: LeastThreads | None = None
    shared_memory: SharedMemoryUse | None = None
    overlap: MostCopyTime | None = None
    other_sizes: OtherSizes | None = None
    resident_blocks: int | None = None  # for how many the simulated GPU has room in another order; None: all
    gpus: int = 1  # that its programs use

    def __hash__(self) -> int:
        return hash((self.name, self.flags, self.programs))  # `anchors` is a mapping, which has no hash

    @property
    def needs_counters(self) -> bool:
        """Whether right values alone do not decide, also on a GPU that has no counters."""
        return any(not criterion.simulated_only for criterion in self.counters)

    @property
    def scaled(self) -> bool:
        """Whether it uses fewer elements on the simulated GPU."""
        return any(output.simulated is not None for output in self.outputs)

    def sized(self, *, simulated: bool = False, lanes: int = LANES) -> Mode:
        """The mode with the shapes of its outputs on one GPU.

        Args:
            simulated: whether it is the simulated GPU.
            lanes: the number of threads of a warp.
        """
        outputs = tuple(each.sized(simulated=simulated, lanes=lanes) for each in self.outputs)
        return replace(self, outputs=outputs)

    @property
    def other_orders(self) -> tuple[str, str]:
        """The schedules of the simulated GPU with which an answer that passes is run again."""
        room = "" if self.resident_blocks is None else f":{self.resident_blocks}"
        return f"adversarial{room}", "random:1"

    def resized(self) -> Mode:
        """The mode with the shapes of its other sizes, which it must have.

        The limits of its counters are those of its own sizes: a smaller array needs fewer bytes, and the
        atomic operations of its sum do not get fewer.
        """
        assert self.other_sizes is not None
        shapes = self.other_sizes.shapes
        outputs = tuple(replace(each, shape=shapes[each.name]) for each in self.outputs)
        return replace(self, outputs=outputs, counters=(), other_sizes=None)

    def requirement(self, vendor: Vendor) -> Requirement:
        """What the mode needs of this vendor's GPUs; no entry means no limit."""
        for requirement in self.requirements:
            if requirement.vendor is vendor:
                return requirement
        return Requirement(vendor)


class Puzzle(Struct, frozen=True):
    """One puzzle.yaml."""

    id: str
    number: int
    title: LocalText
    part: str
    chapters: tuple[str, ...]
    programs: tuple[Program, ...]
    modes: tuple[Mode, ...]
    manifest: Path
    learnt: LocalText | None = None  # one sentence for a reader who has solved it
    summary: LocalText | None = None  # one sentence: what it computes

    @property
    def regions_to_complete(self) -> frozenset[str]:
        """The anchors of the code that the learner fills in; code that is given is not among them."""
        modes = (mode for mode in self.modes if mode.kind is not ModeKind.GIVEN)
        return frozenset(anchor for mode in modes for anchors in mode.anchors.values() for anchor in anchors)

    def program(self, name: str) -> Program:
        """The program of this name.

        Raises:
            KeyError: the puzzle has no such program.
        """
        for program in self.programs:
            if program.name == name:
                return program
        raise KeyError(name)

    def modes_of(self, program: str) -> tuple[Mode, ...]:
        """The modes of a program, in the manifest's order."""
        return tuple(mode for mode in self.modes if program in mode.programs)
