"""Chooses the target of a run."""

from __future__ import annotations

import os

from tooling.catalog.catalogue import Selection
from tooling.errors import ToolingError
from tooling.exit_codes import ExitCode
from tooling.targets.model import Absence, Choice, Target, TargetKind
from tooling.targets.probing import SIMULATED, probe

AUTO = "auto"
NAMES = (AUTO, *(kind.value for kind in TargetKind))
_REAL = (TargetKind.NVIDIA, TargetKind.AMD, TargetKind.APPLE)


class TargetAbsent(ToolingError):
    """The target that was asked for is not on this machine."""

    exit_code = ExitCode.NOT_POSSIBLE


class ModeGated(ToolingError):
    """The target cannot run this mode of the puzzle."""

    exit_code = ExitCode.NOT_POSSIBLE


class UnknownTarget(ToolingError):
    """PUZZLE_TARGET names nothing."""


def gate(selection: Selection, kind: TargetKind, target: Target | None = None) -> str | None:
    """Why a target cannot run a mode, or None where it can.

    `target` is the GPU found there; without one, only what holds for every GPU of its vendor is said.
    """
    requirement = selection.mode.requirement(kind.vendor)
    because = requirement.because.en if requirement.because else ""
    if requirement.unsupported:
        return because
    if requirement.compute and target and target.compute and target.compute < requirement.compute:
        wanted = ".".join(map(str, requirement.compute))
        have = ".".join(map(str, target.compute))
        return f"{because}: it needs {wanted}, and {target.device} has {have}"
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
        raise UnknownTarget(f"{source}: there is no such target", hint=f"one of {', '.join(NAMES)}")
    if name != AUTO:
        return _named(selection, TargetKind(name), source)
    return _automatic(selection)


def _named(selection: Selection | None, kind: TargetKind, source: str) -> Choice:
    if selection:
        reason = gate(selection, kind)
        if reason:
            raise _gated(selection, kind, reason)
    found = probe(kind)
    if isinstance(found, Absence):
        raise TargetAbsent(
            f"the target `{kind.value}` is not on this machine", why=found.reason, hint=found.hint
        )
    if selection:
        reason = gate(selection, kind, found)
        if reason:
            raise _gated(selection, kind, reason)
    return Choice(found, source)


def _automatic(selection: Selection | None) -> Choice:
    passed_over: list[str] = []
    for kind in _REAL:
        found = probe(kind)
        if isinstance(found, Absence):
            continue
        reason = gate(selection, kind, found) if selection else None
        if reason is None:
            return Choice(found, "the first GPU found")
        passed_over.append(f"{found.device} cannot run it: {reason}")
    simulated = probe(TargetKind.SIM)
    if isinstance(simulated, Absence):
        reasons = [*passed_over]
        for kind in _REAL:
            absence = probe(kind)
            if isinstance(absence, Absence):
                reasons.append(f"{kind.value}: {absence.reason}")
        raise TargetAbsent(
            "nothing on this machine can run the program",
            why="; ".join([*reasons, f"sim: {simulated.reason}"]),
            hint=simulated.hint,
        )
    if selection:
        reason = gate(selection, TargetKind.SIM, SIMULATED)
        if reason:
            raise _gated(selection, TargetKind.SIM, reason)
    return Choice(simulated, passed_over[0] if passed_over else "no GPU found on this machine")


def _gated(selection: Selection, kind: TargetKind, reason: str) -> ModeGated:
    others = [other.value for other in TargetKind if other is not kind and not gate(selection, other)]
    return ModeGated(
        f"`{selection.command}` does not run on the target `{kind.value}`",
        why=reason,
        hint=f"it runs on: {', '.join(others)}" if others else None,
    )
