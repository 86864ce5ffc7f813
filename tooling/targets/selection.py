"""Chooses the target of a run."""

from __future__ import annotations

import os

from tooling.catalog.catalogue import Selection
from tooling.catalog.model import Text
from tooling.errors import ToolingError
from tooling.exit_codes import ExitCode
from tooling.targets.model import Absence, Choice, Target, TargetKind
from tooling.targets.probing import SIMULATED, probe

AUTO = "auto"
NAMES = (AUTO, *(kind.value for kind in TargetKind))
_REAL = (TargetKind.NVIDIA, TargetKind.AMD, TargetKind.APPLE)
_TOO_OLD = Text(
    "{because}: it needs {wanted}, and {device} has {have}",
    "{because}: {wanted} 이상이 필요한데 {device}은(는) {have}입니다",
)
_CANNOT = Text("{device} cannot run it: {reason}", "{device}에서는 실행할 수 없습니다: {reason}")
_NOT_ON = Text(
    "`{command}` does not run on the target `{target}`",
    "`{command}`은(는) `{target}` 타깃에서 실행되지 않습니다",
)
_RUNS_ON = Text("it runs on: {targets}", "실행할 수 있는 타깃: {targets}")
_FIRST_FOUND = Text("the first GPU found", "처음 찾은 GPU")
_NONE_FOUND = Text("no GPU found on this machine", "이 컴퓨터에서 GPU를 찾지 못함")


class TargetAbsent(ToolingError):
    """The target that was asked for is not on this machine."""

    exit_code = ExitCode.NOT_POSSIBLE


class ModeGated(ToolingError):
    """The target cannot run this mode of the puzzle."""

    exit_code = ExitCode.NOT_POSSIBLE


class UnknownTarget(ToolingError):
    """PUZZLE_TARGET names nothing."""


def gate(
    selection: Selection, kind: TargetKind, target: Target | None = None, language: str = "en"
) -> str | None:
    """Why a target cannot run a mode, or None where it can.

    `target` is the GPU found there; without one, only what holds for every GPU of its vendor is said.
    """
    requirement = selection.mode.requirement(kind.vendor)
    because = requirement.because.in_language(language) if requirement.because else ""
    if requirement.unsupported:
        return because
    if requirement.compute and target and target.compute and target.compute < requirement.compute:
        return _TOO_OLD.in_language(language).format(
            because=because,
            wanted=".".join(map(str, requirement.compute)),
            device=target.device,
            have=".".join(map(str, target.compute)),
        )
    return None


def choose(selection: Selection | None, wanted: str | None = None, language: str = "en") -> Choice:
    """The target for a mode (None: for any program).

    Args:
        wanted: a name of NAMES; None means PUZZLE_TARGET, and `auto` where that is not set.
        language: of the reasons, `en` or `ko`.

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
        return _named(selection, TargetKind(name), source, language)
    return _automatic(selection, language)


def _named(selection: Selection | None, kind: TargetKind, source: str, language: str) -> Choice:
    if selection:
        reason = gate(selection, kind, language=language)
        if reason:
            raise _gated(selection, kind, reason, language)
    found = probe(kind)
    if isinstance(found, Absence):
        raise TargetAbsent(
            f"the target `{kind.value}` is not on this machine", why=found.reason, hint=found.hint
        )
    if selection:
        reason = gate(selection, kind, found, language)
        if reason:
            raise _gated(selection, kind, reason, language)
    return Choice(found, source)


def _automatic(selection: Selection | None, language: str) -> Choice:
    passed_over: list[str] = []
    for kind in _REAL:
        found = probe(kind)
        if isinstance(found, Absence):
            continue
        reason = gate(selection, kind, found, language) if selection else None
        if reason is None:
            return Choice(found, _FIRST_FOUND.in_language(language))
        passed_over.append(_CANNOT.in_language(language).format(device=found.device, reason=reason))
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
        reason = gate(selection, TargetKind.SIM, SIMULATED, language)
        if reason:
            raise _gated(selection, TargetKind.SIM, reason, language)
    return Choice(simulated, passed_over[0] if passed_over else _NONE_FOUND.in_language(language))


def _gated(selection: Selection, kind: TargetKind, reason: str, language: str) -> ModeGated:
    others = [other.value for other in TargetKind if other is not kind and not gate(selection, other)]
    return ModeGated(
        _NOT_ON.in_language(language).format(command=selection.command, target=kind.value),
        why=reason,
        hint=_RUNS_ON.in_language(language).format(targets=", ".join(others)) if others else None,
    )
