"""Chooses the target of a run."""

from __future__ import annotations

import os

from tooling.catalog.catalogue import Selection
from tooling.catalog.model import ProgramLanguage, Vendor
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.suggestions import one_of
from tooling.targets.model import Absence, Choice, Target, TargetKind
from tooling.targets.probing import SIMULATED, probe
from tooling.text import Sentence, Text, joined

AUTO = "auto"
NAMES = (AUTO, *(kind.value for kind in TargetKind))
_REAL = (TargetKind.NVIDIA, TargetKind.AMD, TargetKind.APPLE)
_TOO_OLD = Text("{because}: it needs {wanted}, and {device} has {have}")
_OTHER_LANES = Text("{because}: it needs warps of {wanted} lanes, and those of {device} have {have}")
_FEWER_GPUS = Text(
    "it needs {wanted} GPUs, and there is {count}", "it needs {wanted} GPUs, and there are {count}"
)
_CANNOT = Text("{device} cannot run it: {reason}")
_NOT_ON = Text("`{command}` does not run on the target `{target}`")
_NOT_SUPPORTED = Text("not supported")
_NO_GRAPHS = Text("graphs of MAX are not supported on the simulated AMD GPU yet")
_RUNS_ON = Text("it runs on: {targets}")
_FIRST_FOUND = Text("the first GPU found")
_NONE_FOUND = Text("no GPU found on this machine")


class TargetAbsent(ToolingError):
    """The requested target is not on this machine."""

    exit_code = ExitCode.NOT_POSSIBLE


class ModeGated(ToolingError):
    """The target cannot run this mode of the puzzle."""

    exit_code = ExitCode.NOT_POSSIBLE


class UnknownTarget(ToolingError):
    """`--target` or PUZZLE_TARGET is not the name of a target."""


def gate(selection: Selection, kind: TargetKind, target: Target | None = None) -> Sentence | None:
    """Why a target cannot run a mode, or None where it can.

    `target` is the GPU that was found; without one, only requirements on all GPUs of the vendor are checked.
    """
    requirement = selection.mode.requirement(kind.vendor)
    because: Sentence = requirement.because or _NOT_SUPPORTED
    if requirement.unsupported:
        return because
    if kind.simulated and kind.vendor is Vendor.AMD and selection.program.language is ProgramLanguage.PYTHON:
        return _NO_GRAPHS
    if requirement.compute and target and target.compute and target.compute < requirement.compute:
        return _TOO_OLD.of(
            because=because,
            wanted=".".join(map(str, requirement.compute)),
            device=target.named,
            have=".".join(map(str, target.compute)),
        )
    if target and target.gpus < selection.mode.gpus:
        return _FEWER_GPUS.of(wanted=selection.mode.gpus, count=target.gpus)
    if requirement.lanes and target and target.lanes != requirement.lanes:
        return _OTHER_LANES.of(
            because=because, wanted=requirement.lanes, device=target.named, have=target.lanes
        )
    return None


def choose(selection: Selection | None, wanted: str | None = None) -> Choice:
    """The target for a mode (None: for any program).

    Args:
        wanted: a name of NAMES; None means PUZZLE_TARGET, and `auto` where that is not set.

    Raises:
        UnknownTarget: no target has this name.
        ModeGated: the chosen target cannot run the mode, with the reason.
        TargetAbsent: the chosen target is not on this machine, with the reason.
    """
    from_environment = os.environ.get("PUZZLE_TARGET")
    name = wanted or from_environment or AUTO
    source = f"--target {name}" if wanted else f"PUZZLE_TARGET={name}"
    if name not in NAMES:
        raise UnknownTarget(
            Text("{source}: unknown target").of(source=source),
            hint=one_of(NAMES),
        )
    if name != AUTO:
        return _named(selection, TargetKind(name), source)
    return _automatic(selection)


def _named(selection: Selection | None, kind: TargetKind, source: str) -> Choice:
    if selection:
        reason = gate(selection, kind)
        if reason:
            raise mode_gated(selection, kind, reason)
    found = probe(kind)
    if isinstance(found, Absence):
        raise TargetAbsent(
            Text("the target `{target}` is not on this machine").of(target=kind.value),
            why=found.reason,
            hint=found.hint,
        )
    if selection:
        reason = gate(selection, kind, found)
        if reason:
            raise mode_gated(selection, kind, reason)
    return Choice(found, source)


def _automatic(selection: Selection | None) -> Choice:
    passed_over: list[Sentence] = []
    for kind in _REAL:
        found = probe(kind)
        if isinstance(found, Absence):
            continue
        reason = gate(selection, kind, found) if selection else None
        if reason is None:
            return Choice(found, _FIRST_FOUND)
        passed_over.append(_CANNOT.of(device=found.named, reason=reason))
    simulated = probe(TargetKind.SIM)
    if isinstance(simulated, Absence):
        reasons = list(passed_over)
        for kind in _REAL:
            absence = probe(kind)
            if isinstance(absence, Absence):
                reasons.append(joined((kind.value, absence.reason), ": "))
        raise TargetAbsent(
            Text("nothing on this machine can run the program"),
            why=joined((*reasons, joined(("sim", simulated.reason), ": "))),
            hint=simulated.hint,
        )
    if selection:
        reason = gate(selection, TargetKind.SIM, SIMULATED)
        if reason:
            raise mode_gated(selection, TargetKind.SIM, reason)
    return Choice(simulated, passed_over[0] if passed_over else _NONE_FOUND)


def mode_gated(selection: Selection, kind: TargetKind, reason: Sentence) -> ModeGated:
    """The error for a mode that a target cannot run, with the targets that can."""
    others = [other.value for other in TargetKind if other is not kind and not gate(selection, other)]
    return ModeGated(
        _NOT_ON.of(command=selection.command, target=kind.value),
        why=reason,
        hint=_RUNS_ON.of(targets=", ".join(others)) if others else None,
    )
