"""Records what the CUDA driver of this machine compiles PTX to when a program loads it.

usage: python3 record_driver_code.py PTX_FOLDER FOLDER

Needs libcuda.so.1 alone. For each `*.ptx`, FOLDER gets the driver's machine code as `<name>.cubin`, from the
cache that the driver keeps of what it has compiled, and `driver.json` gets the device, the driver, and the
resources that it reports for each kernel (`cuFuncGetAttribute`). `cuLinkComplete` is of no use here: it
compiles for linking, and its code needs other registers.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import tempfile
from pathlib import Path

_ENTRY = re.compile(rb"\.entry\s+([\w$]+)")
_ATTRIBUTES = {"shared": 1, "local": 3, "registers": 4}  # CUfunction_attribute
_ELF = b"\x7fELF"


class Driver:
    """libcuda with a context on device 0."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        device, context, name = ctypes.c_int(), ctypes.c_void_p(), ctypes.create_string_buffer(256)
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuDeviceGetName", name, 256, device)
        self.device = name.value.decode()

    def call(self, function: str, *arguments: object) -> None:
        """Call a function of the driver. Raises RuntimeError: it failed."""
        status = getattr(self._cuda, function)(*arguments)
        if status:
            raise RuntimeError(f"{function}: CUresult {status}")

    def resources(self, ptx: bytes) -> dict[str, dict[str, int]]:
        """The resources of a module's kernels, by name."""
        module = ctypes.c_void_p()
        found: dict[str, dict[str, int]] = {}
        self.call("cuModuleLoadData", ctypes.byref(module), ptx + b"\0")
        for kernel in _ENTRY.findall(ptx):
            function, value = ctypes.c_void_p(), ctypes.c_int()
            self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel)
            own = found[kernel.decode()] = {}
            for name, number in _ATTRIBUTES.items():
                self.call("cuFuncGetAttribute", ctypes.byref(value), number, function)
                own[name] = value.value
        self.call("cuModuleUnload", module)
        return found


def main(ptx_folder: Path, folder: Path) -> None:
    """Record every file of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    cache = Path(tempfile.mkdtemp())
    os.environ |= {"CUDA_CACHE_PATH": str(cache), "CUDA_CACHE_DISABLE": "0"}
    driver = Driver()
    known: set[Path] = set()
    modules: dict[str, object] = {}
    for path in sorted(ptx_folder.glob("*.ptx")):
        modules[path.stem] = driver.resources(path.read_bytes())
        files = {file for file in cache.rglob("*") if file.is_file() and file.name != "index"}
        (new,) = files - known
        known = files
        content = new.read_bytes()
        (folder / f"{path.stem}.cubin").write_bytes(content[content.index(_ELF) :])
    release = Path("/proc/driver/nvidia/version").read_text().splitlines()[0]
    document = {"device": driver.device, "driver": release, "modules": modules}
    (folder / "driver.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
