"""Compares `tooling verify` with an uncached `mojo run` of the same modes.

usage: python benchmarks/verify_overhead.py [PUZZLE...] [--sample N] [--seed N] [--json FILE]

One side: `tooling verify` of the puzzles (default: all), on one core, with everything built: solutions,
skeletons and mutants, each on every data set of its mode, judged. The other: `mojo run` of single modes of
the solutions with an empty compiler cache, on one data set, without a judge, on the same simulated GPU.
Every `mojo run` compiles again, which takes so long that only a sample of the modes is timed, half of it
before and half of it after `tooling verify`; the mean of the sample is used for every trial. The ratio is
therefore an extrapolation, and is labelled so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import show_figures
from tooling.catalog.catalogue import Selection, every_selection, load_catalogue
from tooling.catalog.model import ModeKind, ProgramLanguage
from tooling.project import Project, find_project
from tooling.simulator.server.session import Simulation
from tooling.toolchain import find_toolchain
from tooling.trials import includes_of

TOOLING = Path(sys.executable).with_name("tooling")


@dataclass(frozen=True, slots=True)
class Verified:
    """One `tooling verify` with everything built."""

    seconds: float  # wall time of the whole command
    trials: int  # number of trials that were run


def mojo_run(project: Project, selection: Selection) -> float:
    """Seconds that one mode takes by `mojo run` with an empty compiler cache."""
    source = selection.program.solution
    command: list[str | Path] = [find_toolchain().mojo, "run", "--target-accelerator", "sm_90a"]
    for folder in includes_of(selection.program, source, project):
        command += ["-I", folder]
    command += [source, *selection.mode.flags]
    with tempfile.TemporaryDirectory() as cache, Simulation() as simulation:
        environment = os.environ | simulation.environment | {"MODULAR_CACHE_DIR": cache}
        start = time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return time.perf_counter() - start


def verify(names: Sequence[str]) -> Verified:
    """Seconds of `tooling verify` on one core; run once before, so that everything is built."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command: list[str | Path] = [
            TOOLING,
            "verify",
            *names,
            "--target",
            "sim",
            "--jobs",
            "1",
            "--json",
            report,
        ]
        alone = os.environ | {"PUZZLE_CORES": "1"}
        subprocess.run(command, check=True, capture_output=True, env=alone)
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=alone)
        seconds = time.perf_counter() - start
        counts = json.loads(report.read_text("utf-8"))["counts"]
    return Verified(seconds, counts["passed"])


def modes(project: Project, names: Sequence[str]) -> list[Selection]:
    """The modes that the sample is drawn from: those that `mojo run` can run."""
    return [
        each
        for each in every_selection(load_catalogue(project))
        if each.program.language is ProgramLanguage.MOJO
        and each.mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN)
        and (not names or each.puzzle.id in names or each.program.name in names)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("puzzles", nargs="*", help="p15, or a variant such as p15_tile_tensor (default: all)")
    parser.add_argument("--sample", type=int, default=6, help="modes timed by `mojo run` (default 6)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default 1)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    project = find_project()
    known = modes(project, arguments.puzzles)
    sample = random.Random(arguments.seed).sample(known, min(arguments.sample, len(known)))
    half = (len(sample) + 1) // 2
    runs = [mojo_run(project, each) for each in sample[:half]]
    verified = verify(arguments.puzzles)
    runs += [mojo_run(project, each) for each in sample[half:]]
    mean = statistics.mean(runs)
    figures = {
        "trials that verify made": verified.trials,
        "tooling verify, s": verified.seconds,
        "tooling verify, s per trial": verified.seconds / verified.trials,
        "modes sampled": len(sample),
        "uncached mojo run, mean s": mean,
        "uncached mojo run of all, s (extrapolated)": mean * verified.trials,
        "ratio (extrapolated)": mean * verified.trials / verified.seconds,
    }
    print("sampled: " + ", ".join(each.command for each in sample))
    show_figures(figures, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
