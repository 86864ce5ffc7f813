"""The GPUs that the names of `mojo build --target-accelerator` denote."""

from __future__ import annotations

import re

from tooling.platform.errors import ToolingError
from tooling.targets.model import Target, TargetKind
from tooling.text import Text

_NVIDIA = re.compile(r"sm_(\d+)(\d)[af]?")
_KINDS = (
    (_NVIDIA, TargetKind.NVIDIA),
    (re.compile(r"gfx[0-9a-f]+"), TargetKind.AMD),
    (re.compile(r"apple-m\d+"), TargetKind.APPLE),
)


_ANY_NUMBER = 8
"""GPUs of a machine that is not known: its programs may use as many as a puzzle can need."""


class UnknownAccelerator(ToolingError):
    """The name has the form of no vendor's accelerators."""


def target_for(accelerator: str, device: str = "") -> Target:
    """A GPU of another machine, to build programs for.

    Args:
        accelerator: such as sm_90a (compute capability 9.0), gfx942, apple-m4.
        device: its name in messages; by default that of the accelerator.

    Raises:
        UnknownAccelerator: the name has none of these forms.
    """
    for pattern, kind in _KINDS:
        match = pattern.fullmatch(accelerator)
        if match:
            compute = (int(match.group(1)), int(match.group(2))) if pattern is _NVIDIA else None
            return Target(kind, device or accelerator, accelerator, compute, _ANY_NUMBER)
    raise UnknownAccelerator(
        Text("unknown accelerator `{accelerator}`").of(accelerator=accelerator),
        hint=Text("use a name such as sm_90a, gfx942 or apple-m4"),
    )
