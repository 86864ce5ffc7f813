"""The pre-commit hook and the action for pull requests: what they run exists and does what they say."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.translations.book_fixture import KOREAN, Book
from tests.translations.conftest import Tool
from tooling.translations.report.markdown import COMMENT_MARK

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github/actions/translations/action.yml"


def steps() -> list[dict[str, str]]:
    found: list[dict[str, str]] = yaml.safe_load(ACTION.read_text("utf-8"))["runs"]["steps"]
    return found


def test_the_hook_fails_for_a_wrong_page_and_no_other(book: Book, tool: Tool) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    words = shlex.split(hook["entry"])
    assert words[:2] == ["tooling", "check-translations"]
    book.translated()
    book.english(page="other.md")  # without a translation, and not in the commit that is being made
    book.commit("write another page")
    assert tool(*words[2:]).status == 0
    page = book.target / "page.md"
    page.write_text(page.read_text("utf-8").replace("`shared`", "`share`"), "utf-8")
    result = tool(*words[2:])
    assert (result.status, "the code `share` is not in the source" in result.out) == (1, True)


@pytest.mark.parametrize(("code", "status"), [("`shared`", 0), ("`share`", 1)])
def test_the_action_writes_both_reports(code: str, status: int, book: Book, tmp_path: Path) -> None:
    book.translated()
    base = book.head()
    commit, blob = book.git("log", "--format=%H", "-1", "--", "book/src"), book.blob()
    text = f"{KOREAN}\n이 글은 `page.md`입니다.\n".replace("`shared`", code).replace("만납니다", "모입니다")
    book.korean(text, commit=commit, blob=blob)
    book.commit("edit the translation")
    output = tmp_path / "output"
    tool = f"{shlex.quote(sys.executable)} -m tooling"
    environment = {
        **os.environ, "TOOL": tool, "TRANSLATION": "ko", "BASE": base, "FAIL_ON": "warning",
        "GITHUB_OUTPUT": str(output),
        "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path),
    }  # fmt: skip
    script = steps()[0]["run"]
    subprocess.run(
        ["bash", "-e", "-c", script], cwd=book.root, env=environment, check=True, capture_output=True
    )
    written = dict(line.split("=", 1) for line in output.read_text().splitlines())
    assert Path(written["report"]).read_text("utf-8").startswith("<!doctype html>")
    assert Path(written["comment"]).read_text("utf-8").startswith(COMMENT_MARK)
    assert written["status"] == str(status)


def test_the_comment_is_found_by_its_mark() -> None:
    assert f"mark='{COMMENT_MARK}'" in steps()[1]["run"]


def test_values_reach_the_scripts_as_variables() -> None:
    assert [step["run"] for step in steps() if "${{" in step.get("run", "")] == []
