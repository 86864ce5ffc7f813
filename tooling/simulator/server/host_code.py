"""The program's own code on the host: its addresses, and the source lines of return addresses in it."""

from __future__ import annotations

import functools
import mmap
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from tooling.simulator.checks.base import is_packaged
from tooling.simulator.checks.findings import SourcePosition
from tooling.simulator.server.lookups import LookupTimedOut

UNKNOWN = SourcePosition("", 0, 0, 0)
_RUNTIME = b"\0libAsyncRTMojoBindings.so\0"
"""An entry of the string table of every Mojo program that uses a GPU: it needs this library."""
_LAB = "lab"
"""The folder of the package through which puzzle programs pass their buffers to the judge."""


class HostCode(Struct, frozen=True):
    """Where a program is loaded.

    Attributes:
        low: first address of its executable code; high: one past the last.
        start: where its first segment is in the process.
    """

    path: Path
    low: int
    high: int
    start: int

    def position(self, callers: Sequence[int]) -> SourcePosition:
        """The innermost line of the author among return addresses, innermost first.

        `UNKNOWN` if the program has no line tables, or there is no time to read them (`lookups`).
        """
        from tooling.simulator.server.host_lines import positions  # noqa: PLC0415 - pyelftools, for findings

        try:
            chains = [one for call in callers if call for one in positions(self.path, call - 1, self.start)]
        except LookupTimedOut:
            return UNKNOWN
        own = [one for one in chains if not is_packaged(one.file)]
        return next((one for one in own if Path(one.file).parent.name != _LAB), next(iter(own), UNKNOWN))


def caller_position(code: HostCode | None, callers: Sequence[int]) -> Callable[[], SourcePosition]:
    """The line of a call, looked up only when a finding needs it."""
    return functools.partial(code.position, tuple(callers)) if code else lambda: UNKNOWN


def host_code(process: int) -> HostCode | None:
    """The code of a process; None unless it is a Mojo program that uses a GPU."""
    folder = Path("/proc") / str(process)
    try:
        path = (folder / "exe").readlink()
        areas = [line.split(maxsplit=5) for line in (folder / "maps").read_text("utf-8").splitlines()]
        own = [area for area in areas if len(area) == 6 and area[5] == str(path)]
        code = [area[0] for area in own if "x" in area[1]]
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if not code or data.find(_RUNTIME) < 0:
                return None
    except (OSError, ValueError):  # it has ended, or cannot be read
        return None
    ends = [int(end, 16) for area in code for end in area.split("-")]
    start = min(int(area[0].split("-")[0], 16) for area in own)
    return HostCode(path, min(ends), max(ends), start)
