"""Problems that the end of a program shows: limits, signals, failures of the GPU, errors of its own."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from tooling.execution.program import Ending, Transcript, excess_facts
from tooling.judging.verdict import Problem, SourceLine, explained
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.simulator.server.stopped import StoppedKernel

_GPU_FAILURE = re.compile(
    r"CUDA_ERROR_(?:ILLEGAL|LAUNCH|MISALIGNED|INVALID_PC|ASSERT|HARDWARE)\w*|hipErrorIllegal\w*"
)
_REFUSED = re.compile(r"^simulated GPU: (?!the program asks for times)(.+)$", re.MULTILINE)
_REFUSED_CALL = re.compile(r"Unhandled exception caught during execution: (?:.*/)?(\S+\.mojo:\d+:\d+)")
_UNCAUGHT = re.compile(r"Unhandled exception caught during execution: (.*)")
_LINE_NUMBER = re.compile(r"\S\.mojo:\d+|^\s*File .*, line \d+", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b.*")


_STOPPED_AFTER = Text("stopped after {seconds:.0f} s")
_ENDLESS_OUTPUT = Text("its output did not end")


def stopped_program(
    transcript: Transcript, launches: int | None, stopped: StoppedKernel | None
) -> list[Problem]:
    """How the program ended, if not by itself: a limit, a signal, or a failure of the GPU.

    Args:
        launches, stopped: as in `Evidence`.
    """
    if transcript.ending is Ending.TIME_LIMIT:
        detail = _STOPPED_AFTER.of(seconds=transcript.seconds)
        if stopped and stopped.kind.name == "TIME_LIMIT":
            facts = _facts(stopped, detail)
            text = "launch-too-large" if stopped.large_launch else "kernel-endless"
            return [explained("time-limit", text=text, **facts)]
        return [explained("time-limit", detail=detail)]
    if transcript.ending is Ending.OUTPUT_LIMIT:
        return [explained("time-limit", detail=_ENDLESS_OUTPUT)]
    if transcript.excess:
        problem = explained("time-limit", text=transcript.ending.value, **excess_facts(transcript.excess))
        return [
            replace(problem, line=SourceLine(str(stopped.position), stopped.text)) if stopped else problem
        ]
    gpu_failure = _GPU_FAILURE.search(transcript.stderr)
    if transcript.ending is Ending.SIGNALLED and transcript.status == signal.SIGKILL and not stopped:
        return [explained("crash", text="killed", detail=transcript.signal_name)]
    if transcript.ending is Ending.SIGNALLED:
        detail_of_crash = transcript.signal_name
    elif gpu_failure and transcript.status != 0:
        detail_of_crash = gpu_failure.group(0)
    else:
        return []
    if stopped:
        problem = explained("crash", text="kernel-stopped", **_facts(stopped, stopped.why))
        return [replace(problem, line=SourceLine(str(stopped.position), stopped.text))]
    on_host = launches is not None  # the simulated GPU reports the kernel that it stopped
    return [explained("crash", text="crash-on-host" if on_host else "", detail=detail_of_crash)]


def _facts(stopped: StoppedKernel, detail: Text) -> dict[str, Any]:
    """The facts of a sentence about a kernel that was stopped."""
    location = f"{stopped.position} (`{stopped.text}`)" if stopped.text else str(stopped.position)
    thread, block = str(stopped.thread), str(stopped.block)
    counts = {"blocks": stopped.blocks, "threads": stopped.threads, "finished": stopped.finished}
    return {
        "kernel": stopped.name,
        "location": location,
        "thread": thread,
        "block": block,
        "detail": detail,
        **(counts if stopped.large_launch else {}),
    }


def own_error(transcript: Transcript) -> bool:
    """Whether the program ended by itself with an error, not by a failure of the GPU."""
    failed = transcript.ending is Ending.EXITED and transcript.status != 0
    return failed and not _GPU_FAILURE.search(transcript.stderr)


def error_before_results(transcript: Transcript) -> Problem:
    """The program ended with an error before it had handed in all results."""
    failure = _failure(transcript)
    call = _REFUSED_CALL.search(transcript.stderr)
    if call and _REFUSED.search(transcript.stderr):
        return explained("program-error", text="call-refused", detail=failure, position=call.group(1))
    text = (
        "program-ended-early" if _LINE_NUMBER.search(transcript.stderr) else "program-ended-early-somewhere"
    )
    return explained("program-error", text=text, detail=failure)


def error_after_results(transcript: Transcript) -> Problem:
    """The program handed in all results, and then ended with an error."""
    text = "" if _LINE_NUMBER.search(transcript.stderr) else "program-error-somewhere"
    return explained("program-error", text=text, detail=_failure(transcript))


def _failure(transcript: Transcript) -> str:
    """One line about a program that exited with an error."""
    refused = _REFUSED.search(transcript.stderr)
    if refused:
        return refused.group(1)  # the exception that Mojo raises has only the driver's error code
    uncaught = _UNCAUGHT.search(transcript.stderr)
    if uncaught:
        return uncaught.group(1).strip()
    _, traceback, raised = transcript.stderr.rpartition(_TRACEBACK)
    lines = [line for line in transcript.stderr.splitlines() if line.strip()]
    if traceback:  # a message may have several lines; the first one names the exception
        lines = [line for line in raised.splitlines() if _RAISED.match(line)][:1] or lines
    return f"exit status {transcript.status}" + (f": {lines[-1].strip()}" if lines else "")
