"""No command hangs, fails with a traceback or fills the memory where a file of the checkout is special."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.book.book_copy import ROOT
from tests.cli.test_special_files import KINDS, plant
from tooling.project import Project

COMMANDS = (
    "book build --output out",
    "book check",
    "list",
    "check-translations status",
    "check-translations",
    "generate --check",
    "figure p15",
)
FILES = (
    "pyproject.toml",
    "pixi.toml",
    "book/book.toml",
    "book/src/SUMMARY.md",
    "book/src/glossary.md",
    "book/src/_includes/repo_url.md",
    "book/theme/assets/book.css",
    "i18n/ko/glossary.yaml",
    "i18n/ko/book/book.toml",
    "i18n/ko/book/src/glossary.md",
    "problems/p15/puzzle.yaml",
    "problems/p15/p15.mojo",
    "solutions/p15/p15.mojo",
    "solutions/p15/reference.py",
    "tests/mutants/p15.yaml",
    "tests/data/outputs/p15/*.json",
    "tests/data/traces/p12.json",
    "tests/data/h200/benchmarks.json",
)
Run = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(short_book: Project, tmp_path: Path) -> Run:
    """Runs a command in the book with at most 4 GiB of memory."""

    def started(words: str) -> subprocess.CompletedProcess[str]:
        command = f"ulimit -v {4 << 20}; exec {sys.executable} -m tooling {words}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PUZZLE_CACHE_DIR": str(tmp_path / "cache")}
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=short_book.root,
            env=environment | {"OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return started


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FILES)
def test_every_command_refuses_a_special_file_or_does_without_it(
    short_book: Project, run: Run, name: str, kind: str
) -> None:
    path = next(iter(sorted(short_book.root.glob(name))))
    plant(path, kind)
    for words in COMMANDS if kind == "pipe" else COMMANDS[:2]:
        done = run(words)
        said = done.stdout + done.stderr
        assert done.returncode in range(6), (words, said[-3000:])
        assert "Traceback" not in said, words
