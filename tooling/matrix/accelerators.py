"""The accelerators that every program is cross-built for, and what a build produces for each."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from msgspec import Struct

from tooling.catalog.model import Vendor
from tooling.platform.errors import ToolingError
from tooling.platform.suggestions import did_you_mean
from tooling.targets.accelerators import target_for
from tooling.targets.model import Target


class UnknownAccelerator(ToolingError):
    """The matrix has no accelerator of this name."""


class Accelerator(Struct, frozen=True):
    """One column of the matrix."""

    name: str  # the value of `mojo build --target-accelerator`
    device: str  # examples of such GPUs

    @property
    def target(self) -> Target:
        """This accelerator as a target of gates."""
        return target_for(self.name)

    @property
    def vendor(self) -> Vendor:
        """Its vendor."""
        return self.target.kind.vendor


class BuildScope(Struct, frozen=True):
    """What "builds" means for a vendor on this machine."""

    emit: str  # the value of `mojo build --emit`
    checked: str
    unchecked: str = ""  # what is left to tools of another machine


ACCELERATORS: tuple[Accelerator, ...] = (
    Accelerator("sm_80", "A100"),
    Accelerator("sm_90a", "H100, H200"),
    Accelerator("sm_100a", "B200"),
    Accelerator("gfx942", "MI300"),
    Accelerator("gfx1100", "Radeon RX 7900"),
    Accelerator("apple-m1", "M1"),
    Accelerator("apple-m4", "M4"),
)


def build_scope(vendor: Vendor) -> BuildScope:
    """What a build produces on this machine.

    Mojo itself compiles to AMD machine code and to PTX; for Apple GPUs it compiles to Metal's intermediate
    representation (AIR), and leaves the rest to `xcrun`, which only a Mac has.
    """
    if vendor is Vendor.NVIDIA:
        return BuildScope(
            "exe", "an executable with the kernels as PTX", "the GPU's driver assembles the PTX"
        )
    if vendor is Vendor.AMD:
        return BuildScope("exe", "an executable with the kernels as machine code")
    if shutil.which("xcrun"):
        return BuildScope("exe", "an executable with the kernels as a Metal library")
    return BuildScope(
        "asm",
        "the kernels as Metal's intermediate representation (AIR)",
        "Apple's Metal compiler (xcrun), which is not on this machine, must still accept it",
    )


def choose(names: Sequence[str]) -> tuple[Accelerator, ...]:
    """The accelerators of these names, in the table's order; all of them where none is named.

    Raises:
        UnknownAccelerator: the table has none of this name.
    """
    known = [accelerator.name for accelerator in ACCELERATORS]
    for name in names:
        if name not in known:
            raise UnknownAccelerator(
                f"the matrix has no accelerator `{name}`",
                why=f"there are {', '.join(known)}",
                hint=did_you_mean(name, known),
            )
    return tuple(each for each in ACCELERATORS if not names or each.name in names)
