"""What the book costs beside plain mdBook: both editions, the same pages, processor time and wall time.

    python benchmarks/book_build.py [--rounds N]

Plain mdBook gets the pages as the press sets them (every include and directive carried out), with its own
theme, search and preprocessors. Both run in turns; printed are ratios within a round, the median of all
rounds.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tooling.book import banner
from tooling.book.build import find_mdbook
from tooling.book.chapters import chapter_files
from tooling.book.editions import Edition, editions
from tooling.book.press import Press
from tooling.book.shelf import Shelf
from tooling.project import Project, find_project

_CONFIG = '[book]\ntitle = "plain"\nlanguage = "{language}"\n'
_MOST_SECONDS = 0.3  # for a preprocessor to start


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took, in seconds: on the wall, and of all processors together."""

    wall: float
    processor: float


def measure(commands: Callable[[], None]) -> Cost:
    """The cost of child processes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    commands()
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def plain_book(project: Project, edition: Edition, folder: Path) -> Path:
    """The pages of an edition as a book that mdBook can build by itself."""
    press = Press(edition, Shelf(project), None if edition.prefix == "" else banner.States({}))
    for chapter in chapter_files(edition):
        page = folder / "src" / chapter.path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(press.set(chapter.path, chapter.text), encoding="utf-8")
    if press.problems:
        raise press.problems[0]
    summary = (edition.source / "SUMMARY.md").read_text(encoding="utf-8")
    (folder / "src" / "SUMMARY.md").write_text(summary, encoding="utf-8")
    (folder / "book.toml").write_text(_CONFIG.format(language=edition.language), encoding="utf-8")
    return folder


def together(commands: Sequence[Sequence[str | Path]]) -> None:
    """Runs commands at the same time, as a build runs the editions."""
    running = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    for process in running:
        if process.wait():
            raise SystemExit(f"{process.args!r} failed")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    project, mdbook = find_project(), find_mdbook()
    with tempfile.TemporaryDirectory(prefix="plain-") as scratch:
        folders = [
            plain_book(project, edition, Path(scratch) / edition.language) for edition in editions(project)
        ]
        plain: list[list[str | Path]] = [[mdbook, "build", folder] for folder in folders]
        ours: list[list[str | Path]] = [
            [sys.executable, "-m", "tooling", "book", "build", "--output", Path(scratch) / "site"]
        ]
        asking = [[sys.executable, "-m", "tooling.book.preprocessor", "supports", "html"]]
        together(ours)  # what is kept between builds is kept now
        costs = [
            (
                measure(lambda: together(ours)),
                measure(lambda: together(plain)),
                measure(lambda: together(asking)),
            )
            for _ in range(rounds)
        ]
    wall = statistics.median(one.wall / other.wall for one, other, _ in costs)
    processor = statistics.median(one.processor / other.processor for one, other, _ in costs)
    start = statistics.median(asked.processor for _, _, asked in costs)
    print(
        json.dumps(
            {
                "wall": round(wall, 2),
                "processor": round(processor, 2),
                "preprocessor_starts_in_time": start <= _MOST_SECONDS,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
