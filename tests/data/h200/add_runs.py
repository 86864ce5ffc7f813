"""Puts what came back from a machine with an H200 into the recordings here.

    python add_runs.py results.json [memcheck.json racecheck.json synccheck.json initcheck.json]

The first file is a plain run of a bundle, the others are runs of its solutions under the tool of
compute-sanitizer that they are named after. Puzzles that a file names replace what was recorded of them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_BETWEEN = '}, {"'
HERE = Path(__file__).resolve().parent
Result = dict[str, Any]


def main(paths: list[str]) -> int:
    if not paths:
        sys.stderr.write(__doc__ or "")
        return 2
    runs = _read(Path(paths[0]))
    recorded = _read(HERE / "runs.json")
    for key in ("version", "bundle", "device"):
        if runs[key] != recorded[key]:
            raise SystemExit(f"{paths[0]}: {key} is {runs[key]!r}, and {recorded[key]!r} in runs.json")
    recorded["results"] = _merge(recorded["results"], runs["results"])
    recorded["seconds"] = round(sum(result["seconds"] for result in recorded["results"]), 1)
    _write(HERE / "runs.json", recorded)
    sanitizer = _read(HERE / "sanitizer.json")
    for path in map(Path, paths[1:]):
        found = [_summary(result) for result in _read(path)["results"]]
        sanitizer[path.stem]["runs"] = _merge(sanitizer[path.stem]["runs"], found)
    _write(HERE / "sanitizer.json", sanitizer)
    return 0


def _merge(old: list[Result], new: list[Result]) -> list[Result]:
    again = {_puzzle(result) for result in new}
    kept = [result for result in old if _puzzle(result) not in again]
    return sorted(kept + new, key=_puzzle)  # stable: within a puzzle the order of the bundle stays


def _puzzle(result: Result) -> str:
    return str(result["id"])[:3]


def _summary(result: Result) -> Result:
    lines = (result["stdout"] + result["stderr"]).splitlines()
    return {
        "id": result["id"],
        "dataset": result["dataset"],
        "status": result["status"],
        "summary": [line for line in lines if "SUMMARY" in line],
    }


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _write(path: Path, content: dict[str, Any]) -> None:
    """One run to a line, so that a difference shows which runs are new."""
    text = json.dumps(content, ensure_ascii=False)
    path.write_text(text.replace(_BETWEEN, _BETWEEN.replace(" ", "\n")) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
