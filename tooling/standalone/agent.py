"""Runs programs on the machine of the GPU. `connection.py` sends it there; it needs only Python 3.9.

It reads requests from standard input and writes answers to standard output, one JSON object in a line each;
an answer has the `id` of its request. When the input ends, as it does when the other side is gone, it ends
all programs and itself. What is sent is kept in a folder of the user's cache, by the hash of its content.
"""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

# `connection.py` sends this module along.
from tooling.standalone.run_bundle import STOPPED, buffers, program_environment, run_limited

Record = dict[str, Any]

_VERSION = 1
_UNUSED_FOR = 30 * 24 * 3600  # seconds, after which an object is removed
_ABANDONED_AFTER = 24 * 3600  # seconds; no run takes so long
_LAB = "gpu-puzzle-run-"  # begins the names of the folders of runs
_AT_ONCE = 16
_NOT_HASH = set("0123456789abcdef").isdisjoint
_write = threading.Lock()


def main() -> None:
    with contextlib.suppress(ValueError):
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: os.close(0))  # ends the input
    answer({"agent": _VERSION, "boot": boot_identity(), "python": list(sys.version_info[:3])})
    pool = concurrent.futures.ThreadPoolExecutor(_AT_ONCE)
    try:
        for line in sys.stdin.buffer:
            request = json.loads(line)
            operation = OPERATIONS[request["op"]]
            if request["op"] == "run":
                pool.submit(reply, operation, request)
            else:
                reply(operation, request)
    except (OSError, ValueError):
        pass  # the connection was lost, also within a line
    finally:
        STOPPED.set()
        pool.shutdown()


def answer(record: Record) -> None:
    with _write, contextlib.suppress(OSError):  # nobody listens any more
        sys.stdout.write(json.dumps(record) + "\n")
        sys.stdout.flush()


def reply(operation: Any, request: Record) -> None:
    try:
        answer({"id": request["id"], **operation(request)})
    except Exception as error:  # noqa: BLE001 - the other side reports it
        answer({"id": request["id"], "error": f"{type(error).__name__}: {error}"})


