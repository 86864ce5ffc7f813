"""Observe kernels at the size of a real GPU, and compare their estimated times with the recorded ones.

    python benchmarks/estimates.py observe FOLDER
    python benchmarks/estimates.py compare

`observe` runs the executables `limits`, `reductions`, … of FOLDER, which are built as their comments say, and
`p30` and `p30-unsolved`, … of the puzzles' solutions and problem files, with `--benchmark`, on
the simulated GPU, a sample of the blocks of each launch. It writes what they demand of the GPU to
`tests/data/h200/timed_work.json.xz`. `compare` prints the table of errors, writes it to
`tests/data/h200/estimates.json`, and the range that held nine of ten kernels to
`tooling/simulator/timing/accuracy.json`.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tooling.simulator.counters.profiler import ProfilingHook  # noqa: E402
from tooling.simulator.gpu.launch import LaunchResult  # noqa: E402
from tooling.simulator.nvidia.machine_code.tools import find_tools  # noqa: E402
from tooling.simulator.timing.benchmark import rows_in  # noqa: E402
from tooling.simulator.timing.comparison import (  # noqa: E402
    ESTIMATES,
    OBSERVED,
    PROGRAMS,
    PUZZLES,
    Group,
    ObservedRow,
    accuracy_of,
    compared,
    recorded_rows,
)
from tooling.simulator.timing.observer import WorkObserver  # noqa: E402
from tooling.simulator.timing.profiler import Key, TimedLaunch, TimingProfiler  # noqa: E402
from tooling.simulator.timing.sampling import SAMPLE_VARIABLE  # noqa: E402
from tooling.target_run import RunOptions, simulated_run  # noqa: E402

_WHOLE = ("p32", "p32-unsolved", "p35", "p35_tile_tensor")
"""Programs whose benchmarks have the same size on the simulated GPU: all of their blocks run."""
_ACCURACY = ROOT / "tooling/simulator/timing/accuracy.json"


class _Both(TimingProfiler):
    """Keeps the work of each launch with machine code, and with PTX in its place."""

    def _timed(
        self, key: Key, observer: WorkObserver, counter: ProfilingHook, result: LaunchResult
    ) -> TimedLaunch:
        exact = super()._timed(key, observer, counter, result)
        tools, self._tools = self._tools, None
        guessed = super()._timed(key, observer, counter, result)
        self._tools = tools
        works = {f"{name} ptx": work for name, work in guessed.work.items()}
        return msgspec.structs.replace(exact, work={**exact.work, **works})


def observe(executable: Path) -> Iterator[ObservedRow]:
    """The rows of a program with the work of their launches."""
    sampled = executable.name not in _WHOLE
    profiler = _Both(tools=find_tools(), sampled=sampled)
    options = RunOptions(
        time_limit=3000,
        environment={SAMPLE_VARIABLE: "1"} if sampled else {},
        checks=frozenset({"memory"}),
        executor=profiler,
    )
    flags = ["--benchmark"] if "--benchmark" in PUZZLES.get(executable.name, "") else []
    run = simulated_run([executable, *flags], options)
    launches = iter(profiler.launches)
    for name, elements in rows_in(run.transcript.stdout):
        own = [next(launches) for _ in range(2 if name == "copy, twice" or ", launches, " in name else 1)]
        if own[0].key != own[-1].key:
            continue
        refused = own[0].refused.render("en") if own[0].refused else ""
        yield ObservedRow(
            executable.name,
            name,
            elements,
            len(own),
            own[0].work.get("h200"),
            own[0].work.get("h200 ptx"),
            refused,
            own[0].elsewhere.get("h200", ()),
            own[0].elsewhere.get("h200 ptx", ()),
        )
        if name.startswith("histogram, shared"):
            next(launches)  # another launch, whose result is compared
    if next(launches, None) is not None:
        raise SystemExit(f"{executable.name}: more launches than rows\n{run.transcript.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("observe", "compare"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", nargs="+", default=(*PROGRAMS, *PUZZLES))
    options = parser.parse_args()
    if options.what == "observe":
        known = msgspec.json.decode(lzma.decompress(OBSERVED.read_bytes())) if OBSERVED.exists() else []
        for program in options.only:
            rows = [msgspec.to_builtins(row) for row in observe((options.folder / program).absolute())]
            known = [row for row in known if row["program"] != program] + rows
            OBSERVED.write_bytes(lzma.compress(json.dumps(known).encode(), preset=9))
            print(program, len(rows), flush=True)
        return
    rows = compared(recorded_rows())
    for row in rows:
        print(row.line())
    found = accuracy_of(row for row in rows if row.group is Group.OPEN)
    _ACCURACY.write_text(_written(found), "utf-8")
    ESTIMATES.write_text(_written(rows), "utf-8")


def _written(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n"


if __name__ == "__main__":
    main()
