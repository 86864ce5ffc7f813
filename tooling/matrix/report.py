"""The matrix as records for machine-readable reports, and as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tooling.matrix.accelerators import Accelerator
from tooling.matrix.verdict import BuildStatus, MatrixEntry, complaint_about
from tooling.platform.errors import Location
from tooling.reports.records import ReportRecord

_STATUS = {
    BuildStatus.BUILDS: "passed",
    BuildStatus.BUILDS_ONLY: "skipped",
    BuildStatus.GATED: "skipped",
    BuildStatus.NOT_BUILT: "failed",
    BuildStatus.NOT_GATED: "failed",
    BuildStatus.UNCHECKED: "error",
}


class Row(Struct, frozen=True):
    """Modes of one program with the same status on every accelerator."""

    program: str
    modes: tuple[str, ...]
    cells: tuple[MatrixEntry, ...]  # one for each accelerator


def record(entry: MatrixEntry) -> ReportRecord:
    """One mode on one accelerator; a gate that holds is `skipped`, what could not be checked an `error`."""
    selection = entry.selection
    data = {
        "program": selection.program.name,
        "mode": selection.mode.name,
        "accelerator": entry.accelerator.name,
        "vendor": entry.accelerator.vendor.value,
        "standing": entry.status.value,
        "because": entry.reason or None,
        "compiler": entry.details or None,
    }
    return ReportRecord(
        selection.puzzle.id,
        entry.id,
        _STATUS[entry.status],
        0.0,
        complaint_about(entry) or entry.reason,
        entry.details,
        data,
        Location(selection.program.solution),
    )


def rows(entries: Sequence[MatrixEntry], accelerators: Sequence[Accelerator]) -> tuple[Row, ...]:
    """The table's rows, in the order of the entries."""
    order = [each.name for each in accelerators]
    by_mode: dict[tuple[str, str], dict[str, MatrixEntry]] = {}
    for each in entries:
        key = (each.selection.program.name, each.selection.mode.name)
        by_mode.setdefault(key, {})[each.accelerator.name] = each
    merged: dict[tuple[object, ...], tuple[list[str], tuple[MatrixEntry, ...]]] = {}
    for (program, mode), found in by_mode.items():
        cells = tuple(found[name] for name in order)
        same = (program, *((cell.status, cell.reason) for cell in cells))
        merged.setdefault(same, ([], cells))[0].append(mode)
    return tuple(
        Row(cells[0].selection.program.name, tuple(modes), cells) for modes, cells in merged.values()
    )
