"""How many answers of a class `tooling collect` judges in a minute, here and through a Slurm of one node.

    uv run python benchmarks/classroom.py [ANSWERS]

The answers are to puzzle 1, with twelve different texts, eight of them right: students often hand in the
same, and equal texts share their build. The builds are made before the measurement. The rate depends on the
machine and on its load; the ratio of the two times is what Slurm costs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.cli.slurm_cluster import missing_program, slurm_cluster  # noqa: E402

_TEXTS, _RIGHT = 12, 8


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    if missing := missing_program():
        sys.stderr.write(f"Slurm is not installed: there is no `{missing}`\n")
        return 4
    solution = (ROOT / "solutions" / "p01" / "p01.mojo").read_text("utf-8")
    line = "output[unsafe_offset=i] = a[unsafe_offset=i] + 10"
    assert line in solution, "the solution has another kernel"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "slurm").mkdir()
        environment = {**os.environ, "PUZZLE_CACHE_DIR": str(folder / "cache")}
        for number in range(count):
            text = number % _TEXTS
            kernel = line if text < _RIGHT else line.replace("10", str(text + 3))
            for group in ("class", *(["sample"] if number < _TEXTS else [])):
                path = folder / group / f"student {number}" / "p01.mojo"
                path.parent.mkdir(parents=True)
                path.write_text(f"# {text}\n" + solution.replace(line, kernel), "utf-8")
        collect(folder, "sample", environment)
        with slurm_cluster(folder / "slurm") as variables:
            there = collect(folder, "class", {**environment, **variables}, "--on", "slurm")
        here = collect(folder, "class", environment)
    sys.stdout.write(
        f"{count} answers: {60 * count / there:.0f} a minute through Slurm ({there:.0f} s), "
        f"{60 * count / here:.0f} a minute without ({here:.0f} s), ratio {there / here:.2f}\n"
    )
    return 0


def collect(folder: Path, group: str, environment: dict[str, str], *options: str) -> float:
    """Judges a group of students; returns the seconds."""
    start = time.monotonic()
    command = [
        sys.executable,
        "-m",
        "tooling",
        "collect",
        str(folder / group),
        "-o",
        str(folder / "out"),
        *options,
    ]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


if __name__ == "__main__":
    sys.exit(main())
