"""The profile as JSON: metrics by name, for each kernel and each of its lines."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tooling.simulator.counters.metrics import COMPARABLE, values
from tooling.simulator.counters.profile import KernelProfile, LineProfile

VERSION = 1


def to_json(kernels: Sequence[KernelProfile], program: str, status: int) -> str:
    """The document's text.

    Args:
        program: what was profiled, as typed by the user; status: its exit status.
    """
    document = {
        "version": VERSION,
        "program": program,
        "status": status,
        "comparable": [metric.name for metric in COMPARABLE],
        "kernels": [_kernel(kernel) for kernel in kernels],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _kernel(kernel: KernelProfile) -> dict[str, object]:
    return {
        "name": kernel.name,
        "symbol": kernel.symbol,
        "grid": list(kernel.grid),
        "block": list(kernel.block),
        "launches": kernel.launches,
        "faults": kernel.faults,
        "metrics": values(kernel.counts),
        "lines": [_line(line) for line in kernel.in_order()],
    }


def _line(profile: LineProfile) -> dict[str, object]:
    return {
        "file": profile.line.file,
        "line": profile.line.number,
        "metrics": values(profile.counts),
        "accesses": [
            {"route": access.route.value, "ptx": access.form, "column": access.column}
            for access in profile.accesses.values()
        ],
    }
