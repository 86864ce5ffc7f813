"""A language from `new-lang` to its first chapter: every step ends with a verdict, without a traceback."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.book.book_copy import copy_book
from tooling.cli import main

PAGE = "i18n/ja/book/src/glossary.md"


def git(root: Path, *arguments: str) -> None:
    identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    hermetic = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", str(root), *arguments], check=True, env=os.environ | identity | hermetic)


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "change")


@pytest.mark.slow
def test_a_language_from_its_start_to_its_first_chapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "checkout"
    copy_book(root)
    (root / ".gitignore").write_text("build/\n.cache/\n")
    git(root, "init", "-q")
    commit(root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PUZZLE_ROOT", str(root))

    def tool(*arguments: str) -> tuple[int, str]:
        status = main(list(arguments))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out + captured.err

    assert tool("check-translations", "new-lang", "ja", "--name", "日本語")[0] == 0
    assert tool("check-translations", "--lang", "ja", "--fail-on", "warning")[0] == 0
    status, output = tool("book", "check")  # it builds the site, too
    assert status == 0, output

    (root / PAGE).write_text("# 用語集\n\nまだ翻訳の途中です。\n", "utf-8")
    commit(root)
    status, output = tool("check-translations", "stamp", PAGE)
    assert (status, "parity errors against that source" in output) == (1, True)  # half of it is missing
    assert tool("check-translations", "stamp", "--force", PAGE)[0] == 0
    status, output = tool("check-translations", "summary", "--lang", "ja")
    assert status == 0
    assert "[用語集](glossary.md)" in (root / "i18n/ja/book/src/SUMMARY.md").read_text("utf-8")

    status, output = tool("check-translations", "--lang", "ja", "--fail-on", "warning")
    assert (status, "failed: " in output, "could not be determined" in output) == (1, True, False)
    assert tool("book", "build", "--output", str(tmp_path / "site"))[0] == 0
    home = (tmp_path / "site/ja/index.html").read_text("utf-8")
    first = (tmp_path / "site/index.html").read_text("utf-8")  # of the source, which the edition shows
    assert re.findall("<h1.*?</h1>", home) == re.findall("<h1.*?</h1>", first)
    assert '<html lang="ja"' in (tmp_path / "site/ja/glossary.html").read_text("utf-8")
