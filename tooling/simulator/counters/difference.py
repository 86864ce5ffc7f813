"""Two profiles side by side: the metrics that differ, kernel by kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import DecodeError, Struct
from msgspec.json import decode
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.simulator.counters.document import VERSION
from tooling.simulator.counters.metrics import kernel_values
from tooling.simulator.counters.profile import KernelProfile
from tooling.simulator.counters.texts import say
from tooling.text import Text

_UNREADABLE = Text("the earlier profile cannot be read")
_WRITTEN_BY = Text("`tooling profile … --json FILE` writes such a file")


class BaselineUnusable(ToolingError):
    """The file is not a profile of this version."""


class _Kernel(Struct, frozen=True):
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    metrics: dict[str, float]


class Baseline(Struct, frozen=True):
    """An earlier profile, as `document.to_json` wrote it."""

    version: int
    program: str
    kernels: list[_Kernel]


def read_baseline(path: Path) -> Baseline:
    """Reads an earlier profile.

    Raises:
        BaselineUnusable: the file cannot be read, or is not a profile of this version.
    """
    try:
        baseline = decode(read_regular(path, limit=TEXT_LIMIT), type=Baseline)
        if baseline.version != VERSION:
            raise ValueError(f"version {baseline.version}, not {VERSION}")
    except (OSError, ValueError, DecodeError) as error:
        raise BaselineUnusable(_UNREADABLE, where=Location(path), why=str(error), hint=_WRITTEN_BY) from error
    return baseline


def show_difference(
    baseline: Baseline, kernels: Sequence[KernelProfile], console: Console, language: str, path: Path
) -> None:
    """Prints a table for each kernel of both profiles, and names those of one only.

    Kernels belong together by name; of several with one name, the first with the first, and so on.
    """
    before = list(baseline.kernels)
    added = []
    for kernel in kernels:
        other = next((each for each in before if each.name == kernel.name), None)
        if other is None:
            added.append(kernel.name)
            continue
        before.remove(other)
        _show_kernel(kernel, other.metrics, console, language, path)
    for key, names in (("only_before", [each.name for each in before]), ("only_now", added)):
        if names:
            console.print(escape(say(key, language, file=path, kernels=", ".join(names))), highlight=False)


def _show_kernel(
    kernel: KernelProfile, before: Mapping[str, float], console: Console, language: str, path: Path
) -> None:
    now = kernel_values(kernel)
    names = [name for name in {**before, **now} if before.get(name, 0) != now.get(name, 0)]
    if not names:
        console.print(escape(say("equal", language, kernel=kernel.name, file=path)), highlight=False)
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0), title_justify="left")
    table.title = escape(kernel.name)
    table.add_column(say("metric", language), no_wrap=True)
    for key in ("before", "now", "change"):
        table.add_column(say(key, language), justify="right", no_wrap=True)
    for name in names:
        old, new = before.get(name, 0), now.get(name, 0)
        change = f"{new / old - 1:+.1%}" if old else "+"
        table.add_row(escape(name), f"{old:,}", f"{new:,}", change)
    console.print(table)