def store() -> Path:
    """The folder of what was sent, which only this user can read.

    Raises:
        OSError: it cannot be made, or belongs to somebody else.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "gpu-puzzle-lab-runs"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise PermissionError(f"{folder} can be changed by other users")
    return folder


def object_path(name: str) -> Path:
    if len(name) != 64 or any(map(_NOT_HASH, name)):
        raise ValueError(f"{name!r} is not the name of an object")
    return store() / name


def have(request: Record) -> Record:
    """Which of these objects are not here; those that are count as used."""
    missing = []
    for name in request["names"]:
        try:
            os.utime(object_path(name))
        except FileNotFoundError:
            missing.append(name)
    remove_unused()
    return {"missing": missing}


def remove_unused() -> None:
    """Removes objects that were not used for long, and the folders of runs whose agent was killed."""
    oldest = time.time() - _UNUSED_FOR
    for path in store().iterdir():
        with contextlib.suppress(OSError):
            if path.lstat().st_mtime < oldest:
                shutil.rmtree(str(path)) if path.is_dir() else path.unlink()

    abandoned = time.time() - _ABANDONED_AFTER
    for path in Path(tempfile.gettempdir()).glob(f"{_LAB}*"):
        with contextlib.suppress(OSError):
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and status.st_mtime < abandoned:
                shutil.rmtree(str(path))


def put(request: Record) -> Record:
    """Writes an object, whole or not at all."""
    path, content = object_path(request["name"]), base64.b64decode(request["content"])
    if hashlib.sha256(content).hexdigest() != request["name"]:
        raise ValueError("it was changed on its way")
    handle, partial = tempfile.mkstemp(dir=str(path.parent), prefix="partial-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(partial).chmod(0o700)
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink()
        raise
    return {}


def run(request: Record) -> Record:
    """Runs a program in a lab folder of its own; returns what it printed and the buffers that it wrote."""
    lab = Path(tempfile.mkdtemp(prefix=_LAB))
    try:
        for name in ("in", "used", "out", "lib"):  # `lab` does not make them
            (lab / name).mkdir()
        for name, content in request["inputs"].items():
            (lab / "in" / f"{name}.bin").symlink_to(object_path(content))
        for name, content in request["libraries"].items():
            (lab / "lib" / name).symlink_to(object_path(content))
        environment = {**program_environment(lab / "lib", lab), **request["environment"]}
        if request["scripts"]:
            command = script_command(request, lab / "code", environment)
        else:
            command = [str(object_path(request["program"]))]
        command += request["flags"]
        result = run_limited(command, environment, lab, request["time_limit"])
        limit = request["largest_buffer"]
        return {
            "run": result,
            "used": buffers(lab / "used", limit),
            "out": buffers(lab / "out", limit),
            "irregular": [
                f"{path.parent.name}/{path.name}"
                for path in (*lab.glob("used/*.bin"), *lab.glob("out/*.bin"))
                if not stat.S_ISREG(path.lstat().st_mode)
            ],
        }
    finally:
        shutil.rmtree(str(lab), ignore_errors=True)


def script_command(request: Record, folder: Path, environment: dict[str, str]) -> list[str]:
    """Writes the files of a program in Python; returns its command without flags, and sets its variables."""
    for name, content in request["scripts"].items():
        path = folder / name
        if ".." in path.parts or not str(path).startswith(f"{folder}/"):
            raise ValueError(f"{name!r} is not the name of a file of a program")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(str(object_path(content)), str(path))
    found = [str(folder / name) for name in request["script_path"]]
    inherited = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join(found + ([inherited] if inherited else []))
    environment.update(PYTHONUNBUFFERED="1", PYTHONDONTWRITEBYTECODE="1")
    return [sys.executable, str(folder / request["main"])]


def facts(_request: Record) -> Record:
    """The machine, as far as it matters for building a program for it."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "glibc": platform.libc_ver()[1],
        "processor": sorted(processor_features()),
        "nvidia": output_of("nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"),
        "amd": amd_versions(),
        "apple": output_of("sysctl", "-n", "machdep.cpu.brand_string"),
        "max": has_package("max", "engine"),
        "torch": has_package("torch", "cuda"),
    }


def has_package(name: str, part: str) -> bool:
    """Whether this Python finds a package with this folder or module, which is not imported."""
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(name)
        folders = (spec and spec.submodule_search_locations) or ()
        return any(list(Path(folder).glob(part + "*")) for folder in folders)
    return False


def output_of(*command: str) -> str:
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def processor_features() -> set[str]:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith("flags"):
                return set(line.partition(":")[2].split())
    return set()


def amd_versions() -> list[int]:
    """The `gfx_target_version` of each AMD GPU that this user can open."""
    found = []
    for properties in sorted(Path("/sys/class/kfd/kfd/topology/nodes").glob("*/properties")):
        with contextlib.suppress(OSError, ValueError):
            for line in properties.read_text("ascii", "replace").splitlines():
                name, _, value = line.partition(" ")
                if name == "gfx_target_version" and int(value) and os.access("/dev/kfd", os.R_OK | os.W_OK):
                    found.append(int(value))
    return found


def boot_identity() -> str:
    """Names the machine and its start: a container of another machine has another one."""
    with contextlib.suppress(OSError):
        return f"{platform.node()} {Path('/proc/sys/kernel/random/boot_id').read_text('ascii').strip()}"
    return platform.node()


def clean(_request: Record) -> Record:
    folder = store()
    size = sum(path.lstat().st_size for path in folder.iterdir())
    shutil.rmtree(str(folder))
    return {"folder": str(folder), "bytes": size}


OPERATIONS = {"have": have, "put": put, "run": run, "facts": facts, "clean": clean}
