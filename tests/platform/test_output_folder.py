"""Output folders are replaced as a whole, and only if they contain only former output."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from tooling.platform.exit_codes import ExitCode
from tooling.platform.output_folder import MARKER, OutputFolder, OutputFolderRefused

COMMAND = "tooling bundle"


def tree(folder: Path) -> dict[str, bytes | None]:
    """The contents of all files below a folder; None for a folder."""
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def write(folder: Path, **files: str) -> None:
    """Replaces a folder with these files, as a command does."""
    with OutputFolder.claim(folder, COMMAND, ()).replaced() as fresh:
        for name, text in files.items():
            (fresh / name).write_text(text)


def test_former_output_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(folder, a="1", b="2")
    write(folder, b="3")
    assert json.loads((folder / MARKER).read_text()) == {"command": COMMAND, "files": ["b"]}
    assert sorted(tree(tmp_path)) == ["out", f"out/{MARKER}", "out/b"]
    assert (folder / "b").read_text() == "3"


def test_an_empty_folder_is_replaced_and_missing_parents_are_created(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "new" / "er"):
        write(folder, a="1")
        assert (folder / "a").read_text() == "1"


def test_folders_with_similar_names_are_left_alone(tmp_path: Path) -> None:
    for suffix in (".new", ".old", ".partial", ".previous"):
        (tmp_path / f"out{suffix}").mkdir()
        (tmp_path / f"out{suffix}" / "mine").write_text("kept")
    (tmp_path / ".out.1-1.tmp").mkdir()  # named like a staging folder
    (tmp_path / ".out.1-1.tmp" / "mine").write_text("kept")
    before = tree(tmp_path)
    write(tmp_path / "out", a="1")
    write(tmp_path / "out", a="2")
    after = tree(tmp_path)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"out", "out/a", f"out/{MARKER}"}


@pytest.mark.parametrize(
    "content", ["", "[]", '{"command": "tooling book build", "files": ["mine"]}', "[" * 9999]
)
def test_a_folder_without_our_marker_is_refused(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "mine").write_text("kept")
    if content:
        (folder / MARKER).write_text(content)
    before = tree(tmp_path)
    with pytest.raises(OutputFolderRefused, match="was not written by `tooling bundle`") as refusal:
        write(folder, a="1")
    assert "would be deleted" in str(refusal.value)
    assert tree(tmp_path) == before


def test_a_file_that_was_added_later_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(folder, a="1")
    (folder / "measured").mkdir()
    (folder / "measured" / "results.json").write_text("{}")
    before = tree(tmp_path)
    with pytest.raises(OutputFolderRefused) as refusal:
        write(folder, a="2")
    assert str(refusal.value) == (
        f"{folder}/measured/results.json: this file was not written by `tooling bundle`\n"
        "  why: the command replaces its output folder, and the file would be deleted\n"
        f"  try: move it out of {folder}, or use a new or an empty folder"
    )
    assert tree(tmp_path) == before


def test_a_link_to_a_folder_elsewhere_counts_as_a_file(tmp_path: Path) -> None:
    folder, mine = tmp_path / "out", tmp_path / "mine"
    mine.mkdir()
    (mine / "a").write_text("kept")
    write(folder, a="1")
    (folder / "link").symlink_to(mine)
    with pytest.raises(OutputFolderRefused, match="link: this file was not written"):
        write(folder, a="2")
    assert (mine / "a").read_text() == "kept"


def test_compiled_python_is_ignored(tmp_path: Path) -> None:
    write(tmp_path / "out", a="1")
    (tmp_path / "out" / "__pycache__").mkdir()
    (tmp_path / "out" / "__pycache__" / "a.cpython-312.pyc").touch()
    write(tmp_path / "out", a="2")
    assert sorted(tree(tmp_path / "out")) == [MARKER, "a"]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(folder, a="1")
    output = OutputFolder.claim(folder, COMMAND, ())
    with pytest.raises(OutputFolderRefused, match="late: this file"), output.replaced() as fresh:
        (fresh / "a").write_text("2")
        (folder / "late").write_text("kept")
    assert (folder / "late").read_text() == "kept"
    assert (folder / "a").read_text() == "1"
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("make", ["file", "loop", "below-a-file"])
def test_what_is_not_a_folder_is_refused(tmp_path: Path, make: str) -> None:
    path = tmp_path / "out"
    if make == "loop":
        path.symlink_to(path)
    else:
        path.write_text("kept")
    with pytest.raises(OutputFolderRefused) as refusal:
        write(path / "below" if make == "below-a-file" else path, a="1")
    assert refusal.value.exit_code == ExitCode.USAGE
    assert refusal.value.why
    assert names(tmp_path) == ["out"]
    assert make == "loop" or path.read_text() == "kept"


def test_a_link_is_followed_to_the_folder_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", a="1")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a").read_text() == "1"
    (tmp_path / "real" / "mine").touch()
    with pytest.raises(OutputFolderRefused):
        write(tmp_path / "link", a="2")


def test_an_exception_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path / "out", a="1")
    before = tree(tmp_path)
    with (
        pytest.raises(KeyboardInterrupt),
        OutputFolder.claim(tmp_path / "out", COMMAND, ()).replaced() as new,
    ):
        (new / "b").touch()
        raise KeyboardInterrupt
    assert tree(tmp_path) == before


@pytest.mark.parametrize("mine", [False, True])
def test_what_a_killed_process_left_is_cleared_or_put_back(tmp_path: Path, mine: bool) -> None:
    folder, staging = tmp_path / "out", tmp_path / ".out.123-456.tmp"
    write(folder, a="1")
    (staging / "new").mkdir(parents=True)
    (staging / "new" / "b").touch()
    (staging / "lock").write_text(COMMAND)
    folder.rename(staging / "old")  # killed between the two renames
    if mine:
        (staging / "old" / "mine").write_text("kept")
        with pytest.raises(OutputFolderRefused, match="mine: this file"):
            write(folder, a="2")
        assert (folder / "mine").read_text() == "kept"
    else:
        write(folder, a="2")
        assert (folder / "a").read_text() == "2"
    assert names(tmp_path) == ["out"]


def test_the_staging_folder_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    staging = tmp_path / ".out.123-456.tmp"
    (staging / "new").mkdir(parents=True)
    with (staging / "lock").open("w") as lock:
        lock.write(COMMAND)
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        write(tmp_path / "out", a="1")
        assert (staging / "new").is_dir()
    write(tmp_path / "out", a="1")
    assert not staging.exists()


@pytest.mark.parametrize("foreign", [True, False])
def test_a_staging_folder_of_another_user_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, foreign: bool
) -> None:
    """In a shared folder, another user could have a folder of their own take the place of the output."""
    planted = tmp_path / ".out.123-456.tmp"
    (planted / ("old" if foreign else "new")).mkdir(parents=True)
    (planted / "lock").write_text(COMMAND)
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + foreign)
    write(tmp_path / "out", a="1")
    assert sorted(names(tmp_path / "out")) == [MARKER, "a"]
    assert planted.exists() == foreign


def test_a_staging_folder_is_closed_to_other_users(tmp_path: Path) -> None:
    with OutputFolder.claim(tmp_path / "out", COMMAND, ()).replaced() as fresh:
        assert fresh.parent.stat().st_mode & 0o777 == 0o700
