"""What a command does with files, names and folders that somebody else has made, and on a full disk."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from pathlib import Path

import pytest

from tests.machine import needs_simulated_gpu
from tooling import cli, trials
from tooling.catalog.nodes import ManifestError, read_document
from tooling.mdbook.includes import find_directives
from tooling.platform.exit_codes import ExitCode
from tooling.project import Project, ProjectOfAnotherUser, find_project
from tooling.reports.terminal import Terminal
from tooling.simulator.nvidia.ptx.errors import PtxError
from tooling.simulator.nvidia.ptx.reader import parse_module
from tooling.translations.git.repository import GitKilled, explain


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 50_000, "- " * 100_000, "? " * 100_000])
def test_deeply_nested_yaml_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "puzzle.yaml"
    path.write_text(text)
    with pytest.raises(ManifestError, match="nested too deeply"):
        read_document(path)


def test_many_lists_beside_one_another_are_not_deep(tmp_path: Path) -> None:
    path = tmp_path / "puzzle.yaml"
    path.write_text("- [1, 2]\n" * 1000)
    assert len(read_document(path).items()) == 1000


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("{{#include " * 20_000, 0),
        ("{{#include " * 20_000 + "}", 0),
        ("\\{{#include " * 20_000, 0),
        ("{{#include a}}" * 20_000, 20_000),
    ],
)
def test_many_unfinished_directives_are_read_in_linear_time(text: str, count: int) -> None:
    assert len(find_directives(text)) == count  # minutes, if each looks for its end alone


def test_deeply_nested_blocks_of_ptx_are_refused() -> None:
    body = "{" * 5000 + "}" * 5000
    head = ".version 8.5\n.target sm_90a\n.address_size 64\n"
    with pytest.raises(PtxError, match="blocks are nested more than 256 deep"):
        parse_module(f"{head}.visible .entry k()\n{{\n{body}\nret;\n}}\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b]0;title\x07b", "a\\x1b]0;title\\x07b"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\rb\x9bc", "a\\rb\\x9bc"),
        ("\x1b[31mred\x1b[0m\ttab", "\x1b[31mred\x1b[0m\ttab"),
        ("한글 ✅", "한글 ✅"),
    ],
)
def test_control_characters_of_names_do_not_reach_the_terminal(text: str, shown: str) -> None:
    stream = io.StringIO()
    Terminal(stream, colour=True, width=None).line(text)
    assert stream.getvalue() == f"{shown}\n"


def test_a_project_that_somebody_else_planted_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "problems").mkdir()
    (tmp_path / "pyproject.toml").touch()
    inside = tmp_path / "mine"
    inside.mkdir()
    monkeypatch.chdir(inside)
    monkeypatch.delenv("PUZZLE_ROOT", raising=False)
    assert find_project() == Project(tmp_path)
    if os.getuid() == 0:
        os.chown(tmp_path / "pyproject.toml", 12345, 12345)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        monkeypatch.setattr(Path, "cwd", lambda: Path("/"))
    if os.getuid() == 0 or tmp_path.stat().st_uid != 0:
        with pytest.raises(ProjectOfAnotherUser) as caught:
            find_project()
        assert caught.value.hint == f"if you trust it: PUZZLE_ROOT={tmp_path}"
    monkeypatch.setenv("PUZZLE_ROOT", str(tmp_path))
    assert find_project() == Project(tmp_path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_not_a_defect_of_the_tool(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    def fail(_arguments: list[str], _language: str) -> int:
        raise OSError(number, os.strerror(number), "/site/index.html")

    monkeypatch.setattr(cli, "_dispatch", fail)
    assert cli.main(["book", "build"]) == ExitCode.NOT_POSSIBLE
    assert capsys.readouterr().err.splitlines() == [
        "error: /site/index.html: cannot be written",
        f"  why: {os.strerror(number)}",
        "  try: free space there, and run it again",
    ]


def test_folders_of_killed_runs_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    names = ["gpu-puzzle-run-old", "gpu-puzzle-run-new", "gpu-puzzle-book", "gpu-puzzle-run-file"]
    for name in names[:3]:
        (tmp_path / name).mkdir()
    (tmp_path / names[3]).touch()
    for name in (names[0], *names[2:]):
        os.utime(tmp_path / name, (0, 0))
    trials._remove_abandoned()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])


def test_a_git_that_was_killed_gave_no_answer() -> None:
    error = explain(b"", ["cat-file"], -9)
    assert isinstance(error, GitKilled)
    assert error.what == "git cat-file was ended by signal 9"


@needs_simulated_gpu
def test_a_program_cannot_shorten_the_memory_that_it_shares() -> None:
    from tooling.simulator.server.arena import Arena
    from tooling.simulator.server.protocol import ARENA_BASE

    arena = Arena(ARENA_BASE, 1 << 20)
    try:
        with pytest.raises(PermissionError):
            os.truncate(f"/proc/self/fd/{arena.descriptor}", 4096)
        arena.extend(1 << 20)  # it may become longer
    finally:
        arena.close()
