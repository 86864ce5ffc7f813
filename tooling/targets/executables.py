"""The GPUs that an executable of the Mojo compiler has code for, by the texts that it embeds."""

from __future__ import annotations

import mmap
import re
from pathlib import Path

from tooling.catalog.model import Vendor
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.targets.probing import SIMULATED_GPUS
from tooling.text import Text

_PTX = re.compile(rb"\.target (sm_\d+[af]?)\b")
_AMD = re.compile(rb"\b(gfx\d{2,3}[0-9a-f])\b")
_SIMULATED = (9, 0)
_PTX_NAME = re.compile(r"sm_(\d+)(\d)([af]?)")

_WHAT = Text("`{program}` was built for {accelerators}, and the simulated GPU is of the kind {simulated}")
_WHY = Text("an executable contains machine code or PTX for the GPUs that it was built for, and for no other")
_TRY = Text("build it with `mojo build --target-accelerator {simulated}`, or give the .mojo file instead")
_OWN_GPU = Text("simulate the GPU that it was built for: `tooling simulate --gpu {gpu} -- …`")


class OtherAccelerator(ToolingError):
    """An executable has no code for the simulated GPU."""

    exit_code = ExitCode.NOT_POSSIBLE


def accelerators_of(program: Path) -> tuple[str, ...]:
    """The GPUs that an executable has code for, such as `sm_90a` or `gfx942`; empty where none is found."""
    try:
        with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content[:4] != b"\x7fELF":
                return ()
            found = [*_PTX.findall(content), *_AMD.findall(content)]
    except (OSError, ValueError):  # an empty file cannot be mapped
        return ()
    return tuple(sorted({name.decode() for name in found}))


def require_code_for(program: Path, accelerator: str) -> None:
    """Checks that an executable can run on the simulated GPU.

    Raises:
        OtherAccelerator: it has code for other GPUs only.
    """
    found = accelerators_of(program)
    if found and not any(_runs(name, accelerator) for name in found):
        names = ", ".join(found)
        amd = (gpu.accelerator for gpu in SIMULATED_GPUS.values() if gpu.kind.vendor is Vendor.AMD)
        own = next((name for name in amd if name in found), None)
        raise OtherAccelerator(
            _WHAT.of(program=program.name, accelerators=names, simulated=accelerator),
            where=Location(program),
            why=_WHY,
            hint=_OWN_GPU.of(gpu=own) if own else _TRY.of(simulated=accelerator),
        )


def _runs(name: str, accelerator: str) -> bool:
    """Whether code with this name runs: PTX for compute capability 9.0 or, without a suffix, for less."""
    match = _PTX_NAME.fullmatch(name)
    if not match or not accelerator.startswith("sm_"):
        return name == accelerator
    compute = (int(match.group(1)), int(match.group(2)))
    return compute == _SIMULATED or (compute < _SIMULATED and not match.group(3))
