"""Maps the compiler's messages about libraries to the program's own lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from tooling.toolchain.diagnostics import Diagnostic, render_errors

_MOST = 6
_GENERAL = ("function instantiation failed", "call expansion failed", "failed to run the pass manager")


def explain_refusal(diagnostics: Sequence[Diagnostic], source: Path) -> str:
    """The messages of a refused build, one for each line of `source` that leads to one.

    A constraint of a library is reported as an error at the function's head, notes along the calls, and
    the reason as the last note: shown is the innermost position in `source`, with that reason.
    """
    found = list(dict.fromkeys(each.render() for each in _pinned(diagnostics, source)))
    if not found:
        return render_errors(diagnostics)
    shown = found[:_MOST]
    if len(found) > _MOST:
        shown.append(f"... and {len(found) - _MOST} more")
    return "\n".join(shown)


def _pinned(diagnostics: Sequence[Diagnostic], source: Path) -> list[Diagnostic]:
    pinned = []
    for head, notes in _groups(diagnostics):
        own = [
            each
            for each in (head, *notes)
            if each.location and each.location.path.name == source.name and (each.location.line or 0) > 1
        ]
        said = [each.message for each in (head, *notes) if not each.message.startswith(_GENERAL)]
        if own and said:
            pinned.append(replace(own[-1], kind="error", message=_without_position(said[-1])))
    return pinned


def _groups(diagnostics: Sequence[Diagnostic]) -> list[tuple[Diagnostic, list[Diagnostic]]]:
    """Each error with the notes that follow it."""
    groups: list[tuple[Diagnostic, list[Diagnostic]]] = []
    for each in diagnostics:
        if each.kind == "error":
            groups.append((each, []))
        elif each.kind == "note" and groups:
            groups[-1][1].append(each)
    return groups


def _without_position(message: str) -> str:
    """A note without the toolchain's source position, which the reader cannot open."""
    head, mark, rest = message.partition(": ")
    return rest if mark and ".mojo:" in head else message
