"""The estimates that pages include are what `tooling profile` prints.

usage: python tests/book/test_estimates_on_pages.py

records them again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machine import needs_simulated_gpu
from tooling.simulator.nvidia.machine_code.tools import has_tools

FOLDER = Path(__file__).parents[1] / "data" / "estimates"
SHOWN = {
    "p31": ("p31", ("--full-size --benchmark",)),
    "p35": ("p35_tile_tensor", ("--scalar", "--unaligned", "--aligned")),
}
"""By the name of a file, the program and the options and modes whose estimates it has."""

pytestmark = [pytest.mark.mojo, pytest.mark.slow, needs_simulated_gpu]


def estimates(program: str, modes: tuple[str, ...]) -> str:
    """What the command prints about the time of each mode's kernel, without the notes on all of them."""
    environment = os.environ | {"PUZZLE_LANG": "en", "COLUMNS": "400", "NO_COLOR": "1"}
    parts = []
    for mode in modes:
        command = [sys.executable, "-m", "tooling", "profile", program, *mode.split(), "--solution"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        blocks = [block for block in done.stdout.split("\n\n") if "  Estimated, not measured\n" in block]
        parts += ["\n".join(line.rstrip() for line in block.rstrip().splitlines()) for block in blocks]
    return "\n\n".join(parts) + "\n"


@pytest.mark.skipif(not has_tools(), reason="without the extra `sass` the ranges are wider")
@pytest.mark.parametrize("name", SHOWN)
def test_the_pages_show_what_the_command_prints(name: str) -> None:
    assert estimates(*SHOWN[name]) == (FOLDER / f"{name}.txt").read_text("utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for _name, _shown in SHOWN.items():
        (FOLDER / f"{_name}.txt").write_text(estimates(*_shown), "utf-8")
