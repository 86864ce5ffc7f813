"""Holds what builds against what the manifests say, in both directions."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from tooling.catalog.catalogue import Selection
from tooling.matrix.accelerators import Accelerator
from tooling.matrix.building import Cell, Result
from tooling.matrix.messages import explain_refusal
from tooling.targets.selection import gate
from tooling.text import ENGLISH


class Standing(Enum):
    """What the matrix shows for a mode on an accelerator."""

    BUILDS = "builds"
    GATED = "gated"  # the compiler refuses it, and so says the manifest
    BUILDS_ONLY = "builds only"  # it builds and cannot run there, and so says the manifest
    NOT_BUILT = "does not build"  # ... and the manifest says nothing of it
    NOT_GATED = "builds, though gated"
    UNCHECKED = "not checked"

    @property
    def agrees(self) -> bool:
        return self in (Standing.BUILDS, Standing.GATED, Standing.BUILDS_ONLY)


class Standpoint(Struct, frozen=True):
    """One mode of one program on one accelerator."""

    selection: Selection
    accelerator: Accelerator
    standing: Standing
    reason: str = ""  # the gate's, or why it could not be checked
    details: str = ""  # the compiler's message, where it disagrees with the manifest

    @property
    def id(self) -> str:
        """A name that stays the same from run to run."""
        return f"{self.selection.command} {self.accelerator.name}"


def judge(selection: Selection, cell: Cell) -> Standpoint:
    """What a build says about one of the program's modes.

    A compute capability says what a mode needs to run, not whether it builds for less: both are right
    there. `unsupported` says that the compiler refuses it; with `builds: true`, that it builds all the same.
    """
    accelerator = cell.accelerator
    if cell.result is Result.UNCHECKED:
        return Standpoint(selection, accelerator, Standing.UNCHECKED, cell.reason)
    built = cell.result is Result.BUILT
    requirement = selection.mode.requirement(accelerator.vendor)
    target = accelerator.target
    gated = gate(selection, target.kind, target)
    reason = gated.render(ENGLISH) if gated else ""
    if not reason:
        if built:
            return Standpoint(selection, accelerator, Standing.BUILDS)
        details = explain_refusal(cell.diagnostics, cell.program.solution)
        return Standpoint(selection, accelerator, Standing.NOT_BUILT, details=details)
    if requirement.unsupported and built is not requirement.builds:
        if built:
            return Standpoint(selection, accelerator, Standing.NOT_GATED, reason)
        details = explain_refusal(cell.diagnostics, cell.program.solution)
        return Standpoint(selection, accelerator, Standing.NOT_BUILT, reason, details)
    return Standpoint(selection, accelerator, Standing.BUILDS_ONLY if built else Standing.GATED, reason)


def complaint_about(standpoint: Standpoint) -> str:
    """What is wrong, in one sentence; empty where build and manifest agree."""
    standing = standpoint.standing
    vendor = standpoint.accelerator.vendor.value
    if standing is Standing.NOT_BUILT and standpoint.reason:
        return f"does not build, but its manifest says `builds: true` for {vendor} ({standpoint.reason})"
    if standing is Standing.NOT_BUILT:
        return f"does not build, and its manifest does not gate it for {vendor}"
    if standing is Standing.NOT_GATED:
        return (
            f"builds, but its manifest says that {vendor} GPUs are unsupported ({standpoint.reason}): "
            "remove the gate, or add `builds: true` to it where the program cannot run all the same"
        )
    if standing is Standing.UNCHECKED:
        return f"could not be checked: {standpoint.reason}"
    return ""
