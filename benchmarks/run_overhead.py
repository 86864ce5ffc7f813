"""The overhead of `tooling run` over the bare toolchain, and the time of a second run without a change.

usage: python benchmarks/run_overhead.py [--rounds N] [--json FILE]

Cold: an empty tool cache and an empty compiler cache each time; `mojo build` and the program itself on one
side, `tooling run` on the other, in turn. The bare program runs against the same simulated GPU, once; the
tool runs it on two data sets and judges. Again: everything built, the best and the median of many runs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import show_figures
from tooling.project import find_project
from tooling.simulator.server.session import Simulation
from tooling.toolchain import find_toolchain

PROGRAM = "p15"
TOOLING = Path(sys.executable).with_name("tooling")


def seconds(command: Sequence[str | Path], environment: dict[str, str]) -> float:
    """Wall time of one command that must succeed."""
    start = time.perf_counter()
    subprocess.run(command, env=os.environ | environment, check=True, capture_output=True)
    return time.perf_counter() - start


def bare(folder: Path) -> tuple[float, float]:
    """Seconds for `mojo build` with an empty cache, and for the program on the simulated GPU."""
    project = find_project()
    mojo = find_toolchain().mojo
    executable = folder / PROGRAM
    source = project.solutions / PROGRAM / f"{PROGRAM}.mojo"
    command: list[str | Path] = [mojo, "build", "--disable-warnings", "--target-accelerator", "sm_90a"]
    command += ["-I", project.problems, source, "-o", executable]
    built = seconds(command, {"MODULAR_CACHE_DIR": str(folder / "modular")})
    with Simulation() as simulation:
        ran = seconds([executable], simulation.environment)
    return built, ran


def tool(folder: Path) -> float:
    """Seconds for `tooling run` with empty caches (the driver libraries are built beforehand)."""
    environment = {"PUZZLE_CACHE_DIR": str(folder / "tool"), "MODULAR_CACHE_DIR": str(folder / "modular")}
    warm: list[str | Path] = [TOOLING, "simulate", "--", "true"]  # status 4: nothing was launched
    subprocess.run(warm, env=os.environ | environment, check=False, capture_output=True)
    return seconds([TOOLING, "run", PROGRAM, "--solution", "--target", "sim"], environment)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="cold builds of each kind (default 3)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    builds, runs, tools = [], [], []
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as name:
            built, ran = bare(Path(name))
            builds.append(built)
            runs.append(ran)
        with tempfile.TemporaryDirectory() as name:
            tools.append(tool(Path(name)))
    again = [seconds([TOOLING, "run", PROGRAM, "--solution", "--target", "sim"], {}) for _ in range(11)][1:]
    helps = [seconds([TOOLING, "--help"], {}) for _ in range(11)][1:]
    plain = min(builds) + min(runs)
    figures = {
        "mojo build, s": min(builds),
        "program on the simulated GPU, s": min(runs),
        "tooling run, cold, s": min(tools),
        "overhead over build and run, s": min(tools) - plain,
        "overhead, ratio": min(tools) / plain,
        "tooling run again, best, s": min(again),
        "tooling run again, median, s": statistics.median(again),
        "tooling --help, median, s": statistics.median(helps),
        "again over cold, ratio": min(again) / min(tools),
    }
    show_figures(figures, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
