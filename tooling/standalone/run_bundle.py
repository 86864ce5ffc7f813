#!/usr/bin/env python3
"""Runs the programs of this bundle on the GPU of this machine and collects their results.

    python3 run_bundle.py [--jobs N] [--only REGEX] [--prefix "compute-sanitizer --tool memcheck"]

Needs only Python's standard library (3.9 or newer) and the GPU's driver. Each program runs on each
data set of its mode under a time limit; stdout, stderr, exit status and the submitted buffers go into
results.json, which `tooling verify --judge results.json` judges on the machine that made the bundle.
Programs that need more GPUs than this machine has are left out.
Exit status: 0 when everything ran, whatever the results; 130 after Ctrl-C and 143 after SIGTERM, which end
all programs. The results that there are by then go into results.stopped.json, which can be judged as well;
results.json stays as an earlier run has left it.
"""

from __future__ import annotations

import argparse
import base64
import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path
from typing import Any

Record = dict[str, Any]

HERE = Path(__file__).resolve().parent
VERSION = 1
OUTPUT_LIMIT = 4 * 1024 * 1024  # bytes of stdout and stderr that are kept
BUFFER_LIMIT = 64 * 1024 * 1024  # bytes
SETPRIV = shutil.which("setpriv")  # of util-linux: ends a program when what started it is killed
STOPPED = threading.Event()  # set when the results are no longer needed


class Terminated(BaseException):
    """SIGTERM arrived."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the programs of this bundle on this machine's GPU.")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), help="programs at a time")
    parser.add_argument("--only", default="", help="a regular expression for the names to run")
    parser.add_argument("--shares", type=int, default=1, help="run only a share of them: of how many shares,")
    parser.add_argument("--share", type=int, default=0, help="and which one, from 0")
    parser.add_argument("--prefix", default="", help="a command to run each program under")
    parser.add_argument(
        "--buffers",
        type=int,
        default=BUFFER_LIMIT,
        metavar="BYTES",
        help="the largest buffer to return; of a larger one only the hash is kept (default: 64 MiB)",
    )
    parser.add_argument(
        "--time-factor", type=float, default=1.0, help="multiplies all time limits, for a slow --prefix"
    )
    parser.add_argument("-o", "--output", default=str(HERE / "results.json"))
    arguments = parser.parse_args()
    bundle = json.loads((HERE / "bundle.json").read_text("utf-8"))
    gpus = gpu_count(bundle["accelerator"])
    chosen = [entry for entry in bundle["entries"] if re.search(arguments.only, entry["id"])]
    for entry in chosen:
        if entry["gpus"] > gpus:
            say(f"left out: {entry['id']}: it needs {entry['gpus']} GPUs, and there is {gpus}")
    fitting = [entry for entry in chosen if entry["gpus"] <= gpus]
    runs = [(entry, dataset) for entry in fitting for dataset in entry["datasets"]]
    runs = runs[arguments.share :: arguments.shares]
    start = time.monotonic()
    results: list[Record] = []

    def write(output: str) -> None:
        report = {
            "version": VERSION,
            "bundle": bundle["accelerator"],
            "device": device_name(bundle["accelerator"]),
            "gpus": gpus,
            "seconds": round(time.monotonic() - start, 1),
            "results": results,
        }
        write_whole(Path(output), json.dumps(report))
        say(f"{len(results)} runs in {report['seconds']} s -> {output}")

    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        try:
            for result in pool.map(lambda run: run_entry(run[0], run[1], arguments), runs):
                results.append(result)
                name = f"{result['id']} ({result['dataset']})"
                say(f"[{len(results)}/{len(runs)}] {name}: {result['ending']} {result['status']}")
        except (
            BaseException
        ):  # also on an interrupt: the pool waits for its threads, these for their programs
            STOPPED.set()
            pool.shutdown(wait=False, cancel_futures=True)
            if results:
                write(str(Path(arguments.output).with_suffix(".stopped.json")))
            raise
    write(arguments.output)
    return 0


def write_whole(path: Path, text: str) -> None:
    """Writes a file; it is there whole, or as it was before."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, "utf-8")
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def run_entry(entry: Record, dataset: str, arguments: argparse.Namespace) -> Record:
    lab = Path(tempfile.mkdtemp(prefix="bundle-"))
    try:
        for name in ("used", "out"):  # `lab` does not make them
            (lab / name).mkdir()
        staged = entry["datasets"][dataset]
        if staged:
            shutil.copytree(str(HERE / staged), str(lab / "in"))
        environment = program_environment(HERE / "lib", lab)
        prefix = shlex.split(arguments.prefix)
        command = [*prefix, str(HERE / entry["executable"]), *entry["flags"]]
        seconds = (entry["time_limit"] + 10) * arguments.time_factor
        result = run_limited(command, environment, lab, seconds)
        used, out = (buffers(lab / name, arguments.buffers) for name in ("used", "out"))
        result.update(id=entry["id"], dataset=dataset, used=used, out=out)
        return result
    finally:
        shutil.rmtree(str(lab), ignore_errors=True)


