"""The matrix as records for machine-readable reports, and as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tooling.errors import Location
from tooling.matrix.accelerators import Accelerator
from tooling.matrix.verdict import Standing, Standpoint, complaint_about
from tooling.reports.records import ReportRecord

_STATUS = {
    Standing.BUILDS: "passed",
    Standing.BUILDS_ONLY: "skipped",
    Standing.GATED: "skipped",
    Standing.NOT_BUILT: "failed",
    Standing.NOT_GATED: "failed",
    Standing.UNCHECKED: "error",
}


class Row(Struct, frozen=True):
    """Modes of one program that stand alike on every accelerator."""

    program: str
    modes: tuple[str, ...]
    cells: tuple[Standpoint, ...]  # one for each accelerator


def record(standpoint: Standpoint) -> ReportRecord:
    """One mode on one accelerator; a gate that holds is `skipped`, what could not be checked an `error`."""
    selection = standpoint.selection
    data = {
        "program": selection.program.name,
        "mode": selection.mode.name,
        "accelerator": standpoint.accelerator.name,
        "vendor": standpoint.accelerator.vendor.value,
        "standing": standpoint.standing.value,
        "because": standpoint.reason or None,
        "compiler": standpoint.details or None,
    }
    return ReportRecord(
        selection.puzzle.id,
        standpoint.id,
        _STATUS[standpoint.standing],
        0.0,
        complaint_about(standpoint) or standpoint.reason,
        standpoint.details,
        data,
        Location(selection.program.solution),
    )


def rows(standpoints: Sequence[Standpoint], accelerators: Sequence[Accelerator]) -> tuple[Row, ...]:
    """The table's rows, in the order of the standpoints."""
    order = [each.name for each in accelerators]
    by_mode: dict[tuple[str, str], dict[str, Standpoint]] = {}
    for each in standpoints:
        key = (each.selection.program.name, each.selection.mode.name)
        by_mode.setdefault(key, {})[each.accelerator.name] = each
    merged: dict[tuple[object, ...], tuple[list[str], tuple[Standpoint, ...]]] = {}
    for (program, mode), found in by_mode.items():
        cells = tuple(found[name] for name in order)
        alike = (program, *((cell.standing, cell.reason) for cell in cells))
        merged.setdefault(alike, ([], cells))[0].append(mode)
    return tuple(
        Row(cells[0].selection.program.name, tuple(modes), cells) for modes, cells in merged.values()
    )
