"""What a page of `tooling book serve` gets of a run."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tooling.learning.page_runs import PageRuns, styled
from tooling.project import Project

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("plain\n", [("plain\n", "")]),
        ("\x1b[31mwhy:\x1b[0m <b>\n", [("why:", "red"), (" <b>\n", "")]),
        ("\x1b[2m\x1b[0m", []),
        ("\x1b[38;5;9mother\x1b[0m", [("other", "")]),
        ("a\x1b[2J\x1b]8;;x\x07b\r\n", [("a8;;xb\n", "")]),
    ],
)
def test_terminal_output_becomes_pieces_with_styles(text: str, pieces: list[tuple[str, str]]) -> None:
    assert list(styled(text)) == pieces


def test_only_the_commands_of_puzzles_can_be_run(tmp_path: Path) -> None:
    runs = PageRuns(Project(ROOT), os.environ)
    for command in ("p99", "p01 --json x", "p01; ls", "-h", "p01 "):
        with pytest.raises(LookupError):
            runs.start(command, "en")
    assert runs.state() == {"command": "", "running": False, "status": None, "seconds": 0, "output": []}


def test_a_run_can_be_followed_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / "tooling"
    command.write_text(
        "import os, sys, time\n"
        "print(sys.argv[1:], os.environ['PUZZLE_LANG'], 'NO_COLOR' in os.environ, flush=True)\n"
        "time.sleep(60 if sys.argv[2] == 'p02' else 0)\n"
        "sys.exit(1)\n"
    )
    monkeypatch.setattr("sys.argv", [str(command)])
    runs = PageRuns(Project(ROOT), {**os.environ, "NO_COLOR": "1"})
    runs.start("p23 --tiled", "ko")
    deadline = time.monotonic() + 30
    while runs.state()["running"] and time.monotonic() < deadline:
        time.sleep(0.01)
    state = runs.state()
    assert (state["command"], state["status"]) == ("p23 --tiled", 1)
    assert state["output"] == [("['run', 'p23', '--tiled'] ko False\n", "")]
    runs.start("p02", "en")
    assert runs.state()["running"]
    runs.stop()
    assert runs.state()["command"] == ""
