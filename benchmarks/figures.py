"""Output of a benchmark's figures: a table on the console and optionally a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def show_figures(figures: Mapping[str, float], path: Path | None) -> None:
    """Prints one figure a line, and writes all of them as JSON where a path is given."""
    width = max(map(len, figures)) + 2
    for name, value in figures.items():
        print(f"{name:{width}}{value:10.3f}")
    if path:
        path.write_text(json.dumps(figures, indent=1) + "\n")
