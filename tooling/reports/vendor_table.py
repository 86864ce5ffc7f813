"""A table of results from several GPUs: a row for each puzzle, a column for each accelerator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooling.reports.records import ReportRecord
from tooling.text.colours import rich_style

if TYPE_CHECKING:
    from rich.table import Table

_ALL = "all"


def vendors_table(records: Sequence[ReportRecord]) -> Table:
    """The table for a terminal."""
    from rich.table import Table  # noqa: PLC0415 - a tenth of a second that only a terminal needs

    red = rich_style("red")
    table = Table("puzzle", box=None, pad_edge=False)
    gpus = _gpus(records)
    for gpu in gpus:
        table.add_column(gpu, justify="right")
    for row in _rows(records):
        cells = [_cell(records, row, gpu) for gpu in gpus]
        table.add_row(row, *(text if good else f"[{red}]{text}[/{red}]" for text, good in cells))
    return table


def vendors_markdown(records: Sequence[ReportRecord]) -> str:
    """The table for the summary page of a workflow."""
    gpus = _gpus(records)
    lines = [f"| | {' | '.join(gpus)} |", "|---|" + "--:|" * len(gpus)]
    for row in _rows(records):
        cells = (_cell(records, row, gpu) for gpu in gpus)
        lines.append(f"| {row} | {' | '.join(text if good else f'❌ {text}' for text, good in cells)} |")
    return "\n".join(lines)


def _gpus(records: Sequence[ReportRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_gpu, records)))


def _gpu(record: ReportRecord) -> str:
    data = record.data or {}
    return f"{data['vendor']} {data['accelerator']}"


def _rows(records: Sequence[ReportRecord]) -> tuple[str, ...]:
    return (*dict.fromkeys(sorted(record.suite for record in records)), _ALL)


def _cell(records: Sequence[ReportRecord], row: str, gpu: str) -> tuple[str, bool]:
    """How many of the judged trials are as they must be, and whether all are that were to be judged."""
    own = [record for record in records if row in (record.suite, _ALL) and _gpu(record) == gpu]
    judged = [record for record in own if record.status != "skipped"]
    right = sum(record.status == "passed" for record in judged)
    lacking = sum(bool(record.data and record.data.get("missing")) for record in own)
    text = f"{right}/{len(judged)}" if judged else "-"
    return text + (f", {lacking} missing" if lacking else ""), right == len(judged) and not lacking
