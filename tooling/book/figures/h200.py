"""The recordings of an H200, and of an H100, as figures need them."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from tooling.book.errors import malformed
from tooling.book.figures.facts import Facts
from tooling.platform.regular_files import read_text

_NAME = 28  # the width of the column with the names of a benchmark's kernels, which may contain blanks


class Measured(Struct, frozen=True):
    """One row of a benchmark.

    Attributes:
        elements: that the kernel handled.
        microseconds: the mean time of a launch.
        bandwidth: in GB/s; 0 if the benchmark counts no bytes.
        of_copy: its bandwidth relative to that of a copy; 0 if the benchmark compares with none.
    """

    elements: int
    microseconds: float
    bandwidth: float
    of_copy: float

    @property
    def of_a_copy(self) -> float:
        """The bandwidth of the copy that it was compared with, in GB/s."""
        return self.bandwidth / self.of_copy


def measured(facts: Facts, program: str, *, gpu: str = "h200") -> dict[str, list[Measured]]:
    """The recorded rows of a benchmark, by kernel, in the order of the recording.

    Raises:
        BookError: there is no such recording.
    """
    rows: dict[str, list[Measured]] = {}
    for line in recorded(facts, "benchmarks.json", "programs", program, gpu=gpu)[2:]:
        kernel = line[:_NAME].rstrip()
        elements, _, mean, _, *compared = line[_NAME:].split()
        bandwidth, of_copy = map(float, compared or (0, 0))
        rows.setdefault(kernel, []).append(Measured(int(elements), float(mean), bandwidth, of_copy))
    return rows


def graph_times(facts: Facts, program: str) -> dict[str, float]:
    """The recorded microseconds of each graph of a program in Python. Raises as `measured`."""
    lines = recorded(facts, "benchmarks.json", "graphs", program)
    found = (re.match(r"(.+): ([\d.]+) us ", line) for line in lines)
    return {each[1]: float(each[2]) for each in found if each}


def defects_found(facts: Facts) -> dict[str, tuple[str, ...]]:
    """The tools of compute-sanitizer that report each faulty kernel. Raises as `measured`."""
    kernels = recorded(facts, "defects.json", "kernels")
    return {
        name: tuple(tool for tool, report in runs["wrong"].items() if tool != "none" and "messages" in report)
        for name, runs in kernels.items()
    }


def recorded(facts: Facts, file: str, *keys: str, gpu: str = "h200") -> Any:
    """What a file of `tests/data/h200`, or of another GPU, holds under some keys. Raises as `measured`."""
    path = facts.puzzle_index.project.recordings / gpu / file
    try:
        found = json.loads(read_text(path))
        for key in keys:
            found = found[key]
    except (OSError, KeyError, ValueError) as error:
        raise malformed("recording", path, error) from error
    return found
