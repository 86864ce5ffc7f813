"""Runs one entry of a defect kernel on the simulated GPU, with all checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

import numpy as np

from tests.simulator.helpers import findings_of
from tooling.simulator.checks.findings import Check, Finding
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine import engine
from tooling.simulator.engine.launch_state import Limits
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.nvidia.ptx.reader import parse_module

FOLDER = Path(__file__).parent / "defects"

BASE = 1 << 32
LANE_INSTRUCTIONS = 200_000
"""A kernel that waits forever is stopped after this many."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a kernel is launched with.

    Attributes:
        threads, blocks, cluster: x extents; `elements` of both buffers (4 bytes each).
        freed: free `a` before the launch.
        unwritten: `out` is not filled by the host; read_back: the host copies it back at the end.
    """

    threads: int = 64
    blocks: int = 1
    cluster: int = 1
    elements: int = 256
    freed: bool = False
    unwritten: bool = False
    read_back: bool = False


class _Host:
    """The host's side: memory, and checks that receive its operations."""

    def __init__(self, checks: Iterable[str]) -> None:
        self.memory = DeviceMemory(np.zeros(1 << 16, np.uint8), BASE)
        self.checks = make_checks(checks)

    def buffer(self, size: int, *, written: bool = True) -> int:
        address = self.memory.allocate(size)
        allocation = self.memory.containing(address)
        assert allocation is not None
        for check in self.checks:
            check.allocate(allocation)
            if written:
                self.memory.view(address, size)[:] = 0
                check.host_write(self.memory, address, size)
        return address

    def free(self, address: int) -> None:
        allocation = self.memory.free(address)
        for check in self.checks:
            check.free(allocation)


def run(
    name: str,
    entry: str,
    setting: Setting,
    schedule: str = "lockstep",
    *,
    checks: Iterable[str] = tuple(Check),
    file: str | None = None,
) -> list[Finding]:
    """The findings of entry `wrong` or `right` of `defects/<name>.ptx`, as if compiled from `file`."""
    text = (FOLDER / f"{name}.ptx").read_text()
    if file is not None:
        text = text.replace(f'"{PurePath(name).name}.mojo"', f'"{file}"')
    module = parse_module(text)
    host = _Host(checks)
    size = 4 * setting.elements
    a, out = host.buffer(size), host.buffer(size, written=not setting.unwritten)
    if setting.freed and entry == "wrong":
        host.free(a)
    launch = Launch(
        module.kernels[entry],
        Dim3(setting.blocks),
        Dim3(setting.threads),
        Dim3(setting.cluster),
        parameters=a.to_bytes(8, "little") + out.to_bytes(8, "little"),
    )
    limits = Limits(lane_instructions=LANE_INSTRUCTIONS)
    engine.run(launch, module, host.memory, host.checks, schedule, limits=limits)
    if setting.read_back:
        for check in host.checks:
            check.host_read(host.memory, out, size)
    return findings_of(host.checks)
