"""Puts what came back from a machine with an H200 into the recordings here.

    python add_runs.py FILE.json ...

Each file is what run_bundle.py wrote, and its name says of what: `results` is a plain run of a bundle,
`memcheck`, `racecheck`, `synccheck` and `initcheck` are runs of its solutions under that tool of
compute-sanitizer. With `small-` before it the programs ran at the sizes that the simulated GPU has
(small_inputs.py). The puzzles of a file replace what was recorded; give all files of one kind at once.

Plain runs of another GPU with the same instruction set, such as an H100, complete the recordings: only runs
that have none, or one on other data, are added, each with its `device`. Sanitizer runs must come from the
device of the recordings.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from pathlib import Path
from typing import Any

_BETWEEN = '}, {"'
HERE = Path(__file__).resolve().parent
RUNS = "runs.json.xz"
SMALL = "small-"
_FOLDERS = re.compile(r"(?:/[\w.+-]+)+/(?=[\w-]+\.(?:mojo|py)\b)")
Result = dict[str, Any]


def main(paths: list[str]) -> int:
    if not paths:
        sys.stderr.write(__doc__ or "")
        return 2
    recorded = _read(HERE / RUNS)
    found: dict[str, list[Result]] = {}
    for path in map(Path, paths):
        report = _read(path)
        for key in ("version", "bundle"):
            if report[key] != recorded[key]:
                raise SystemExit(f"{path}: {key} is {report[key]!r}, and {recorded[key]!r} in {RUNS}")
        results = report["results"]
        if report["device"] != recorded["device"]:
            if path.stem.removeprefix(SMALL) != "results":
                raise SystemExit(
                    f"{path}: device is {report['device']!r}, and {recorded['device']!r} in {RUNS}"
                )
            results = [{**result, "device": report["device"]} for result in results]
        found.setdefault(path.stem, []).extend(results)
    sanitizer = _read(HERE / "sanitizer.json")
    summaries: dict[str, list[Result]] = {}
    for kind, results in found.items():
        small = kind.startswith(SMALL)
        what = kind.removeprefix(SMALL)
        if what == "results":
            _add_runs(HERE / (f"{SMALL}{RUNS}" if small else RUNS), recorded, results)
        else:
            summaries.setdefault(what, []).extend(_summary(result, small=small) for result in results)
    for tool, runs in summaries.items():
        sanitizer[tool]["runs"] = _merge(sanitizer[tool]["runs"], runs)
    _write(HERE / "sanitizer.json", sanitizer)
    return 0


def _add_runs(path: Path, like: dict[str, Any], results: list[Result]) -> None:
    runs = _read(path) if path.is_file() else {**like, "results": []}
    results = [_without_folders(result) for result in results]
    runs["results"] = _merge(runs["results"], [result for result in results if "device" not in result])
    known = {_run(result): _inputs(result) for result in runs["results"]}
    elsewhere = [result for result in results if "device" in result]
    added = [result for result in elsewhere if known.get(_run(result)) != _inputs(result)]
    again = set(map(_run, added))
    kept = [result for result in runs["results"] if _run(result) not in again]
    runs["results"] = sorted(kept + added, key=_puzzle)
    runs["seconds"] = round(sum(result["seconds"] for result in runs["results"]), 1)
    _write(path, runs)


def _without_folders(result: Result) -> Result:
    """Files of a traceback or an uncaught error by name alone: their folders are those of two machines."""
    return {**result, "stderr": _FOLDERS.sub("", result["stderr"])}


def _merge(old: list[Result], new: list[Result]) -> list[Result]:
    again = {_puzzle(result) for result in new}
    kept = [result for result in old if _puzzle(result) not in again]
    return sorted(kept + new, key=_puzzle)  # stable: within a puzzle the order of the bundle stays


def _run(result: Result) -> tuple[str, str]:
    return result["id"], result["dataset"]


def _inputs(result: Result) -> dict[str, str]:
    """The hash of each buffer that the program worked on."""
    return {name: str(buffer["sha256"]) for name, buffer in result["used"].items()}


def _puzzle(result: Result) -> str:
    return str(result["id"])[:3]


def _summary(result: Result, *, small: bool) -> Result:
    lines = (result["stdout"] + result["stderr"]).splitlines()
    return {
        "id": result["id"],
        "dataset": result["dataset"],
        "status": result["status"],
        "summary": [line for line in lines if "SUMMARY" in line],
        **({"small": True} if small else {}),
    }


def _read(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    found: dict[str, Any] = json.loads(lzma.decompress(content) if path.suffix == ".xz" else content)
    return found


def _write(path: Path, content: dict[str, Any]) -> None:
    """One run to a line, so that a difference shows which runs are new."""
    text = json.dumps(content, ensure_ascii=False)
    lines = (text.replace(_BETWEEN, _BETWEEN.replace(" ", "\n")) + "\n").encode()
    path.write_bytes(lzma.compress(lines) if path.suffix == ".xz" else lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
