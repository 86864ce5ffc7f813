"""Compute a GPU's constants from the table that `benchmarks/kernels/constants.mojo` printed.

    python benchmarks/constants.py TABLE > tooling/simulator/timing/parameters/h200.json

Each constant is the difference of two rows divided by the difference of their elements, so that the launch
itself cancels out. None comes from a kernel whose time is estimated.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tooling.simulator.timing.constants import constants_of  # noqa: E402


def main() -> None:
    constants = constants_of(Path(sys.argv[1]).read_text("utf-8"))
    text = msgspec.json.encode(constants)
    sys.stdout.write(msgspec.json.format(text, indent=2).decode() + "\n")


if __name__ == "__main__":
    main()
