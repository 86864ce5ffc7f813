"""What the package `lab` costs in a build, and what the second data set costs in a run, in processor time.

usage: python benchmarks/build_overhead.py [--rounds N] [--json FILE]

Three programs are built in turn, with an empty compiler cache each time: one that only creates a
DeviceContext and launches a kernel, puzzle 1 without the calls of `lab`, and puzzle 1. Then puzzle 1 is
judged on the simulated GPU with the book's data set alone and with both.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from msgspec.structs import replace

from benchmarks.figures import show_figures
from tooling.catalog.catalogue import Selection, select
from tooling.project import Project, find_project
from tooling.targets.selection import choose
from tooling.toolchain import find_toolchain, open_cache
from tooling.trials import Trial, build_trial, run_trial

BARE = """\
from max.gpu import thread_idx
from max.gpu.host import DeviceContext

def fill(output: Pointer[Float32, MutAnyOrigin]):
    output[unsafe_offset=thread_idx.x] = 1

def main() raises:
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[DType.float32](4)
        ctx.enqueue_function[fill](out, grid_dim=1, block_dim=4)
        ctx.synchronize()
"""


def processor_seconds() -> float:
    """The processor time of this process and of its children that have ended."""
    used = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def build_seconds(text: str, project: Project) -> float:
    """The processor time of one build."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "program.mojo")
        source.write_text(text)
        mojo, product = str(find_toolchain().mojo), f"{name}/program"
        command = [mojo, "build", str(source), "-o", product, "-I", str(project.problems)]
        options = ["--target-accelerator", "sm_90a", "--debug-level", "line-tables", "--disable-warnings"]
        environment = os.environ | {"MODULAR_CACHE_DIR": name, "TMPDIR": name}
        before = processor_seconds()
        subprocess.run([*command, *options], env=environment, check=True, capture_output=True)
        return processor_seconds() - before


def run_seconds(trial: Trial, datasets: tuple[str, ...]) -> float:
    """The processor time of judging a program that is built already."""
    selection = replace(trial.selection, mode=replace(trial.selection.mode, datasets=datasets))
    own = replace(trial, selection=selection)
    executable = build_trial(find_project(), own, find_toolchain(), open_cache())
    before = processor_seconds()
    verdict = run_trial(own, executable)
    assert all(case.right for case in verdict.cases)
    return processor_seconds() - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="builds and runs of each kind (default 3)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    project = find_project()
    selection: Selection = select(project, "p01", ())
    puzzle = selection.program.solution.read_text("utf-8")
    programs = {
        "bare": BARE,
        "without lab": re.sub(r"(?m)^.*(from lab import|\b(stage|submit|expect_no_flags)\().*\n", "", puzzle),
        "puzzle 1": puzzle,
    }
    builds: dict[str, list[float]] = {name: [] for name in programs}
    runs: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(arguments.rounds):
        for name, text in programs.items():
            builds[name].append(build_seconds(text, project))
    choice = choose(selection, "sim")
    trial = Trial(selection, choice, source=selection.program.solution, solution=True)
    run_seconds(trial, ("book",))  # builds what is missing
    for _ in range(arguments.rounds):
        for count, seconds in runs.items():
            seconds.append(run_seconds(trial, selection.mode.datasets[:count]))
    built = {name: statistics.median(seconds) for name, seconds in builds.items()}
    ran = {count: statistics.median(seconds) for count, seconds in runs.items()}
    figures = {
        **{f"build, {name}, s": seconds for name, seconds in built.items()},
        "lab, ratio": built["puzzle 1"] / built["without lab"],
        "puzzle 1 over bare, ratio": built["puzzle 1"] / built["bare"],
        "run with one data set, s": ran[1],
        "run with both, s": ran[2],
        "second data set, ratio": ran[2] / ran[1],
    }
    show_figures(figures, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
