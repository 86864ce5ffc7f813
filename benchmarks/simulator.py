"""Lane-instructions per second of the simulated GPU, with all checks and without any.

usage: python benchmarks/simulator.py [--target sim|sim-amd|sim-gfx1100] [--large] [--json FILE]
                                      [--base FOLDER]

Figures are per second of processor time, on which other programs have little influence: the best of nine
launches, on one core. --target sim-amd (64 lanes) and sim-gfx1100 (32) measure simulated AMD GPUs. --large
adds a matrix product of 1024 by 1024 by 1024 (8.6 billion lane instructions), the memory that the simulator
took for it, the time to load a kernel of 51,000 instructions, and the products of puzzle 44 by wgmma.

Each figure is also given as a ratio within the run: lane-instructions per second over the elements per second
that NumPy adds on the same machine, just before (one addition of two float32 arrays that fit the cache).

--base FOLDER is the control of a change: FOLDER is a checkout of the commit before it, whose simulator runs
the same launches in turns with this one, three times each. With the checkout before several GPUs were
simulated (`git worktree add FOLDER 419173ba3`), the ratios show what they cost a program with one GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tooling.simulator.nvidia.backend.lower import decode
from tooling.simulator.nvidia.ptx.reader import parse_module
from tooling.simulator.server.session import ALL_CHECKS, Simulation, SimulationOptions
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


def lane_instructions_per_second(
    program: Path, launch: str, *, checked: bool, instruction_set: str = "ptx"
) -> float:
    """The best launch of three runs of the program."""
    checks = ALL_CHECKS if checked else frozenset()
    options = SimulationOptions(checks=checks, instruction_set=instruction_set)
    rates = []
    for _ in range(3):
        with Simulation(options) as simulation:
            subprocess.run([program, launch], env=os.environ | simulation.environment, check=True)
        assert not simulation.findings, simulation.findings
        rates += [result.lane_instructions / result.processor_seconds for result in simulation.launches]
    return max(rates)


def large_product(program: Path) -> None:
    """Run the large matrix product with all checks, and print its time and memory."""
    with Simulation() as simulation:
        subprocess.run([program], env=os.environ | simulation.environment, check=True)
    (result,) = simulation.launches
    assert result.error is None and not simulation.findings
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = result.processor_seconds
    print(
        f"matrix product: {result.lane_instructions:,} lane instructions, all checks: {seconds:.1f} s of "
        f"processor time, {result.lane_instructions / seconds / 1e9:.3f} G/s, {memory:.0f} MiB at most"
    )


def products_of_warpgroups(program: Path) -> None:
    """Print the time of `wgmma` in puzzle 44's product of 256 x 256 matrices, in NumPy's time for it."""
    a, b = (np.ones((256, 256), np.float32) for _ in range(2))
    best = float("inf")
    for _ in range(50):
        start = time.process_time_ns()
        for _ in range(10):
            np.matmul(a, b)
        best = min(best, (time.process_time_ns() - start) / 1e10)
    for checked in (True, False):
        checks = ALL_CHECKS if checked else frozenset()
        seconds = float("inf")
        for _ in range(3):
            with Simulation(SimulationOptions(checks=checks)) as simulation:
                subprocess.run([program], env=os.environ | simulation.environment, check=True)
            assert not simulation.findings, simulation.findings
            (one,) = (each for each in simulation.records if "tile_loop" in each.launch.function.name)
            seconds = min(seconds, one.result.processor_seconds)
        print(
            f"wgmma, {'all' if checked else 'no'} checks: {256**3 / seconds / 1e6:.0f} million multiply-adds "
            f"per second of processor time, {seconds / best:.0f} times NumPy's matmul in float32"
        )


def large_kernel() -> None:
    """Load a fully unrolled kernel, and print the time."""
    lines = [".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry unrolled(.param .u64 p)\n{"]
    lines += [".reg .f32 %f<34004>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd3, [p];"]
    for number in range(17_000):
        at, value = f"[%rd3+{4 * number}]", f"%f{2 * number + 2}"
        lines += [f"ld.global.f32 %f{2 * number + 1}, {at};"]
        lines += [f"fma.rn.f32 {value}, %f{2 * number + 1}, %f{2 * number}, 0f3F800000;"]
        lines += [f"st.global.f32 {at}, {value};"]
    text = "\n".join([*lines, "ret;", "}"])
    times = []
    for _ in range(2):
        start = time.process_time()
        module = parse_module(text)
        decode(module, module.kernels["unrolled"])
        times.append(time.process_time() - start)
    print(f"kernel of 51,000 instructions: loaded in {times[0]:.2f} s, again in {times[1] * 1e3:.2f} ms")


def compare(base: Path, target: str) -> None:
    """Print the speeds of two checkouts, each the best of three runs, and their ratio."""
    speeds: dict[tuple[str, bool], tuple[list[float], list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "rows.json"
        for number in range(6):
            checkout = (base.resolve(), Path(__file__).parents[1])[number % 2]
            command = [sys.executable, "benchmarks/simulator.py", "--target", target, "--json", str(written)]
            environment = os.environ | {"PYTHONPATH": str(checkout)}
            subprocess.run(
                command, cwd=checkout, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=600
            )
            for row in json.loads(written.read_text("utf-8")):
                found = speeds.setdefault((row["launch"], row["checks"]), ([], []))
                found[number % 2].append(row["per_second"] / 1e9)
    print(f"{'launch':14}{'checks':>8}{'base':>10}{'this':>10}{'this / base':>14}  (G lane-instr/s)")
    for (launch, checked), pair in speeds.items():
        before, now = map(max, pair)
        print(f"{launch:14}{'all' if checked else 'none':>8}{before:10.3f}{now:10.3f}{now / before:14.2f}")


ACCELERATORS = {"sim": "sm_90a", "sim-amd": "gfx942", "sim-gfx1100": "gfx1100"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--target", choices=tuple(ACCELERATORS), default="sim", help="the simulated GPU")
    parser.add_argument("--large", action="store_true", help="the large product and the long kernel as well")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--base", type=Path, help="a checkout of another commit, to compare with")
    arguments = parser.parse_args()
    if arguments.base:
        compare(arguments.base, arguments.target)
        return 0
    accelerator = ACCELERATORS[arguments.target]
    if arguments.target != "sim" and arguments.large:
        parser.error("--large measures the simulated NVIDIA GPU only")
    request = BuildRequest(KERNELS, accelerator=accelerator)
    program = build(request, find_toolchain(), open_cache()).path
    instruction_set = "ptx" if arguments.target == "sim" else accelerator
    rows = []
    print(f"{'launch':14}{'checks':>8}{'G lane-instr/s':>18}{'of NumPy’s additions':>24}")
    for launch in LAUNCHES:
        for checked in (True, False):
            baseline = numpy_additions()
            speed = lane_instructions_per_second(
                program, launch, checked=checked, instruction_set=instruction_set
            )
            rows.append({"launch": launch, "checks": checked, "per_second": speed, "ratio": speed / baseline})
            print(f"{launch:14}{'all' if checked else 'none':>8}{speed / 1e9:18.3f}{speed / baseline:24.2f}")
    if arguments.large:
        large_kernel()
        product = BuildRequest(KERNELS.with_name("matmul.mojo"), accelerator="sm_90a")
        large_product(build(product, find_toolchain(), open_cache()).path)
        folders = tuple(KERNELS.parents[2] / name for name in ("problems", "solutions/p44"))
        products = BuildRequest(
            KERNELS.with_name("warpgroup_products.mojo"), accelerator="sm_90a", includes=folders
        )
        products_of_warpgroups(build(products, find_toolchain(), open_cache()).path)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
