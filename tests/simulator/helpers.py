"""Shared by tests of the simulator: an executor that runs nothing, encoded requests, all findings."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from tooling.simulator.checks.base import CheckHook
from tooling.simulator.checks.findings import Finding
from tooling.simulator.engine.executor import Job
from tooling.simulator.engine.together import Pace, Turn
from tooling.simulator.gpu.code_model import Module
from tooling.simulator.gpu.launch import LaunchResult
from tooling.simulator.server.protocol import REQUEST_HEADER, REQUESTS, Opcode


class RecordOnly:
    """An executor that runs nothing: programs see an unsolved puzzle."""

    def prepare(self, module: Module) -> None:
        """Accepts any module."""

    schedule = "lockstep"

    def run(self, job: Job) -> LaunchResult:
        """An empty result."""
        return LaunchResult(instructions=0, lane_instructions=0, blocks=0)

    def start(self, job: Job, pace: Pace) -> Generator[Turn, None, LaunchResult]:
        """An empty result, without a turn."""
        yield from ()
        return self.run(job)


def encode_request(opcode: Opcode, *fields: int, tail: bytes = b"") -> bytes:
    """The bytes of a request."""
    body = REQUESTS[opcode].request.pack(*fields) + tail
    return REQUEST_HEADER.pack(opcode, len(body)) + body


def findings_of(checks: Iterable[CheckHook]) -> list[Finding]:
    """What all checks found, in their order."""
    return [finding for check in checks for finding in check.findings]
