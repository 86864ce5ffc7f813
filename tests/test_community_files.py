"""The files that GitHub shows to contributors are well-formed and match this repository."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tooling.commandline.commands import COMMANDS

ROOT = Path(__file__).parents[1]
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
DOCUMENTS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
PAGES = (
    "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md",
    ".github/PULL_REQUEST_TEMPLATE.md", "i18n/README.md", *DOCUMENTS,
)  # fmt: skip


def load(path: Path) -> dict[str, Any]:
    data = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(data, dict)
    return data


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_has_what_github_wants_of_it(path: Path) -> None:
    form = load(path)
    assert {"name", "description", "body"} <= set(form)
    identities = [field["id"] for field in form["body"]]
    assert len(set(identities)) == len(identities)
    for field in form["body"]:
        assert field["type"] in ("input", "textarea", "dropdown")
        assert field["attributes"]["label"]
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_there_is_a_form_for_the_judge_the_tool_and_the_book() -> None:
    assert [path.stem for path in FORMS] == ["book", "defect", "wrong-verdict"]


def test_updates_are_proposed_for_actions_and_packages_but_not_for_the_toolchain() -> None:
    updates = {
        each["package-ecosystem"]: each for each in load(ROOT / ".github" / "dependabot.yml")["updates"]
    }
    assert set(updates) == {"github-actions", "pip"}
    ignored = {each["dependency-name"] for each in updates["pip"]["ignore"]}
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    toolchain = [pin for pin in pins if pin.startswith(("mojo", "max"))]
    assert toolchain
    for pin in toolchain:
        assert any(re.match(name.replace("*", ".*"), pin) for name in ignored), pin


def test_the_changelog_begins_with_what_is_not_released_and_knows_the_version() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert headings[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", headings[1])


def test_the_security_page_names_the_setting_that_keeps_forks_off_our_runners() -> None:
    text = " ".join((ROOT / "SECURITY.md").read_text("utf-8").split())
    assert "Runner groups → Workflow access → Selected workflows" in text
    assert "Require approval for all external contributors" in text
    assert "`GPU_RUNNERS`" in text


def test_the_security_page_says_of_every_command_whether_it_executes_code_of_the_checkout() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    start, end = text.index("  | command |"), text.index("- `tooling book serve` listens")
    named = set(re.findall(r"`(?:tooling )?([a-z]+(?:-[a-z]+)*)(?: [a-z-]+)?`", text[start:end]))
    assert {command.name for command in COMMANDS} <= named
    (book,) = (command for command in COMMANDS if command.name == "book")
    for action in book.actions:
        assert f"book {action.name}`" in text[start:end], action.name


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_files_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    known = {command.name for command in COMMANDS}
    assert set(re.findall(r"\btooling ([a-z]+(?:-[a-z]+)*)", text)) <= known
    tasks = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["poe"]["tasks"]
    assert set(re.findall(r"\bpoe ([a-z]+(?:-[a-z]+)*)", text)) <= set(tasks)
    for name in re.findall(r"`(\.?[a-z.]+/[\w./-]*\w)[^`]*`", text):
        assert "pXX" in name or (ROOT / name).exists() or name.startswith((".uv/", "build/")), name


@pytest.mark.parametrize("page", PAGES)
def test_links_between_the_pages_of_the_repository_have_a_target(page: str) -> None:
    path = ROOT / page
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text("utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_decision_is_listed_and_has_its_parts() -> None:
    folder = ROOT / "docs" / "decisions"
    records = sorted(path.name for path in folder.glob("[0-9]*.md"))
    listed = re.findall(r"^- \[.+\]\((.+)\)$", (folder / "README.md").read_text("utf-8"), re.MULTILINE)
    assert listed == records
    for name in records:
        headings = re.findall(r"^## (.*)$", (folder / name).read_text("utf-8"), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences"], name


def test_what_a_contributor_reads_first_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_bytes()) <= 6000


def test_the_hooks_before_a_commit_run_commands_that_exist() -> None:
    (local,) = load(ROOT / ".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"  # the tools are those that pyproject.toml pins
    known = {command.name for command in COMMANDS}
    for hook in local["hooks"]:
        start, _, rest = hook["entry"].partition(" --group dev ")
        assert start == ".uv/bin/uv run"
        tool, name, *_ = rest.split()
        assert tool == "ruff" or (tool == "tooling" and name in known), hook["entry"]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_text_is_checked_out_with_lf_everywhere() -> None:
    command = ["git", "-C", str(ROOT), "check-attr", "text", "eol", "--", "book/src/SUMMARY.md"]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert done.stdout == "book/src/SUMMARY.md: text: auto\nbook/src/SUMMARY.md: eol: lf\n", done.stderr
