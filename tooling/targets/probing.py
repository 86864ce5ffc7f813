"""Detects GPUs without starting a process: with NVML, sysfs and sysctl."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import re
import sys
from pathlib import Path

from tooling.targets.model import Absence, Target, TargetKind

SIMULATED = Target(TargetKind.SIM, "simulated GPU", "sm_90a", (9, 0))
SIMULATED_AMD = Target(TargetKind.SIM_AMD, "simulated AMD GPU (gfx942)", "gfx942")
SIMULATED_GFX1100 = Target(TargetKind.SIM_GFX1100, "simulated AMD GPU (gfx1100)", "gfx1100")
SIMULATED_GPUS = {each.kind: each for each in (SIMULATED, SIMULATED_AMD, SIMULATED_GFX1100)}
_ELSEWHERE = (
    "use a Linux machine with an x86-64 processor: a container, a virtual machine or GitHub Codespaces"
)
_KFD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")
_WITH_EXTENSIONS = ((9, 0), (10, 0), (10, 3), (11, 0), (12, 0), (12, 1))


@functools.cache
def probe(kind: TargetKind) -> Target | Absence:
    """The first GPU of a kind, or why there is none."""
    if kind is TargetKind.NVIDIA:
        return _nvidia()
    if kind is TargetKind.AMD:
        return _amd(_KFD_NODES)
    if kind is TargetKind.APPLE:
        return _apple()
    if sys.platform != "linux":
        return Absence(kind, "the simulated GPU runs on Linux only", _ELSEWHERE)
    if platform.machine() != "x86_64":
        return Absence(
            kind, f"the simulated GPU runs on x86-64 only, not on {platform.machine()}", _ELSEWHERE
        )
    return SIMULATED_GPUS[kind]


def _without_gpu() -> str:
    """What to do without the GPU that was looked for."""
    simulated = probe(TargetKind.SIM)
    if isinstance(simulated, Target):
        return "`--target sim` runs it on the simulated GPU"
    return f"the simulated GPU needs Linux on x86-64: {simulated.hint}"


def nvidia_accelerator(compute: tuple[int, int]) -> str:
    """Mojo's name of a compute capability: 8.0 is sm_80; from 9.0 on, sm_90a with its extensions."""
    suffix = "a" if compute in _WITH_EXTENSIONS else ""
    return f"sm_{compute[0]}{compute[1]}{suffix}"


def amd_accelerator(version: int) -> str:
    """Mojo's name of a `gfx_target_version` in sysfs: 90402 is gfx942, 110001 is gfx1101."""
    major, minor, step = version // 10000, version // 100 % 100, version % 100
    return f"gfx{major}{minor:x}{step:x}"


def _nvidia() -> Target | Absence:
    def absent(reason: str) -> Absence:
        return Absence(TargetKind.NVIDIA, reason, f"check `nvidia-smi`; {_without_gpu()}")

    if sys.platform != "linux":
        return Absence(TargetKind.NVIDIA, "Mojo uses NVIDIA GPUs on Linux only", _without_gpu())
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.split(",")[0].strip() in ("", "-1", "none", "NoDevFiles"):
        return absent(f"CUDA_VISIBLE_DEVICES={visible!r} hides all GPUs")
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return absent("no NVIDIA driver is installed (libnvidia-ml.so.1 is missing)")
    status = library.nvmlInit_v2()
    if status != 0:
        return absent(f"the NVIDIA driver does not start (nvmlInit: error {status})")
    try:
        return _first_nvidia(library, visible) or absent("the NVIDIA driver sees no GPU")
    finally:
        library.nvmlShutdown()


def _first_nvidia(library: ctypes.CDLL, visible: str | None) -> Target | None:
    count = ctypes.c_uint()
    first = visible.split(",")[0].strip() if visible else ""
    index = int(first) if first.isdigit() else 0
    if library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0 or index >= count.value:
        return None
    handle = ctypes.c_void_p()
    if library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle)) != 0:
        return None
    major, minor = ctypes.c_int(), ctypes.c_int()
    status = library.nvmlDeviceGetCudaComputeCapability(handle, ctypes.byref(major), ctypes.byref(minor))
    if status != 0:
        return None
    name = ctypes.create_string_buffer(96)
    library.nvmlDeviceGetName(handle, name, ctypes.c_uint(len(name)))
    compute = (major.value, minor.value)
    device = name.value.decode("utf-8", "replace") or "NVIDIA GPU"
    return Target(TargetKind.NVIDIA, device, nvidia_accelerator(compute), compute)


def _amd(nodes: Path) -> Target | Absence:
    hint = f"check `rocminfo`; {_without_gpu()}"
    if sys.platform != "linux":
        return Absence(TargetKind.AMD, "Mojo uses AMD GPUs on Linux only", _without_gpu())
    if not nodes.is_dir():
        return Absence(TargetKind.AMD, "no AMD GPU driver is loaded (no /sys/class/kfd)", hint)
    for node in sorted(nodes.iterdir()):
        try:
            properties = (node / "properties").read_text("ascii", "replace")
        except OSError:
            continue  # a node of another container is not readable
        match = re.search(r"^gfx_target_version (\d+)$", properties, re.MULTILINE)
        if match and int(match.group(1)):
            accelerator = amd_accelerator(int(match.group(1)))
            if not os.access("/dev/kfd", os.R_OK | os.W_OK):
                reason = f"the AMD GPU ({accelerator}) is there, but /dev/kfd cannot be opened"
                return Absence(TargetKind.AMD, reason, "join the groups `render` and `video`")
            return Target(TargetKind.AMD, f"AMD GPU ({accelerator})", accelerator)
    return Absence(TargetKind.AMD, "the AMD driver sees no GPU", hint)


def _apple() -> Target | Absence:
    if sys.platform != "darwin" or platform.machine() != "arm64":
        return Absence(TargetKind.APPLE, "this is not a Mac with Apple silicon", _without_gpu())
    chip = _sysctl(b"machdep.cpu.brand_string")
    match = re.search(r"\bM(\d+)\b", chip)
    if not match:
        return Absence(
            TargetKind.APPLE, f"unknown Apple chip {chip!r}", "report it, with the name of your Mac"
        )
    return Target(TargetKind.APPLE, chip, f"apple-m{match.group(1)}")


def _sysctl(name: bytes) -> str:
    library = ctypes.CDLL(None)
    size = ctypes.c_size_t(256)
    buffer = ctypes.create_string_buffer(size.value)
    if library.sysctlbyname(name, buffer, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
        return ""
    return buffer.value.decode("ascii", "replace")