def program_environment(libraries: Path, lab: Path) -> dict[str, str]:
    """The variables of a program, with the folders of its libraries and of the data that it hands in."""
    environment = dict(os.environ)
    search_path = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
    environment[search_path] = os.pathsep.join(
        [str(libraries)] + [path for path in [os.environ.get(search_path)] if path]
    )
    environment["MODULAR_TELEMETRY_ENABLED"] = "0"
    environment["PUZZLE_LAB_DIR"] = str(lab)
    return environment


def run_limited(command: list[str], environment: dict[str, str], lab: Path, limit: float) -> Record:
    start = time.monotonic()
    if SETPRIV:
        command = [SETPRIV, "--pdeathsig", "KILL", "--", *command]
    printed = [lab / "stdout", lab / "stderr"]
    with printed[0].open("wb") as stdout, printed[1].open("wb") as stderr:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=environment,
            start_new_session=True,
        )
        ending = "exited"
        while process.poll() is None:
            if STOPPED.is_set():
                ending = "stopped"
                break
            if time.monotonic() - start > limit:
                ending = "time-limit"
                break
            if sum(path.stat().st_size for path in printed) > OUTPUT_LIMIT:
                ending = "output-limit"
                break
            time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it may have ended already
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if ending == "exited" and process.returncode < 0:
        ending = "signalled"
    return {
        "ending": ending,
        "status": abs(process.returncode),
        "seconds": round(time.monotonic() - start, 3),
        "stdout": text(printed[0]),
        "stderr": text(printed[1]),
    }


def text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(OUTPUT_LIMIT).decode("utf-8", "replace")


def buffers(folder: Path, limit: int) -> Record:
    found: Record = {}
    if folder.is_dir():
        for path in sorted(folder.glob("*.bin")):
            name, _, dtype = path.name[: -len(".bin")].rpartition(".")
            if not stat.S_ISREG(path.lstat().st_mode):
                continue  # a pipe or a link to a device might never end: the result counts as not submitted
            size, packed, whole = path.stat().st_size, None, hashlib.sha256()
            if size <= limit:
                content = path.read_bytes()
                whole.update(content)
                packed = base64.b64encode(zlib.compress(content, 6)).decode("ascii")
            else:
                with path.open("rb") as file:
                    for piece in iter(lambda: file.read(1 << 20), b""):
                        whole.update(piece)
            found[name] = {"dtype": dtype, "bytes": size, "sha256": whole.hexdigest(), "zlib": packed}
    return found


def device_name(accelerator: str) -> str:
    if accelerator.startswith("sm_"):
        command = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    elif accelerator.startswith("gfx"):
        command = ["rocm-smi", "--showproductname", "--csv"]
    else:
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"unknown ({error})"


def gpu_count(accelerator: str) -> int:
    """How many GPUs a program can use; 1 for GPUs of which puzzles use only one."""
    if not accelerator.startswith("sm_"):
        return 1
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([each for each in visible.split(",") if each.strip()])
    return len(device_name(accelerator).splitlines())


def terminate(_signal: int, _frame: object) -> None:
    raise Terminated


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, terminate)
    try:
        status = main()
    except (KeyboardInterrupt, Terminated) as stop:
        sys.stderr.write("stopped\n")
        status = 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)
    sys.exit(status)
