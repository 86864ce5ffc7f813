"""A file of the reader is copied before it is overwritten, or it is not overwritten."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tooling.catalog.model import Program, TensorApi
from tooling.generate.kept_files import CopyFailed, keep_copy
from tooling.learning.answers import reset
from tooling.reports.files import ReportNotWritten, write_report


def test_copies_of_one_second_are_apart(tmp_path: Path) -> None:
    file = tmp_path / "p01.mojo"
    copies = []
    for text in ("first", "second", "third"):
        file.write_text(text)
        copies.append(keep_copy(file))
    assert [copy.read_text() for copy in copies] == ["first", "second", "third"]
    assert all(copy.name.startswith("p01.mojo.20") for copy in copies)


def test_a_file_that_cannot_be_copied_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, solution = tmp_path / "problems" / "p01.mojo", tmp_path / "solutions" / "p01.mojo"
    for file in (problem, solution):
        file.parent.mkdir()
        file.write_text("mine\n" if file == problem else "theirs\n")
    opened = Path.open

    def full(path: Path, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if mode == "xb":
            opened(path, "xb").close()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(path, mode, *rest, **named)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(CopyFailed) as caught:
        reset(Program("p01", TensorApi.RAW, problem, solution))
    assert caught.value.what == "the file is left as it is, because it cannot be copied"
    assert caught.value.why is not None
    assert caught.value.why.endswith("No space left on device")
    assert problem.read_text() == "mine\n"
    assert [path.name for path in problem.parent.iterdir()] == ["p01.mojo"]


def test_a_file_behind_a_link_is_not_written(tmp_path: Path) -> None:
    problem, solution, own = tmp_path / "p" / "p01.mojo", tmp_path / "s" / "p01.mojo", tmp_path / "own.mojo"
    for folder in (problem.parent, solution.parent):
        folder.mkdir()
    solution.write_text("theirs\n")
    own.write_text("mine\n")
    problem.symlink_to(own)
    (done,) = reset(Program("p01", TensorApi.RAW, problem, solution))
    assert own.read_text() == "mine\n"
    assert problem.read_text() == "theirs\n"
    assert not problem.is_symlink()
    assert done.copy is not None
    assert done.copy.read_text() == "mine\n"


@pytest.mark.parametrize("name", ["p01.mojo", "reference.py", "puzzle.yaml", "page.md"])
def test_a_report_does_not_overwrite_a_program(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("mine\n")
    with pytest.raises(ReportNotWritten, match="a report does not overwrite a program"):
        write_report(str(file), "{}")
    assert file.read_text() == "mine\n"
