"""A stdin, stdout or stderr that the caller closed: `tooling list >&-`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import REPOSITORY

CLOSED = """\
error: the output cannot be written
  why: stdout is closed
  try: redirect it to a file, or to `/dev/null` if no output is wanted
"""


def run_with(redirections: str, line: str) -> subprocess.CompletedProcess[str]:
    """A command as a shell starts it with some of its streams closed."""
    script = f'exec "$0" -m tooling {line} {redirections}'
    return subprocess.run(
        ["sh", "-c", script, sys.executable], capture_output=True, text=True, check=False, cwd=REPOSITORY
    )


@pytest.mark.parametrize(
    "line", ["list", "start", "progress", "hint p01", "targets", "--version", "--help", "run --help"]
)
def test_a_closed_stdout_is_named(line: str) -> None:
    done = run_with(">&-", line)
    assert (done.returncode, done.stderr) == (4, CLOSED)


def test_an_error_is_shown_where_stdout_is_closed() -> None:
    done = run_with(">&-", "run p51")
    assert done.returncode == 2
    assert done.stderr.startswith("error: there is no puzzle `p51`\n")


def test_an_error_does_not_go_to_stdout_where_stderr_is_closed() -> None:
    done = run_with("2>&-", "run p51")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(("line", "status"), [("list", 4), ("run p51", 2)])
def test_the_status_remains_where_all_streams_are_closed(line: str, status: int) -> None:
    assert run_with("<&- >&- 2>&-", line).returncode == status


def test_a_closed_stdin_is_no_terminal() -> None:
    done = run_with("<&-", "watch")
    assert done.returncode == 2
    assert done.stderr.startswith("error: `tooling watch` needs a terminal\n")


def test_a_file_opened_later_is_not_the_stdout_of_children(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import subprocess, sys, tempfile\n"
        "from tooling import cli\n"
        "cli.main(['--version'])\n"
        "with tempfile.TemporaryFile() as file:\n"
        "    subprocess.run(['sh', '-c', 'echo written to stdout'])\n"
        "    print(file.read(), file=sys.stderr)\n"
    )
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$1" >&-', sys.executable, program],
        capture_output=True, text=True, check=False, cwd=REPOSITORY, env={**os.environ, "PYTHONPATH": "."},
    )  # fmt: skip
    assert done.stderr.removeprefix(CLOSED) == "b''\n"
