"""Programs of the folder `programs`, built for an accelerator, and the code objects in them."""

from __future__ import annotations

import functools
import re
from itertools import pairwise
from pathlib import Path

from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache

PROGRAMS = Path(__file__).parent / "programs"


@functools.cache
def program(name: str, accelerator: str = "gfx942") -> Path:
    """A program of the folder, built for an accelerator."""
    request = BuildRequest(PROGRAMS / f"{name}.mojo", accelerator=accelerator)
    return build(request, find_toolchain(), open_cache()).path


def code_objects(name: str, accelerator: str = "gfx942") -> list[bytes]:
    """The code objects inside a built program."""
    content = program(name, accelerator).read_bytes()
    starts = [match.start() for match in re.finditer(b"\\x7fELF\x02\x01\x01\x40", content)]
    return [content[start:end] for start, end in pairwise([*starts, len(content)])]
