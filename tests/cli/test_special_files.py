"""Pipes, devices, links to themselves or out of the checkout, and huge files are refused by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Workbench
from tooling.catalog.manifest import load_puzzle
from tooling.catalog.mutants import load_mutants
from tooling.catalog.nodes import ManifestError
from tooling.cli import list_command, main
from tooling.mdbook.pages import Page
from tooling.platform.exit_codes import ExitCode
from tooling.platform.regular_files import TEXT_LIMIT, names_file, names_something, read_text
from tooling.platform.state_file import read_json
from tooling.project import Project

KINDS = {
    "pipe": "not a regular file",
    "device": "not a regular file",
    "loop": "Too many levels of symbolic links",
    "huge": f"more than {TEXT_LIMIT} bytes",
}
each_kind = pytest.mark.parametrize(("kind", "why"), KINDS.items(), ids=KINDS)


def plant(path: Path, kind: str) -> None:
    """Replaces a file by a special one."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(1 << 33)  # without taking space
    else:
        path.symlink_to("/dev/zero" if kind == "device" else path.name)


@each_kind
@pytest.mark.parametrize("command", [["list"], ["run", "p01"]], ids=lambda words: words[0])
def test_a_special_manifest_is_refused_and_its_puzzle_does_not_disappear(
    workbench: Workbench, command: list[str], kind: str, why: str
) -> None:
    plant(workbench.manifest, kind)
    result = workbench.run(*command)
    assert result.status == ExitCode.USAGE
    assert result.stdout == ""
    said = " ".join(result.stderr.split())
    assert said.endswith(f"problems/p01/puzzle.yaml: the file cannot be read why: {why}")


@pytest.mark.parametrize("kind", ["pipe", "device", "loop"])
def test_a_checkout_with_special_settings_is_not_replaced_by_another_one(
    workbench: Workbench, kind: str
) -> None:
    plant(workbench.root / "pyproject.toml", kind)
    result = workbench.run("list")
    assert (result.status, result.stdout) == (ExitCode.USAGE, "")
    assert f"{workbench.root / 'pyproject.toml'} is not a regular file" in result.stderr


def test_a_folder_that_is_a_link_to_itself_is_a_puzzle_that_cannot_be_read(workbench: Workbench) -> None:
    (workbench.root / "problems" / "p02").symlink_to("p02")
    result = workbench.run("list")
    assert result.status == ExitCode.USAGE
    assert "problems/p02/puzzle.yaml: the file cannot be read" in " ".join(result.stderr.split())


def test_a_folder_without_a_manifest_is_no_puzzle(workbench: Workbench) -> None:
    (workbench.root / "problems" / "p02").mkdir()
    assert workbench.run("list").status == ExitCode.PASSED


@each_kind
def test_a_special_program_is_refused(workbench: Workbench, kind: str, why: str) -> None:
    plant(workbench.problem, kind)
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.USAGE
    said = " ".join(result.stderr.split())
    assert f"problems/p01/p01.mojo: a program to build cannot be read why: {why}" in said


@each_kind
@pytest.mark.parametrize("command", ["solution", "reset"])
def test_a_special_solution_is_refused(workbench: Workbench, command: str, kind: str, why: str) -> None:
    plant(workbench.solution, kind)
    if kind == "device":
        why = "it leads to /dev/zero"
    result = workbench.run(command, "p01", *(["--yes"] if command == "solution" else []))
    assert result.status == ExitCode.USAGE
    assert result.stdout == ""
    assert why in " ".join(result.stderr.split())


@pytest.mark.parametrize("command", [["solution", "--yes"], ["diff", "--yes"], ["reset"]])
@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "a solution is a link to a file outside the checkout why: it leads to {secret} try:"),
        ("ko", "풀이가 체크아웃 밖의 파일을 가리키는 링크입니다 이유: 가리키는 파일: {secret} 해 볼 것:"),
    ],
)
def test_no_file_outside_the_checkout_is_shown_as_a_solution(
    workbench: Workbench, tmp_path: Path, command: list[str], language: str, said: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("# ANCHOR: add_10_solution\ntoken: 12345\n# ANCHOR_END: add_10_solution\n")
    workbench.solution.unlink()
    workbench.solution.symlink_to(secret)
    workbench.write_problem("")
    before = workbench.problem.read_text()
    result = workbench.run(command[0], "p01", *command[1:], PUZZLE_LANG=language)
    assert result.status == ExitCode.USAGE
    assert "12345" not in result.stdout + result.stderr
    assert said.format(secret=secret) in " ".join(result.stderr.split())
    assert workbench.problem.read_text() == before


def test_a_solution_that_is_a_link_inside_the_checkout_is_shown(workbench: Workbench) -> None:
    kept = workbench.solution.rename(workbench.solution.with_name("kept.mojo"))
    workbench.solution.symlink_to(kept.name)
    result = workbench.run("solution", "p01", "--yes")
    assert result.status == ExitCode.PASSED
    assert "out[i] = a[i] + 10" in result.stdout


@each_kind
def test_special_mutants_pages_and_states_are_refused(
    workbench: Workbench, tmp_path: Path, kind: str, why: str
) -> None:
    project = Project(workbench.root)
    puzzle = load_puzzle(workbench.manifest, project)
    project.mutants.mkdir(parents=True, exist_ok=True)
    plant(project.mutants / "p01.yaml", kind)
    with pytest.raises(ManifestError, match="the file cannot be read") as refused:
        load_mutants(project, puzzle)
    assert refused.value.why == why
    page = tmp_path / "page.md"
    plant(page, kind)
    with pytest.raises(OSError, match=why):
        Page.read(page, tmp_path)
    state = tmp_path / "state.json"
    plant(state, kind)
    with pytest.raises(OSError, match="more than 268435456 bytes" if kind == "huge" else why):
        read_json(state, dict[str, str])


def test_a_regular_file_is_read_with_the_line_ends_of_python(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a\r\nb\rc\n")
    assert read_text(path) == path.read_text(encoding="utf-8") == "a\nb\nc\n"


def test_a_link_to_itself_is_named_where_nothing_else_describes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    monkeypatch.setattr(list_command, "list_command", lambda _: len(loop.read_bytes()))
    assert main(["list"]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert " ".join(said.split()) == (
        f"error: {loop}: this file cannot be read why: Too many levels of symbolic links"
    )


@pytest.mark.parametrize("name", ["a\0b", "a\0/..", "a" * 300])
def test_a_name_that_no_file_can_have_is_refused_like_a_missing_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError, match=r"null character|too long"):
        read_text(tmp_path / name)
    assert not names_file(tmp_path / name)
    assert not names_something(tmp_path / name)
    (tmp_path / "kept").touch()
    assert names_file(tmp_path / "kept")
