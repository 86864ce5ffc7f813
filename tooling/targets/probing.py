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
from tooling.text import Text

SIMULATED = Target(TargetKind.SIM, "simulated GPU", "sm_90a", (9, 0), gpus=8)
SIMULATED_AMD = Target(TargetKind.SIM_AMD, "simulated AMD GPU (gfx942)", "gfx942")
SIMULATED_GFX1100 = Target(TargetKind.SIM_GFX1100, "simulated AMD GPU (gfx1100)", "gfx1100")
SIMULATED_GPUS = {each.kind: each for each in (SIMULATED, SIMULATED_AMD, SIMULATED_GFX1100)}
_ELSEWHERE = Text(
    "use a Linux machine with an x86-64 processor: a container, a virtual machine or GitHub Codespaces"
)
_LINUX_ONLY = Text("the simulated GPU runs on Linux only")
_X86_64_ONLY = Text("the simulated GPU runs on x86-64 only, not on {machine}")
_USE_SIMULATED = Text("`--target sim` runs it on the simulated GPU")
_SIMULATED_ELSEWHERE = Text("the simulated GPU needs Linux on x86-64: {hint}")
_CHECK = Text("check `{command}`; {otherwise}")
_NVIDIA_ON_LINUX = Text("Mojo uses NVIDIA GPUs on Linux only")
_HIDDEN = Text("CUDA_VISIBLE_DEVICES={visible!r} hides all GPUs")
_NO_NVIDIA_DRIVER = Text("no NVIDIA driver is installed (libnvidia-ml.so.1 is missing)")
_NVIDIA_FAILS = Text("the NVIDIA driver does not start (nvmlInit: error {status})")
_NVIDIA_SEES_NONE = Text("the NVIDIA driver sees no GPU")
_AMD_ON_LINUX = Text("Mojo uses AMD GPUs on Linux only")
_NO_AMD_DRIVER = Text("no AMD GPU driver is loaded (no /sys/class/kfd)")
_AMD_CLOSED = Text("the AMD GPU ({accelerator}) is there, but /dev/kfd cannot be opened")
_JOIN_GROUPS = Text("join the groups `render` and `video`")
_AMD_SEES_NONE = Text("the AMD driver sees no GPU")
_NO_APPLE = Text("this is not a Mac with Apple silicon")
_UNKNOWN_APPLE = Text("unknown Apple chip {chip!r}")
_REPORT_APPLE = Text("report it, with the name of your Mac")
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
        return Absence(kind, _LINUX_ONLY, _ELSEWHERE)
    if platform.machine() != "x86_64":
        return Absence(kind, _X86_64_ONLY.of(machine=platform.machine()), _ELSEWHERE)
    return SIMULATED_GPUS[kind]


def _without_gpu() -> Text:
    """What to do without the GPU that was looked for."""
    simulated = probe(TargetKind.SIM)
    if isinstance(simulated, Target):
        return _USE_SIMULATED
    return _SIMULATED_ELSEWHERE.of(hint=simulated.hint)


def nvidia_accelerator(compute: tuple[int, int]) -> str:
    """Mojo's name of a compute capability: 8.0 is sm_80; from 9.0 on, sm_90a with its extensions."""
    suffix = "a" if compute in _WITH_EXTENSIONS else ""
    return f"sm_{compute[0]}{compute[1]}{suffix}"


def amd_accelerator(version: int) -> str:
    """Mojo's name of a `gfx_target_version` in sysfs: 90402 is gfx942, 110001 is gfx1101."""
    major, minor, step = version // 10000, version // 100 % 100, version % 100
    return f"gfx{major}{minor:x}{step:x}"


def _nvidia() -> Target | Absence:
    def absent(reason: Text) -> Absence:
        return Absence(TargetKind.NVIDIA, reason, _CHECK.of(command="nvidia-smi", otherwise=_without_gpu()))

    if sys.platform != "linux":
        return Absence(TargetKind.NVIDIA, _NVIDIA_ON_LINUX, _without_gpu())
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.split(",")[0].strip() in ("", "-1", "none", "NoDevFiles"):
        return absent(_HIDDEN.of(visible=visible))
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return absent(_NO_NVIDIA_DRIVER)
    status = library.nvmlInit_v2()
    if status != 0:
        return absent(_NVIDIA_FAILS.of(status=status))
    try:
        return _first_nvidia(library, visible) or absent(_NVIDIA_SEES_NONE)
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
    gpus = len([each for each in visible.split(",") if each.strip()]) if visible else count.value
    return Target(TargetKind.NVIDIA, device, nvidia_accelerator(compute), compute, gpus)


def _amd(nodes: Path) -> Target | Absence:
    hint = _CHECK.of(command="rocminfo", otherwise=_without_gpu())
    if sys.platform != "linux":
        return Absence(TargetKind.AMD, _AMD_ON_LINUX, _without_gpu())
    if not nodes.is_dir():
        return Absence(TargetKind.AMD, _NO_AMD_DRIVER, hint)
    for node in sorted(nodes.iterdir()):
        try:
            properties = (node / "properties").read_text("ascii", "replace")
        except OSError:
            continue  # a node of another container is not readable
        match = re.search(r"^gfx_target_version (\d+)$", properties, re.MULTILINE)
        if match and int(match.group(1)):
            accelerator = amd_accelerator(int(match.group(1)))
            if not os.access("/dev/kfd", os.R_OK | os.W_OK):
                return Absence(TargetKind.AMD, _AMD_CLOSED.of(accelerator=accelerator), _JOIN_GROUPS)
            return Target(TargetKind.AMD, f"AMD GPU ({accelerator})", accelerator)
    return Absence(TargetKind.AMD, _AMD_SEES_NONE, hint)


def _apple() -> Target | Absence:
    if sys.platform != "darwin" or platform.machine() != "arm64":
        return Absence(TargetKind.APPLE, _NO_APPLE, _without_gpu())
    chip = _sysctl(b"machdep.cpu.brand_string")
    match = re.search(r"\bM(\d+)\b", chip)
    if not match:
        return Absence(TargetKind.APPLE, _UNKNOWN_APPLE.of(chip=chip), _REPORT_APPLE)
    return Target(TargetKind.APPLE, chip, f"apple-m{match.group(1)}")


def _sysctl(name: bytes) -> str:
    library = ctypes.CDLL(None)
    size = ctypes.c_size_t(256)
    buffer = ctypes.create_string_buffer(size.value)
    if library.sysctlbyname(name, buffer, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
        return ""
    return buffer.value.decode("ascii", "replace")
