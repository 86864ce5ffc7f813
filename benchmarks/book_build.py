"""The cost of building the book compared with plain mdBook: both editions, processor time and wall time.

    python benchmarks/book_build.py [--rounds N] [--copies N]

Plain mdBook gets the rendered pages (every include and directive expanded), with its own theme, search index
and preprocessors; our build also includes a search index. Processor time is compared
with both of its editions together. Wall time is compared twice: with plain editions built one after another,
as mdBook builds them, and with both started at the same time, each on a processor of its own.

Three builds are measured: without a change, after a change in one page, and with empty caches; plain mdBook
has no cache and always builds everything, into a new folder each time. All files are in memory where the
system has a file system for that: for minutes after many files have been deleted, ext4
takes up to twice as long to make one, so that each build would pay for the ones before it. Both sides
alternate, and the fastest round of each counts. `--copies N` includes every page of a puzzle N times, which
reduces the weight of fixed costs (starting Python).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tooling.book.chapters import chapter_files
from tooling.book.directives import banner
from tooling.book.directives.chapter_renderer import ChapterRenderer
from tooling.book.editions import Edition, editions
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.site.build import find_mdbook
from tooling.book.summary import read_summary
from tooling.mdbook.files import Files
from tooling.project import Project, find_project

_CONFIG = '[book]\ntitle = "plain"\nlanguage = "{language}"\n'
_IN_MEMORY = Path("/dev/shm")
_COPIED = ("book", "i18n", "problems", "solutions", "tests/data/outputs", "tests/mutants", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a command in seconds: wall time, and time of all processors together."""

    wall: float
    processor: float


def measure(commands: Callable[[], None]) -> Cost:
    """The cost of child processes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    commands()
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def copy_book(origin: Project, folder: Path, copies: int) -> Project:
    """A copy of the files that a build reads, with every page of a puzzle several times in the book."""
    for name in _COPIED:
        copy = shutil.copytree if (origin.root / name).is_dir() else shutil.copyfile
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(origin.root / name, folder / name)
    project = Project(folder)
    for edition in editions(project):
        rows = []
        for entry in read_summary(edition.source):
            for number in range(2, copies + 1) if entry.path.startswith("puzzle_") else ():
                name = entry.path.replace(".md", f"-{number}.md")
                shutil.copyfile(edition.page(entry.path), edition.page(name))
                rows.append(f"- [{entry.title}]({name})\n")
        summary = edition.page("SUMMARY.md")
        summary.write_text(summary.read_text(encoding="utf-8") + "\n" + "".join(rows), encoding="utf-8")
    return project


def plain_book(project: Project, edition: Edition, folder: Path) -> Path:
    """The pages of an edition as a book that mdBook can build by itself."""
    states = None if edition.prefix == "" else banner.States({})
    renderer = ChapterRenderer(edition, PuzzleIndex(project), states, Files(project.root))
    for chapter in chapter_files(edition):
        page = folder / "src" / chapter.path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(renderer.render(chapter.path, chapter.text), encoding="utf-8")
    if renderer.problems:
        raise renderer.problems[0]
    shutil.copyfile(edition.page("SUMMARY.md"), folder / "src" / "SUMMARY.md")
    (folder / "book.toml").write_text(_CONFIG.format(language=edition.language), encoding="utf-8")
    return folder


def change_a_page(project: Project) -> None:
    """Adds a word to a page of the last edition."""
    page = editions(project)[-1].page("puzzle_15/puzzle_15.md")
    page.write_text(page.read_text(encoding="utf-8") + "\n·\n", encoding="utf-8")


def together(commands: Sequence[Sequence[str | Path]], environment: Mapping[str, str]) -> None:
    """Runs commands at the same time."""
    running = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        for command in commands
    ]
    for process in running:
        if process.wait():
            raise SystemExit(f"{process.args!r} failed")


def in_turn(commands: Sequence[Sequence[str | Path]], environment: Mapping[str, str]) -> None:
    """Runs commands one after the other."""
    for command in commands:
        together([command], environment)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--copies", type=int, default=1)
    arguments = parser.parse_args()
    mdbook = find_mdbook()
    with tempfile.TemporaryDirectory(
        prefix="plain-", dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None
    ) as scratch:
        project = copy_book(find_project(), Path(scratch) / "checkout", arguments.copies)
        every = editions(project)
        folders = [plain_book(project, edition, Path(scratch) / edition.language) for edition in every]

        def aside() -> str:
            return tempfile.mkdtemp(dir=scratch)

        def plain() -> list[list[str | Path]]:
            return [[mdbook, "build", "--dest-dir", f"{aside()}/book", folder] for folder in folders]

        def forget() -> None:
            for made in ("build", "site"):
                (project.root / made).rename(aside())

        ours = [[sys.executable, "-m", "tooling", "book", "build"]]
        asking = [[sys.executable, "-m", "tooling.book.directives.preprocessor", "supports", "html"]]
        environment = os.environ | {"PUZZLE_ROOT": str(project.root)}
        # Measures a first build of the book, not a first run of the tool, which compiles its modules.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        before: dict[str, Callable[[], None]] = {
            "unchanged": lambda: None,
            "one page changed": lambda: change_a_page(project),
            "nothing kept": forget,
        }
        together(ours, environment)
        costs: dict[str, list[Cost]] = {name: [] for name in (*before, "plain", "in turn", "start")}
        for _ in range(arguments.rounds):
            for name, prepare in before.items():
                costs["plain"].append(measure(lambda: together(plain(), environment)))
                costs["in turn"].append(measure(lambda: in_turn(plain(), environment)))
                prepare()
                costs[name].append(measure(lambda: together(ours, environment)))
            costs["start"].append(measure(lambda: together(asking, environment)))
        pages = sum(len(list(folder.glob("src/**/*.md"))) - 1 for folder in folders)
    least = {
        name: Cost(min(each.wall for each in found), min(each.processor for each in found))
        for name, found in costs.items()
    }
    for name in before:
        ratios = {
            "processor": least[name].processor / least["plain"].processor,
            "wall": least[name].wall / least["in turn"].wall,
            "wall, plain editions at the same time": least[name].wall / least["plain"].wall,
        }
        rounded = {what: round(ratio, 2) for what, ratio in ratios.items()}
        print(json.dumps({"build": name, "pages": pages, **rounded}))
    print(json.dumps({"preprocessor starts in (s of processor time)": round(least["start"].processor, 2)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
