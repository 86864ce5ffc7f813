"""Compares what builds with what the manifests say, in both directions."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from tooling.catalog.catalogue import Selection
from tooling.matrix.accelerators import Accelerator
from tooling.matrix.building import BuildResult, MatrixCell
from tooling.matrix.messages import explain_refusal
from tooling.targets.selection import gate
from tooling.text import ENGLISH


class BuildStatus(Enum):
    """The status of a mode on an accelerator."""

    BUILDS = "builds"
    GATED = "gated"  # the compiler refuses it, as the manifest says
    BUILDS_ONLY = "builds only"  # it builds and cannot run there, as the manifest says
    NOT_BUILT = "does not build"  # ... and the manifest does not say so
    NOT_GATED = "builds, though gated"
    UNCHECKED = "not checked"

    @property
    def agrees(self) -> bool:
        return self in (BuildStatus.BUILDS, BuildStatus.GATED, BuildStatus.BUILDS_ONLY)


class MatrixEntry(Struct, frozen=True):
    """One mode of one program on one accelerator."""

    selection: Selection
    accelerator: Accelerator
    status: BuildStatus
    reason: str = ""  # the gate's, or why it could not be checked
    details: str = ""  # the compiler's message, where it disagrees with the manifest

    @property
    def id(self) -> str:
        """A name that stays the same from run to run."""
        return f"{self.selection.command} {self.accelerator.name}"


def judge(selection: Selection, cell: MatrixCell) -> MatrixEntry:
    """The status of one of the program's modes after a build.

    A compute capability says what a mode needs to run, not whether it builds for less: both are right
    there. `unsupported` says that the compiler refuses it; with `builds: true`, that it builds nevertheless.
    """
    accelerator = cell.accelerator
    if cell.result is BuildResult.UNCHECKED:
        return MatrixEntry(selection, accelerator, BuildStatus.UNCHECKED, cell.reason)
    built = cell.result is BuildResult.BUILT
    requirement = selection.mode.requirement(accelerator.vendor)
    target = accelerator.target
    gated = gate(selection, target.kind, target)
    reason = gated.render(ENGLISH) if gated else ""
    if not reason:
        if built:
            return MatrixEntry(selection, accelerator, BuildStatus.BUILDS)
        details = explain_refusal(cell.diagnostics, cell.program.solution)
        return MatrixEntry(selection, accelerator, BuildStatus.NOT_BUILT, details=details)
    if requirement.unsupported and built is not requirement.builds:
        if built:
            return MatrixEntry(selection, accelerator, BuildStatus.NOT_GATED, reason)
        details = explain_refusal(cell.diagnostics, cell.program.solution)
        return MatrixEntry(selection, accelerator, BuildStatus.NOT_BUILT, reason, details)
    return MatrixEntry(
        selection, accelerator, BuildStatus.BUILDS_ONLY if built else BuildStatus.GATED, reason
    )


def complaint_about(entry: MatrixEntry) -> str:
    """What is wrong, in one sentence; empty where build and manifest agree."""
    status = entry.status
    vendor = entry.accelerator.vendor.value
    if status is BuildStatus.NOT_BUILT and entry.reason:
        return f"does not build, but its manifest says `builds: true` for {vendor} ({entry.reason})"
    if status is BuildStatus.NOT_BUILT:
        return f"does not build, and its manifest does not gate it for {vendor}"
    if status is BuildStatus.NOT_GATED:
        return (
            f"builds, but its manifest says that {vendor} GPUs are unsupported ({entry.reason}): "
            "remove the gate, or add `builds: true` to it where the program still cannot run"
        )
    if status is BuildStatus.UNCHECKED:
        return f"could not be checked: {entry.reason}"
    return ""
