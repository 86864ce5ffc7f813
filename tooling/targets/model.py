"""The frozen types of this package."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from tooling.catalog.model import LANES, CounterMetric, Mode, Vendor
from tooling.text import Sentence, Text

_SIMULATED = Text("simulated GPU")
_SIMULATED_AMD = Text("simulated AMD GPU ({accelerator})")


class TargetKind(Enum):
    """The values of `--target`, except `auto`."""

    NVIDIA = "nvidia"
    AMD = "amd"
    APPLE = "apple"
    SIM = "sim"
    SIM_AMD = "sim-amd"
    SIM_GFX1100 = "sim-gfx1100"

    @property
    def simulated(self) -> bool:
        """Whether it is a simulated GPU."""
        return self in (TargetKind.SIM, TargetKind.SIM_AMD, TargetKind.SIM_GFX1100)

    @property
    def vendor(self) -> Vendor:
        """The vendor whose requirements apply."""
        if self is TargetKind.SIM:
            return Vendor.NVIDIA
        return Vendor.AMD if self.simulated else Vendor(self.value)


class Target(Struct, frozen=True, omit_defaults=True):
    """One GPU that programs can run on."""

    kind: TargetKind
    device: str  # its name in JSON
    accelerator: str  # its name for `mojo build --target-accelerator`
    compute: tuple[int, int] | None = None  # NVIDIA compute capability
    gpus: int = 1  # how many a program can use

    @property
    def simulated(self) -> bool:
        return self.kind.simulated

    @property
    def named(self) -> str | Text:
        """Its name in sentences of either language."""
        if self.kind is TargetKind.SIM:
            return _SIMULATED
        return _SIMULATED_AMD.of(accelerator=self.accelerator) if self.simulated else self.device

    def judges(self, metric: CounterMetric) -> bool:
        """Whether runs can be judged by this counter; the rules and limits of most are an H200's."""
        return self.kind is TargetKind.SIM or (self.simulated and metric.portable)

    @property
    def lockstep(self) -> bool:
        """Whether the simulated GPU executes the threads of a warp together, as AMD's GPUs do."""
        return self.simulated and self.kind is not TargetKind.SIM

    @property
    def instruction_set(self) -> str:
        """The instruction set of a simulated GPU, as `simulator.backends` names it."""
        return "ptx" if self.kind is TargetKind.SIM else self.accelerator

    @property
    def lanes(self) -> int:
        """Threads of a warp, as in Mojo's WARP_SIZE: 64 on AMD's gfx9 (CDNA), 32 elsewhere."""
        return 64 if self.accelerator.startswith("gfx9") else LANES

    def sized(self, mode: Mode) -> Mode:
        """The mode with the shapes of its outputs on this GPU."""
        return mode.sized(simulated=self.simulated, lanes=self.lanes)


class Absence(Struct, frozen=True):
    """Why a target is not available."""

    kind: TargetKind
    reason: str | Sentence
    hint: str | Sentence


class Choice(Struct, frozen=True):
    """The target of a run, and why it was chosen.

    Attributes:
        host: the machine that has it, as `ssh` names it; empty: this one.
        processor: of that machine, as for `mojo build --target-cpu`; None: like that of this one.
    """

    target: Target
    reason: str | Sentence
    host: str = ""
    processor: str | None = None
