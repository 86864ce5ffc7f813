"""Results files of `tooling bundle` that were recorded on an H200, compressed."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

H200 = Path(__file__).parent / "data" / "h200"
RUNS = "runs.json.xz"
SMALL_RUNS = "small-runs.json.xz"
"""Of programs that work on fewer elements on the simulated GPU, at that size."""


def recorded_results(file: str = RUNS) -> dict[str, Any]:
    """The content of a file in `tests/data/h200`."""
    report: dict[str, Any] = json.loads(lzma.decompress((H200 / file).read_bytes()))
    return report
