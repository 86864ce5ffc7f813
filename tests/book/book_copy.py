"""A copy of what the book is built from."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tooling.book.editions import editions
from tooling.project import Project

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "book", "i18n", "problems", "solutions",
    "tests/data/estimates", "tests/data/h200/shown", "tests/data/outputs", "tests/data/traces",
    "tests/mutants",
)  # fmt: skip
FILES = (
    "pyproject.toml", "pixi.toml", "tests/data/h100/benchmarks.json", "tests/data/h200/benchmarks.json",
    "tests/data/h200/defects.json",
)  # fmt: skip
_LINKED = ("benchmarks", "tests/*", "tests/data/h200/*")
"""Files that pages only name: links to those of the checkout, where nothing was copied."""
KEPT = {"p12", "p14", "p15", "p16"}
"""The puzzles of a short book."""
_NAMED = {"p32"}
"""A puzzle that their chapters name; it has a page without a chapter."""


def copy_book(root: Path) -> None:
    """Copies the book's inputs to a new folder, without git."""
    for part in PARTS:
        shutil.copytree(ROOT / part, root / part, symlinks=True)
    for file in FILES:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, root / file)
    for named in (path for pattern in _LINKED for path in ROOT.glob(pattern)):
        if not (link := root / named.relative_to(ROOT)).exists():
            link.symlink_to(named)


def leave_out_chapters(project: Project) -> None:
    """Leaves a few chapters and the glossary in both editions of a copy, and their puzzles."""
    for edition in editions(project):
        contents = edition.source / "SUMMARY.md"
        lines = contents.read_text(encoding="utf-8").splitlines(keepends=True)
        contents.write_text("".join(line for line in lines if _is_kept(line)), encoding="utf-8")
    for folder in (project.problems, project.solutions):
        for puzzle in folder.glob("p[0-9][0-9]"):
            if puzzle.name not in KEPT | _NAMED:
                shutil.rmtree(puzzle)


def _is_kept(line: str) -> bool:
    """Whether a line of SUMMARY.md is a title, or the entry of a page that is kept."""
    chapter = re.search(r"\]\((?:puzzle_(\d+)/|(glossary))?", line)
    return chapter is None or chapter[2] is not None or f"p{chapter[1]}" in KEPT
