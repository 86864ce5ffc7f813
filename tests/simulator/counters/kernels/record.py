"""Records what Nsight Compute counts for every access case, on the GPU of this machine.

usage: python3 record.py OUTPUT.json ['NAME=PROGRAM FLAGS' …]

Needs NumPy, libcuda.so.1 and `ncu`, and permission to read the hardware's counters. Each PROGRAM is profiled
as well; all its kernels are stored under NAME. `ncu` starts this file with `--launch` to run the cases.
"""

from __future__ import annotations

import csv
import ctypes
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
from tests.simulator.counters.kernels import access_cases, access_kernels
from tests.simulator.instructions.record import Driver

METRICS = re.compile(
    r"l1tex__t_(requests|sectors)_pipe_lsu_mem_(global|local)_op_(ld|st|red|atom|ldgsts_cache_access)$"
    r"|l1tex__data_pipe_lsu_wavefronts_mem_shared_op_(ld|st|atom)$"
    r"|l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_(ld|st|atom|ldgsts)$"
    r"|smsp__inst_executed$"
)
# Counted by instructions that ncu puts into the kernel: slow, so for few cases only.
PATCHED = re.compile(
    r"smsp__sass_data_bytes_mem_(global|shared|local)_op_(ld|st|atom|red|ldgsts)$"
    r"|sm__sass_l1tex_data_(bank_conflicts|pipe_lsu_wavefronts)(_pipe_lsu)?_mem_shared_op_ldgsts$"
    r"|sm__sass_l1tex_t_(requests|sectors)_pipe_lsu_mem_global_op_ldgsts$"
)
Counters = dict[str, int]


def available(wanted: re.Pattern[str]) -> list[str]:
    """The metrics of this GPU that a pattern names."""
    listing = _output(["ncu", "--query-metrics"])
    names = {line.split()[0] for line in listing.splitlines() if line[:1].isalpha() and line.split()}
    return sorted(name for name in names if wanted.match(name))


def profile(command: list[str], metrics: list[str]) -> list[tuple[str, Counters]]:
    """Name and counters of every kernel that a command launches, in order."""
    text = _output(
        [
            *("ncu", "--csv", "--page", "raw", "--print-units", "base"),
            *("--clock-control", "none", "--cache-control", "none"),
            *("--metrics", ",".join(f"{name}.sum" for name in metrics)),
            *command,
        ]
    )
    start = text.index('"ID"')
    rows = list(csv.reader(io.StringIO(text[start:])))
    header, launches = rows[0], [row for row in rows[2:] if row and row[0].isdigit()]
    name = header.index("Kernel Name")
    columns = [(header.index(f"{metric}.sum"), metric) for metric in metrics if f"{metric}.sum" in header]
    return [
        (
            row[name],
            {
                metric: int(float(row[c].replace(",", "")))
                for c, metric in columns
                if row[c] not in ("", "n/a")
            },
        )
        for row in launches
    ]


def launch(cases: list[access_cases.Case]) -> None:
    """Run cases once (under ncu)."""
    driver = Driver()
    cuda = driver.cuda
    data, table, never = driver.allocate(1 << 16), driver.allocate(1 << 16), driver.allocate(1 << 16)
    functions: dict[str, ctypes.c_void_p] = {}
    for case in cases:
        if case.form.name not in functions:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            text = access_kernels.kernel(case.form).encode() + b"\0"
            code = cuda.cuModuleLoadData(ctypes.byref(module), text)
            if code:
                raise SystemExit(f"{case.form.name}: cuModuleLoadData returned {code}\n{text.decode()}")
            driver.call("cuModuleGetFunction", ctypes.byref(function), module, case.form.name.encode())
            functions[case.form.name] = function
        source = np.ascontiguousarray(case.offsets)
        driver.call("cuMemsetD8_v2", data, ctypes.c_ubyte(0), ctypes.c_size_t(1 << 16))
        driver.call(
            "cuMemcpyHtoD_v2", table, source.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(source.nbytes)
        )
        held = [data, table, never]
        pointers = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.byref(h), ctypes.c_void_p) for h in held))
        driver.call(
            "cuLaunchKernel", functions[case.form.name], case.blocks, 1, 1, case.block, 1, 1, 0, None,
            pointers, None,
        )  # fmt: skip
        driver.call("cuCtxSynchronize")


def main() -> int:
    sets = {"--launch": access_cases.cases, "--launch-for-bytes": access_cases.byte_cases}
    if sys.argv[1] in sets:
        launch(sets[sys.argv[1]]())
        return 0
    output, programs = Path(sys.argv[1]), dict(argument.split("=", 1) for argument in sys.argv[2:])
    metrics, patched = available(METRICS), available(PATCHED)
    _say(f"{len(metrics)} metrics: {', '.join(metrics)}; {', '.join(patched)}")
    kernels: dict[str, Counters] = {}
    for option, names in (("--launch", metrics), ("--launch-for-bytes", patched)):
        measured = profile([sys.executable, __file__, option], names)
        cases = sets[option]()
        if [name for name, _ in measured] != [case.form.name for case in cases]:
            raise SystemExit(f"{len(measured)} kernels profiled, {len(cases)} launched")
        for case, (_, counters) in zip(cases, measured, strict=True):
            kernels.setdefault(case.name, {}).update(counters)
        _say(f"{option}: done")
    others = {name: profile(shlex.split(program), metrics) for name, program in programs.items()}
    smi = _output(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]).strip()
    ncu = re.search(r"Version (\S+)", _output(["ncu", "--version"]))
    device, driver = (part.strip() for part in smi.split(","))
    about = {"device": device, "driver": driver, "ncu": ncu.group(1) if ncu else ""}
    output.write_text(document(about, metrics, patched, kernels, others))
    _say(f"{about}: {len(kernels)} cases, {len(others)} programs")
    return 0


def document(
    about: dict[str, str],
    metrics: list[str],
    patched: list[str],
    cases: dict[str, Counters],
    programs: dict[str, list[tuple[str, Counters]]],
) -> str:
    """The JSON text: a line for each launch, with the metrics that are not zero.

    `metrics` were counted for all of them, `metrics_of_bytes` for `access_cases.byte_cases` alone.
    """
    lines = [f'"about": {json.dumps(about)}']
    lines += [
        f'"metrics": {json.dumps(metrics, indent=1)}',
        f'"metrics_of_bytes": {json.dumps(patched, indent=1)}',
    ]
    rows = [f"  {json.dumps(name)}: {json.dumps(_not_zero(counters))}" for name, counters in cases.items()]
    lines.append('"cases": {\n' + ",\n".join(rows) + "\n}")
    entries = [
        f"  {json.dumps(name)}: [\n"
        + ",\n".join(f"    {json.dumps([kernel, _not_zero(counters)])}" for kernel, counters in launches)
        + "\n  ]"
        for name, launches in programs.items()
    ]
    lines.append('"programs": {\n' + ",\n".join(entries) + "\n}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _not_zero(counters: Counters) -> Counters:
    return {name: value for name, value in counters.items() if value}


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        raise SystemExit(f"{' '.join(command)[:300]}: {done.returncode}\n{said}")
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
