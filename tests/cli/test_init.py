"""`tooling init`: a folder with the puzzles, in which the same commands work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import HERE, REPOSITORY, Result
from tests.machine import find_uv, needs_simulated_gpu
from tests.numbers import COUNT
from tooling.platform import pins
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench


@pytest.fixture
def folder(workbench: Workbench) -> Path:
    """A folder with the puzzles of this checkout."""
    result = workbench.run("init", "my-puzzles")
    assert result.status == ExitCode.PASSED, result.stderr
    assert (
        result.stdout == f"my-puzzles has {COUNT} puzzles\ntype:\n  cd my-puzzles\n  uv run tooling start\n"
    )
    return workbench.root / "my-puzzles"


def run_in(folder: Path, workbench: Workbench, *arguments: str) -> Result:
    process = subprocess.run(
        [sys.executable, str(HERE / "launcher.py"), *arguments],
        cwd=folder,
        env=workbench.environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Result(process.returncode, process.stdout, process.stderr)


def test_the_folder_has_all_problem_files_and_pins_the_tool(folder: Path, workbench: Workbench) -> None:
    made = {path.relative_to(folder / "problems").as_posix() for path in (folder / "problems").rglob("*.*")}
    tracked = subprocess.run(
        ["git", "ls-files", "problems"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.split()
    assert made == {name.removeprefix("problems/") for name in tracked}
    assert sorted(path.name for path in folder.iterdir()) == [
        ".gitignore", ".puzzles", "README.md", "pixi.toml", "problems", "pyproject.toml",
    ]  # fmt: skip
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == [f"gpu-puzzle-lab=={pins.TOOL_VERSION}"]
    assert project["requires-python"] == pins.PYTHON_VERSIONS
    pixi = tomllib.loads((folder / "pixi.toml").read_text())
    assert pixi["pypi-dependencies"] == {"gpu-puzzle-lab": f"=={pins.TOOL_VERSION}"}
    assert pixi["system-requirements"]["libc"]["version"] == "2.34"


def test_solutions_and_skeletons_are_those_of_the_tool(folder: Path, workbench: Workbench) -> None:
    problem = folder / "problems" / "p01" / "p01.mojo"
    skeleton = problem.read_bytes()
    problem.write_text("mine\n")
    inside = {"PUZZLE_ROOT": str(folder)}
    assert workbench.run("reset", "p01", **inside).status == ExitCode.PASSED
    assert problem.read_bytes() == skeleton
    assert [copy.read_text() for copy in problem.parent.glob("p01.mojo.20*")] == ["mine\n"]
    assert "output[unsafe_offset=i]" in workbench.run("solution", "p01", "--yes", **inside).stdout


def test_a_folder_that_cannot_be_written_leaves_nothing(workbench: Workbench) -> None:
    (workbench.root / "file").write_text("x")
    result = workbench.run("init", "file/mine")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "the folder cannot be made\n  why: Not a directory\n" in result.stderr
    assert not [path.name for path in workbench.root.iterdir() if path.name.startswith(".")]


def test_a_folder_without_the_book_says_where_the_pages_are(folder: Path, workbench: Workbench) -> None:
    for words in (["book", "serve"], ["book", "build"]):
        result = workbench.run(*words, PUZZLE_ROOT=str(folder))
        assert result.status == ExitCode.WRONG
        assert f"error: {folder}: there is no book in this folder\n" in result.stderr
        assert "`tooling start` shows the address of the next page" in result.stderr


def test_a_folder_that_is_not_empty_is_left_alone(workbench: Workbench) -> None:
    (workbench.root / "mine").mkdir()
    (workbench.root / "mine" / "file").write_text("x")
    result = workbench.run("init", "mine")
    assert result.status == ExitCode.USAGE
    assert "the folder for the puzzles is not empty" in result.stderr
    assert [path.name for path in (workbench.root / "mine").iterdir()] == ["file"]


def test_progress_in_the_folder_is_that_of_the_book(folder: Path, workbench: Workbench) -> None:
    for name, text in (("first", '[project]\nname = "gpu-puzzle-lab"\n'), ("second", None)):
        root = workbench.root / name
        (root / "problems").mkdir(parents=True)
        (root / "pyproject.toml").write_text(text or (folder / "pyproject.toml").read_text())
    from tooling.project import Project

    assert Project(workbench.root / "first").identity == Project(workbench.root / "second").identity


def test_update_takes_the_new_version_and_keeps_answers(folder: Path, workbench: Workbench) -> None:
    assert "no file that you have edited had to change" in run_in(folder, workbench, "update").stdout
    problem = folder / "problems" / "p01" / "p01.mojo"
    new = problem.read_text()
    # As if an older version had written the folder, and the reader had solved the puzzle.
    older = new.replace("from lab import", "# An older line.\nfrom lab import", 1)
    (folder / ".puzzles" / "problems" / "p01" / "p01.mojo").write_text(older)
    mark = next(line for line in new.splitlines() if "FILL ME IN" in line)
    problem.write_text(older.replace(mark, "    answer"))
    manifest = folder / "problems" / "p02" / "puzzle.yaml"
    (folder / ".puzzles" / "problems" / "p02" / "puzzle.yaml").write_text("older")
    manifest.write_text("older")
    result = run_in(folder, workbench, "update")
    assert result.status == ExitCode.PASSED, result.stderr
    assert "problems/p01/p01.mojo: your answer was carried over" in result.stdout
    assert problem.read_text() == new.replace(mark, "    answer")
    (copy,) = problem.parent.glob("p01.mojo.20*")
    assert "An older line." in copy.read_text()
    assert manifest.read_text().startswith("# yaml-language-server: $schema=../puzzle.schema.json\nid: p02\n")
    assert not list(manifest.parent.glob("puzzle.yaml.20*"))


@pytest.mark.slow
@needs_simulated_gpu
def test_the_wheel_alone_is_enough(tmp_path: Path) -> None:
    uv = find_uv()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PUZZLE_")}
    environment |= {"PUZZLE_CACHE_DIR": str(tmp_path / "cache"), "PUZZLE_STATE_DIR": str(tmp_path / "state")}
    environment.pop("PYTHONPATH", None)

    def do(*command: str, folder: Path = tmp_path, status: int = 0) -> str:
        result = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == status, result.stdout + result.stderr
        return result.stdout

    do(uv, "build", "-q", "--wheel", "--out-dir", str(tmp_path / "dist"), str(REPOSITORY))
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    do(uv, "venv", "-q", "--python", sys.executable, "venv")
    do(uv, "pip", "install", "-q", "--python", "venv", "-c", str(unhashed_constraints(tmp_path)), str(wheel))
    programs = tmp_path / "venv" / "bin"
    do(str(programs / "gpu-puzzle-lab"), "init", "my-puzzles")
    folder, tool = tmp_path / "my-puzzles", str(programs / "tooling")
    assert "next: puzzle 1, Map" in do(tool, "start", folder=folder)
    assert "github.io" in do(tool, "next", folder=folder)
    assert "p01 is not right yet" in do(tool, "run", "p01", "--target", "sim", folder=folder, status=1)
    do(tool, "run", "p01", "--solution", "--target", "sim", folder=folder)
    assert "output[unsafe_offset=i]" in do(tool, "solution", "p01", "--yes", folder=folder)
    do(tool, "doctor", folder=folder)
    report = tmp_path / "progress.json"
    do(tool, "progress", "--json", str(report), folder=folder)
    assert json.loads(report.read_text())["total"] == COUNT


def unhashed_constraints(folder: Path) -> Path:
    """The versions of constraints.txt; the wheel itself has no hash there."""
    lines = (REPOSITORY / "constraints.txt").read_text("utf-8").splitlines()
    pinned = [line.removesuffix("\\").strip() for line in lines if line and not line.startswith((" ", "#"))]
    path = folder / "versions.txt"
    path.write_text("\n".join(pinned) + "\n")
    return path
