"""Reading of files that may be anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.platform.regular_files import WrongSize, read_regular


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_bytes(b"12345")
    assert read_regular(file) == read_regular(file, limit=5) == b"12345"
    with pytest.raises(WrongSize):
        read_regular(file, limit=4)


def test_an_empty_file_has_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "empty.md").touch()
    assert read_regular(tmp_path / "empty.md", limit=0) == b""


def test_a_file_of_unknown_size_is_read_to_its_end() -> None:
    process = Path("/proc/self/status")
    if not process.is_file():
        pytest.skip("this system has no /proc")
    assert b"Threads" in read_regular(process)  # its size is given as 0
    with pytest.raises(WrongSize):
        read_regular(process, limit=10)
