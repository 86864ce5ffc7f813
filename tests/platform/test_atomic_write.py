"""Atomic writes, also on a full disk."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tooling.platform.atomic_write import write_atomically, write_temporary
from tooling.translations.commands.writing import ConcurrentEditError, replace_page

ROOM = 4096  # bytes
TOO_LONG = b"new" * ROOM


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Limits the size of files to this many bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_without_atomic_writes_the_limit_leaves_an_incomplete_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File too large"), files_of_at_most(ROOM):
        (tmp_path / "half").write_bytes(TOO_LONG)
    assert (tmp_path / "half").stat().st_size == ROOM


@pytest.mark.parametrize("write", [write_atomically, write_temporary])
@pytest.mark.parametrize("before", [{}, {"page.md": b"old"}], ids=["new", "replaced"])
def test_on_a_full_disk_the_file_is_unchanged_and_no_temporary_file_remains(
    write: Callable[[Path, bytes], object], before: dict[str, bytes], tmp_path: Path
) -> None:
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(OSError, match="File too large"), files_of_at_most(ROOM):
        write(tmp_path / "page.md", TOO_LONG)
    assert contents(tmp_path) == before


def test_without_permission_to_replace_no_temporary_file_remains(tmp_path: Path) -> None:
    (tmp_path / "page.md").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "page.md", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_a_file_is_replaced_with_its_folders_and_permissions(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "folder" / "run"
    write_atomically(path, b"old")
    write_atomically(path, b"new", 0o700)
    assert contents(path.parent) == {"run": b"new"}
    assert path.stat().st_mode & 0o777 == 0o700


def test_a_page_that_an_editor_has_saved_is_kept_and_no_temporary_file_remains(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_bytes(b"saved by an editor")
    with pytest.raises(ConcurrentEditError) as caught:
        replace_page(page, b"as it was read", b"as it was to be")
    assert str(caught.value) == (
        f"{page}: the page changed while its marker was being written\n"
        "  why: writing now would lose that edit\n"
        "  try: run the command again"
    )
    assert contents(tmp_path) == {"page.md": b"saved by an editor"}
    replace_page(page, b"saved by an editor", b"as it was to be")
    assert contents(tmp_path) == {"page.md": b"as it was to be"}


def test_a_page_on_a_full_disk_is_kept_and_no_temporary_file_remains(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_bytes(b"old")
    with pytest.raises(OSError, match="File too large"), files_of_at_most(ROOM):
        replace_page(page, b"old", TOO_LONG)
    assert contents(tmp_path) == {"page.md": b"old"}


def test_a_link_in_place_of_the_temporary_file_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is hard to guess; another user of a shared folder is assumed to have guessed it."""
    monkeypatch.setattr(threading, "get_ident", lambda: 7)
    victim = tmp_path / "victim"
    victim.write_bytes(b"kept")
    (tmp_path / f".report.json.{os.getpid()}-7.tmp").symlink_to(victim)
    write_atomically(tmp_path / "report.json", b"new")
    assert contents(tmp_path) == {"report.json": b"new", "victim": b"kept"}
