"""Lane-instructions per second of the simulated GPU, with all checks and without any.

usage: python benchmarks/simulator.py [--json FILE]

Each figure also stands as a ratio within the run: lane-instructions per second over the elements per second
that NumPy adds on the same machine, just before (one addition of two float32 arrays that fit the cache).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tooling.simulator.session import ALL_CHECKS, Simulation, SimulationOptions
from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache

KERNELS = Path(__file__).parent / "kernels" / "throughput.mojo"
LAUNCHES = ("elementwise", "reduction", "divergent")


def numpy_additions() -> float:
    """Elements per second of one NumPy addition, float32, in the cache; the best of many."""
    a, b, out = (np.ones(1 << 15, dtype=np.float32) for _ in range(3))
    best = float("inf")
    for _ in range(200):
        start = time.perf_counter()
        np.add(a, b, out=out)
        best = min(best, time.perf_counter() - start)
    return float(len(a) / best)


def lane_instructions_per_second(program: Path, launch: str, *, checked: bool) -> float:
    """The best launch of one run of the program."""
    options = SimulationOptions(checks=ALL_CHECKS if checked else frozenset())
    with Simulation(options) as simulation:
        subprocess.run([program, launch], env=os.environ | simulation.environment, check=True)
    assert not simulation.findings, simulation.findings
    return max(result.lane_instructions / result.seconds for result in simulation.launches)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    request = BuildRequest(KERNELS, accelerator="sm_90a")
    program = build(request, find_toolchain(), open_cache()).path
    rows = []
    print(f"{'launch':14}{'checks':>8}{'G lane-instr/s':>18}{'of NumPy’s additions':>24}")
    for launch in LAUNCHES:
        for checked in (True, False):
            baseline = numpy_additions()
            speed = lane_instructions_per_second(program, launch, checked=checked)
            rows.append({"launch": launch, "checks": checked, "per_second": speed, "ratio": speed / baseline})
            print(f"{launch:14}{'all' if checked else 'none':>8}{speed / 1e9:18.3f}{speed / baseline:24.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
