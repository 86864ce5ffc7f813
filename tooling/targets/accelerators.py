"""From an accelerator's name, as `mojo build --target-accelerator` has it, to the GPU that it stands for."""

from __future__ import annotations

import re

from tooling.errors import ToolingError
from tooling.targets.model import Target, TargetKind

_NVIDIA = re.compile(r"sm_(\d+)(\d)[af]?")
_KINDS = (
    (_NVIDIA, TargetKind.NVIDIA),
    (re.compile(r"gfx[0-9a-f]+"), TargetKind.AMD),
    (re.compile(r"apple-m\d+"), TargetKind.APPLE),
)


class UnknownAccelerator(ToolingError):
    """No vendor's accelerators are named like this."""


def target_for(accelerator: str, device: str = "") -> Target:
    """The GPU of another machine, for which programs are built here.

    Args:
        accelerator: such as sm_90a (compute capability 9.0), gfx942, apple-m4.
        device: its name, for people; the accelerator's by default.

    Raises:
        UnknownAccelerator: the name is none of these.
    """
    for pattern, kind in _KINDS:
        match = pattern.fullmatch(accelerator)
        if match:
            compute = (int(match.group(1)), int(match.group(2))) if pattern is _NVIDIA else None
            return Target(kind, device or accelerator, accelerator, compute)
    raise UnknownAccelerator(
        f"`{accelerator}` names no accelerator", hint="such as sm_90a, gfx942 or apple-m4"
    )
