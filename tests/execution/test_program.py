"""A program under its limits: what is kept of what it prints."""

from __future__ import annotations

import os
import sys

import pytest

from tooling.execution.program import Ending, run_program, without_noise

PRINTS = "import sys\nfor number in range(20000): print(f'{number:9}')\nprint('warned', file=sys.stderr)"


@pytest.mark.parametrize("kept", [0, 1000])
def test_of_streamed_output_only_the_end_is_kept(kept: int) -> None:
    streamed = bytearray()
    transcript = run_program(
        [sys.executable, "-c", PRINTS],
        environment=os.environ,
        time_limit=60,
        kept_output=kept,
        stream=streamed.extend,
    )
    whole = "".join(f"{number:9}\n" for number in range(20000))
    assert (transcript.ending, transcript.status, transcript.stderr) == (Ending.EXITED, 0, "warned\n")
    assert streamed.decode() == whole
    assert kept <= len(transcript.stdout) <= max(2 * kept, 1)
    assert whole.endswith(transcript.stdout)


def test_output_that_is_not_kept_counts_towards_the_limit() -> None:
    transcript = run_program(
        [sys.executable, "-c", PRINTS],
        environment=os.environ,
        time_limit=60,
        output_limit=100_000,
        kept_output=0,
    )
    assert transcript.ending is Ending.OUTPUT_LIMIT


def test_lines_of_the_runtime_about_debugging_are_left_out() -> None:
    said = (
        "stack trace was not collected. Enable it with `MODULAR_DEBUG`\nUnhandled exception: 1\n  left: 0.0\n"
    )
    assert without_noise(said) == "Unhandled exception: 1\n  left: 0.0\n"


def test_the_frames_of_a_stack_dump_are_left_out() -> None:
    frames = (
        " #0 0x00007f37dfacf328 AsyncRT_DeviceContext_release (/home/me/lib/libAsyncRT.so+0x45328)\n"
        "#10 0x000055c238201a35 p38::main() device_context.mojo:0:10\n"
    )
    said = "ABORT: an error of the device\n# 3 of 4\n"
    assert without_noise(f"Stack dump without symbol names (ensure …)\n{said}{frames}") == said
