"""What is known about one run with one data set, before it is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.catalog.model import Criterion, Mode, Output
from tooling.execution.channel import BufferContent
from tooling.execution.program import Ending, Transcript
from tooling.judging.reference import ReferenceCase

if TYPE_CHECKING:
    from tooling.simulator.checks.findings import Finding
    from tooling.simulator.checks.happens_before.copy_times import CopyTimes
    from tooling.simulator.counters.profile import KernelProfile
    from tooling.simulator.server.provenance import Provenance
    from tooling.simulator.server.stopped import StoppedKernel


class Evidence(Struct, frozen=True, eq=False):
    """The facts of a run of a judged mode.

    Attributes:
        mode: with its sizes on the GPU (`Mode.sized`).
        case: the reference's inputs and outputs.
        used, submitted: the buffers of the lab folder.
        findings: what the simulated GPU's checks reported.
        launches: how many kernels were launched; None where that is not known.
        kernels: their profiles; None where nothing was counted.
        stopped: the kernel that the simulated GPU stopped.
        provenance: where the results came from, and the launches; None where that is not known.
        copies: between host and GPU; None where their order is not known.
        lockstep: the simulated GPU executes the threads of a warp together, so that it reports no missing
            barrier between them.
    """

    mode: Mode
    case: ReferenceCase
    transcript: Transcript
    used: Mapping[str, BufferContent]
    submitted: Mapping[str, BufferContent]
    findings: Sequence[Finding] = ()
    launches: int | None = None
    kernels: Sequence[KernelProfile] | None = None
    stopped: StoppedKernel | None = None
    provenance: Provenance | None = None
    copies: CopyTimes | None = None
    lockstep: bool = False

    @property
    def finished(self) -> bool:
        """The program ended by itself, without an error."""
        return self.transcript.ending is Ending.EXITED and self.transcript.status == 0

    @property
    def missing(self) -> tuple[Output, ...]:
        """The outputs that the program did not hand in."""
        return tuple(output for output in self.mode.outputs if output.name not in self.submitted)

    @property
    def block_sizes(self) -> frozenset[int] | None:
        """The threads per block of each launch with several blocks; None where that is not known."""
        if self.provenance is None:
            return None
        several = (launch for launch in self.provenance.launches if launch.grid.count > 1)
        return frozenset(launch.block.count for launch in several)

    @property
    def judged_counters(self) -> tuple[Criterion, ...]:
        """The criteria that the counts decide; without counts, and on a GPU whose counts no profiler has
        confirmed, not all of the mode's."""
        if self.kernels is None:
            return ()
        confirmed = all(kernel.rules.measured for kernel in self.kernels)
        return tuple(each for each in self.mode.counters if confirmed or each.metric.portable)

    @property
    def unjudged_counters(self) -> tuple[Criterion, ...]:
        """The other criteria of the mode."""
        judged = self.judged_counters
        return tuple(each for each in self.mode.counters if each not in judged)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The keys of what nothing was recorded for: on a real GPU the mode's requirements, and `checks`,
        those of the simulated one; `lockstep` where threads share memory whose races were not all checked.
        """
        mode = self.mode
        found = ["counters"] if self.unjudged_counters else []
        found += ["overlap"] if mode.overlap is not None and self.copies is None else []
        if self.provenance is None:
            facts = {"launch": mode.launch, "threads": mode.threads, "shared_memory": mode.shared_memory}
            found += [name for name, required in facts.items() if required is not None]
            found.append("checks")
        elif self.lockstep and any(each.reads_shared for each in self.provenance.launches):
            found.append("lockstep")
        return tuple(found)
