"""Compares the simulated GPU with Numba's CUDA simulator: the same two kernels, in one run.

usage: python benchmarks/numba_peer.py [--numba-python PYTHON]

Numba is not a dependency of this project: `python -m venv numba && numba/bin/pip install numba`, and pass
that venv's Python as --numba-python. Both run an elementwise addition and a reduction of 256 elements in
shared memory, with blocks of 256 threads; ours, with all checks, on 2^22 and 2^18 elements, Numba's
(a Python thread per GPU thread) on 2^12, and both are counted in elements per second of processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tooling.simulator.server.session import Simulation
from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache

KERNELS = Path(__file__).parent / "kernels" / "throughput.mojo"
SIZES = {"elementwise": 1 << 22, "reduction": 1 << 18}
"""Elements of our launches, as in the Mojo file."""

PEER = """
import json, sys, time
import numpy as np
from numba import cuda, float32

@cuda.jit
def add(output, a, b):
    i = cuda.grid(1)
    if i < output.size:
        output[i] = a[i] * 2 + b[i]

@cuda.jit
def reduce(output, a):
    shared = cuda.shared.array(256, float32)
    local = cuda.threadIdx.x
    shared[local] = a[cuda.grid(1)]
    cuda.syncthreads()
    stride = 128
    while stride > 0:
        if local < stride:
            shared[local] += shared[local + stride]
        cuda.syncthreads()
        stride //= 2
    if local == 0:
        output[cuda.blockIdx.x] = shared[0]

SIZE = 1 << 12
a, b = np.ones(SIZE, np.float32), np.ones(SIZE, np.float32)
rates = {}
for name, kernel, out, rest in (("elementwise", add, np.zeros(SIZE, np.float32), (a, b)),
                                ("reduction", reduce, np.zeros(SIZE // 256, np.float32), (a,))):
    start = time.process_time()
    kernel[SIZE // 256, 256](out, *rest)
    rates[name] = SIZE / (time.process_time() - start)
    assert out[0] == (3 if name == "elementwise" else 256), out[:4]
print(json.dumps(rates))
"""


def peer_rates(python: str) -> dict[str, float] | None:
    """Elements per second in Numba's simulator; None where Numba is not installed."""
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    command = [python, "-c", PEER]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{python} cannot run Numba: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    rates: dict[str, float] = json.loads(done.stdout)
    return rates


def our_rates() -> dict[str, tuple[float, float]]:
    """Elements and lane instructions per second of processor time on the simulated GPU, all checks on."""
    program = build(BuildRequest(KERNELS, accelerator="sm_90a"), find_toolchain(), open_cache()).path
    rates = {}
    for name, size in SIZES.items():
        with Simulation() as simulation:
            subprocess.run([program, name], env=os.environ | simulation.environment, check=True)
        assert not simulation.findings, simulation.findings
        best = min(simulation.launches, key=lambda result: result.processor_seconds)
        rates[name] = size / best.processor_seconds, best.lane_instructions / best.processor_seconds
    return rates


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--numba-python", default=sys.executable, help="a Python that has Numba")
    arguments = parser.parse_args()
    if shutil.which(arguments.numba_python) is None and not Path(arguments.numba_python).exists():
        parser.error(f"there is no {arguments.numba_python}")
    theirs = peer_rates(arguments.numba_python)
    if theirs is None:
        print("nothing to compare with: `pip install numba` in a separate venv, then --numba-python")
        return 4
    print(f"{'kernel':14}{'ours, elements/s':>18}{'lane-instr/s':>16}{'Numba, elements/s':>20}{'ratio':>10}")
    for name, (ours, instructions) in our_rates().items():
        ratio = ours / theirs[name]
        print(f"{name:14}{ours:18.3e}{instructions:16.3e}{theirs[name]:20.3e}{ratio:10,.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
