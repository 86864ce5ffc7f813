"""What a puzzle is: the frozen types that everything else is derived from."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.text import LocalText


class TensorApi(Enum):
    """How the kernels of a program address its buffers; `tooling list` shows it."""

    RAW = "raw"  # pointers
    LAYOUT_TENSOR = "layout_tensor"
    TILE_TENSOR = "tile_tensor"


class ProgramLanguage(Enum):
    """What a program's main file is written in."""

    MOJO = "mojo"
    PYTHON = "python"  # a MAX graph with custom operations in Mojo; needs an extra


class Extra(Enum):
    """The optional dependencies of pyproject.toml that a program in Python needs."""

    MAX = "max"
    TORCH = "torch"  # MAX too


class ModeKind(Enum):
    """What is asked of the learner in a mode."""

    PUZZLE = "puzzle"  # the skeleton must fail, the solution must pass
    GIVEN = "given"  # the code is complete: the skeleton passes too
    BENCHMARK = "benchmark"  # prints figures; judged by nothing but its exit status
    DEMO = "demo"  # shows something; not judged


class Vendor(Enum):
    """Makers of GPUs that Mojo compiles for."""

    NVIDIA = "nvidia"
    AMD = "amd"
    APPLE = "apple"


class Requirement(Struct, frozen=True):
    """What a mode needs of one vendor's GPUs.

    Exactly one of the three holds: no limit, a lowest compute capability, or not supported at all.
    """

    vendor: Vendor
    compute: tuple[int, int] | None = None  # lowest NVIDIA compute capability, e.g. (9, 0)
    unsupported: bool = False
    builds: bool = False  # of an unsupported one: the compiler accepts it, and yet it cannot run there
    because: LocalText | None = None  # stated wherever there is a limit


LANES = 32
"""Threads of a warp, of every GPU but AMD's CDNA ones, whose warps have 64."""


class Output(Struct, frozen=True):
    """A buffer that the program hands over to the judge."""

    name: str
    dtype: str  # NumPy name: float32, int32, ...
    shape: tuple[int, ...]  # where a warp has LANES lanes
    rtol: float = 0.0
    atol: float = 0.0
    simulated: tuple[int, ...] | None = None  # its shape on the simulated GPU, where that is another one
    lane_axes: tuple[int, ...] = ()  # axes of the shape that are as long as a warp has lanes

    def sized(self, *, simulated: bool, lanes: int) -> Output:
        """The output as it is on one GPU."""
        if simulated and self.simulated:
            return replace(self, shape=self.simulated)
        return replace(
            self,
            shape=tuple(
                lanes if axis in self.lane_axes else extent for axis, extent in enumerate(self.shape)
            ),
        )


class CounterMetric(Enum):
    """What a criterion of a mode counts; `tooling.judging.counters` says how."""

    SECTORS_PER_REQUEST = "sectors_per_request"  # global memory, loads and stores
    BYTES_USED = "bytes_used"  # share of the moved global bytes that some lane asked for, 0 to 1
    BANK_CONFLICTS = "bank_conflicts"  # wavefronts of shared memory beyond the unavoidable ones
    SHARED_BYTES = "shared_bytes"  # shared memory of a block, static and dynamic
    SHARED_BLOCKS = "blocks_by_shared_memory"  # blocks of a multiprocessor that its shared memory holds
    OCCUPANCY = "occupancy"  # theoretical, 0 to 1, from block size and shared memory


class Bound(Enum):
    """How a counter is held to a criterion's value."""

    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    EQUALS = "equals"


class Criterion(Struct, frozen=True):
    """What a counter of one kernel must come to for a mode to be solved."""

    kernel: str  # as its author wrote it
    metric: CounterMetric
    bound: Bound
    value: float
    because: LocalText

    def met_by(self, counted: float) -> bool:
        """Whether this count is good enough."""
        if self.bound is Bound.EQUALS:
            return counted == self.value
        return counted >= self.value if self.bound is Bound.AT_LEAST else counted <= self.value


class SourceFile(Struct, frozen=True):
    """A problem file and the solution file that it is generated from."""

    name: str  # below the puzzle's folder: p15.mojo, op/conv1d.mojo
    problem: Path
    solution: Path


class Program(Struct, frozen=True):
    """One `pXX….mojo` or `pXX….py`: a problem file and a solution file of the same name."""

    name: str  # what `tooling run` takes, and (unless the manifest names a file) the file's stem
    api: TensorApi
    problem: Path
    solution: Path
    language: ProgramLanguage = ProgramLanguage.MOJO
    extra: Extra = Extra.MAX  # of a program in Python
    file: str = ""  # the main file below the puzzle's folder; empty: NAME.mojo or NAME.py
    parts: tuple[SourceFile, ...] = ()  # further files, such as the package of operations of a MAX graph

    @property
    def sources(self) -> tuple[SourceFile, ...]:
        """Every file of the program, the main one first."""
        return (SourceFile(self.file or self.problem.name, self.problem, self.solution), *self.parts)

    def folder_of(self, source: Path) -> Path:
        """The folder that all files of the program lie below, where its main file is `source`."""
        return source.parents[len(Path(self.file or source.name).parts) - 1]

    @property
    def packages(self) -> tuple[str, ...]:
        """The folders among its files that are Mojo packages."""
        inits = [Path(part.name) for part in self.parts if Path(part.name).name == "__init__.mojo"]
        return tuple(path.parent.as_posix() for path in inits)


class Mode(Struct, frozen=True):
    """One thing a program does, chosen by its flags (none for a program with one mode)."""

    name: str
    kind: ModeKind
    flags: tuple[str, ...]
    programs: tuple[str, ...]  # names of the programs that have this mode
    anchors: Mapping[str, tuple[str, ...]]  # by program: regions the learner fills in
    outputs: tuple[Output, ...]
    datasets: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    hints: tuple[LocalText, ...]
    time_limit: float  # seconds
    counters: tuple[Criterion, ...] = ()  # judged where the target counts

    def __hash__(self) -> int:
        return hash((self.name, self.flags, self.programs))  # anchors, a mapping, have none

    @property
    def scaled(self) -> bool:
        """Whether it works on fewer elements on the simulated GPU; the program says so."""
        return any(output.simulated is not None for output in self.outputs)

    def sized(self, *, simulated: bool = False, lanes: int = LANES) -> Mode:
        """The mode as it is on one GPU: its outputs have the shapes that they have there.

        Args:
            simulated: it is the simulated GPU.
            lanes: how many threads a warp of it has.
        """
        outputs = tuple(each.sized(simulated=simulated, lanes=lanes) for each in self.outputs)
        return replace(self, outputs=outputs)

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

    def program(self, name: str) -> Program:
        """The program of this name.

        Raises:
            KeyError: the puzzle has none of this name.
        """
        for program in self.programs:
            if program.name == name:
                return program
        raise KeyError(name)

    def modes_of(self, program: str) -> tuple[Mode, ...]:
        """The modes that a program has, in the manifest's order."""
        return tuple(mode for mode in self.modes if program in mode.programs)
