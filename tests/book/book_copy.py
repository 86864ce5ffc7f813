"""A copy of what the book is built from."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "book", "i18n", "problems", "solutions",
    "tests/data/h200/shown", "tests/data/outputs", "tests/data/traces", "tests/mutants",
)  # fmt: skip
FILES = (
    "pyproject.toml", "pixi.toml", "tests/data/h100/benchmarks.json", "tests/data/h200/benchmarks.json",
    "tests/data/h200/defects.json",
)  # fmt: skip
_LINKED = ("benchmarks", "tests/*", "tests/data/h200/*")
"""Files that pages only name: links to those of the checkout, where nothing was copied."""


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
