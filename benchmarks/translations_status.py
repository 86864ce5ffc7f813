"""Measures time, memory and processes of `tooling check-translations` on synthetic books.

    python benchmarks/translations_status.py [--scales 100 1000 10000] [--folder DIR] [--per-page]

Measures the whole command, including the start of Python, with and without the cache of an earlier
run: wall and CPU time (git's too), the largest resident set of one of its processes, and how many git
processes there were. The limits apply to CPU time, since wall time depends on what else runs: the load of
the machine is printed with it. `--per-page` times checks that start git for every page, on a sample of pages.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.synthetic_book import SCALES, build

ROOT = Path(__file__).resolve().parent.parent
_SAMPLE = 25
# Seconds of CPU time for freshness alone and for both axes, by number of page pairs.
LIMITS = {100: (0.15, 0.3), 1_000: (0.6, 2.0), 10_000: (5.0, 15.0)}
MEMORY_LIMIT = 300  # MiB


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one run: seconds, MiB, processes."""

    wall: float
    cpu: float
    memory: float
    git_processes: int


def measure(folder: Path, *options: str, repeat: int = 3) -> Cost:
    """The run of several with the least CPU time."""
    return min((_run(folder, options) for _ in range(repeat)), key=lambda cost: cost.cpu)


def _environment() -> dict[str, str]:
    """The usual environment of Python: with compiled modules, which the first run writes."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    compiled = Path(tempfile.gettempdir()) / "translations-benchmark"
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(compiled)}


def _run(folder: Path, options: tuple[str, ...]) -> Cost:
    command = [sys.executable, "-m", "tooling", "check-translations", "status"]
    command += ["--format", "json", "--output", "report.json", *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=_environment(), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{' '.join(command)} failed in {folder}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    report = json.loads((folder / "report.json").read_text())
    return Cost(wall, cpu, usage.ru_maxrss / 1024, report["git_processes"])


def per_page(folder: Path, pages: int) -> dict[str, float]:
    """Seconds that checks with a git process per page take, extrapolated from a sample."""
    paths = sorted((folder / "book/src").rglob("*.md"))
    chosen = paths[:: max(1, len(paths) // _SAMPLE)][:_SAMPLE]
    styles: dict[str, Callable[[str], list[str]]] = {
        "last commit of each page": lambda path: ["log", "-1", "--format=%H", "--", path],
        "commits since the pin": lambda path: [
            "log",
            "--format=%H",
            f"{_pin(folder, path)}..HEAD",
            "--",
            path,
        ],
        "whole history of each page": lambda path: ["log", "--format=%H", "--", path],
    }
    found: dict[str, float] = {}
    for name, arguments in styles.items():
        started = time.perf_counter()
        for path in chosen:
            relative = path.relative_to(folder).as_posix()
            subprocess.run(["git", *arguments(relative)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        found[name] = (time.perf_counter() - started) / len(chosen) * pages
    return found


def _pin(folder: Path, path: str) -> str:
    with (folder / "i18n/ko" / path).open(encoding="utf-8") as page:
        return page.readline().split()[2]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scales", type=int, nargs="+", default=list(SCALES), choices=list(SCALES))
    parser.add_argument("--folder", type=Path, help="keep the books here and use them again")
    parser.add_argument("--per-page", action="store_true", help="time checks with a git process per page")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    write = sys.stdout.write
    passed = True
    with tempfile.TemporaryDirectory() as temporary:
        for pages in options.scales:
            folder = (options.folder or Path(temporary)) / str(pages)
            if not folder.exists():
                build(folder, pages, SCALES[pages])
            status, both = LIMITS[pages]
            for name, run, limit in (
                ("status", ("--axis", "freshness", "--no-cache"), status),
                ("  cached", ("--axis", "freshness"), status),
                ("both axes", ("--axis", "both", "--no-cache"), both),
            ):
                cost = measure(folder, *run, repeat=options.repeat)
                good = cost.cpu <= limit and cost.memory <= MEMORY_LIMIT
                passed &= good
                write(
                    f"{pages:6} pairs  {name:10} {cost.cpu:6.2f} s CPU (limit {limit:g}), "
                    f"{1000 * cost.cpu / pages:6.2f} ms per pair, {cost.wall:7.2f} s wall, "
                    f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, "
                    f"{cost.memory:4.0f} MiB, {cost.git_processes} git processes"
                    f"{'' if good else '  OVER THE LIMIT'}\n"
                )
                if options.per_page and name == "status":
                    for style, seconds in per_page(folder, pages).items():
                        write(
                            f"        {style:28} {seconds:9.1f} s, {seconds / cost.wall:6.0f} times as long\n"
                        )
                sys.stdout.flush()
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
