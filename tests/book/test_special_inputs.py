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
from tests.test_fuzzed_files import CHECKS, PAGES
from tooling.book.checks.context import Chapter, CheckContext
from tooling.mdbook import expansion
from tooling.mdbook.files import Files
from tooling.mdbook.pages import Page
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


@pytest.mark.parametrize("name", ["a\0b", "a\0/..", "a" * 300])
def test_a_page_may_name_files_that_cannot_exist(short_book: Project, name: str) -> None:
    """Those of the page of puzzle 1, in the place of which it is checked."""
    context = CheckContext(short_book)
    edition = context.editions[0]
    text = (
        f"# Title\n\n{{{{#include {name}.txt}}}}\n\n```mojo\n{{{{#include {name}.mojo}}}}\n```\n\n"
        f"[page]({name}.md) ![image](media/{name}.png) `problems/{name}.mojo`\n\n"
        f"```bash\nuv run pytest tests/{name}\n```\n"
    )
    page = Page.of(edition.source / PAGES[0], edition.source, text)
    vars(context)["chapters"] = (Chapter(edition, PAGES[0], page),)
    said = [finding.message for check in CHECKS for finding in check(context)]
    assert f"there is no test `tests/{name}`" in said
    for files in (Files(), Files(short_book.root)):
        problems, _ = expansion.check(text, page.path, files)
        assert [problem.fault for problem in problems] == [expansion.Fault.MISSING_FILE] * 2
