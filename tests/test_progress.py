"""What was solved is kept, and nothing is ever lost to a damaged file."""

from __future__ import annotations

import errno
import json
import threading
from pathlib import Path

import pytest

from tooling.catalog.catalogue import load_catalogue
from tooling.platform import state_file
from tooling.progress import progress_path, read_progress, record_shown, record_solved
from tooling.project import Project
from tooling.text import Sentence, in_language

ROOT = Path(__file__).resolve().parents[1]


def _english(note: Sentence | None) -> str:
    assert note is not None
    return note.render("en")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def test_a_state_folder_that_is_not_absolute_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PUZZLE_STATE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    for given, folder in (("state", tmp_path / ".local/state"), (str(tmp_path / "x"), tmp_path / "x")):
        monkeypatch.setenv("XDG_STATE_HOME", given)
        assert progress_path() == folder / "gpu-puzzle-lab" / "progress.json"


def test_nothing_is_solved_at_first(tmp_path: Path) -> None:
    progress = read_progress(tmp_path)
    assert (dict(progress.solved), progress.note) == ({}, None)


def test_the_first_success_counts_and_checkouts_are_apart(tmp_path: Path) -> None:
    assert record_solved(tmp_path / "a", "p23", "tiled") is None
    first = read_progress(tmp_path / "a").solved["p23"]["tiled"]
    assert record_solved(tmp_path / "a", "p23", "tiled", device="another GPU") is None
    assert read_progress(tmp_path / "a").solved == {"p23": {"tiled": first}}
    assert read_progress(tmp_path / "b").solved == {}


def test_a_puzzle_is_solved_when_all_that_it_asks_for_is() -> None:
    puzzle = next(each for each in load_catalogue(Project(ROOT)) if each.id == "p23")
    asked = [mode.name for mode in puzzle.modes if mode.kind.value == "puzzle"]
    assert len(asked) > 1
    for mode in asked:
        assert not read_progress(ROOT).is_solved(puzzle)
        record_solved(ROOT, "p23", mode)
    assert read_progress(ROOT).is_solved(puzzle)


@pytest.mark.parametrize(
    "damage",
    [
        b"{",
        b"[]",
        b'{"version": 0}',
        b'{"version": 1, "checkouts": 3}',
        b'{"version": 2, "projects": 3}',
        b"\xff\xfe",
        b"null",
    ],
)
def test_a_damaged_file_is_put_aside_and_told(tmp_path: Path, damage: bytes) -> None:
    path = progress_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    note = _english(record_solved(tmp_path, "p01", "default"))
    assert "progress.json.damaged" in note
    assert path.with_name("progress.json.damaged").read_bytes() == damage
    assert "p01" in read_progress(tmp_path).solved
    path.write_bytes(damage)
    assert "progress.json.damaged-2" in _english(read_progress(tmp_path).note)


def test_a_file_of_a_newer_version_is_left_as_it_is(tmp_path: Path) -> None:
    path = progress_path()
    path.parent.mkdir(parents=True)
    newer = b'{"version": 3, "solved": [["p01", "default"]]}'
    path.write_bytes(newer)
    progress = read_progress(tmp_path)
    for note in (record_solved(tmp_path, "p01", "default"), progress.note):
        assert "written by a newer version" in _english(note)
        assert "git pull" in _english(note)
    assert progress.solved == {}
    assert path.read_bytes() == newer
    assert not list(path.parent.glob("*.damaged*"))


def test_a_file_that_cannot_be_read_for_now_is_not_moved_nor_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_solved(tmp_path, "p01", "default")

    def refuse(_path: Path, *, limit: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(state_file, "read_regular", refuse)
        notes = [record_solved(tmp_path, "p02", "default"), read_progress(tmp_path).note]
    expected = f"{progress_path()}: the record of your progress cannot be read\n  why: Input/output error"
    assert [_english(note) for note in notes] == [expected, expected]
    assert in_language(notes[0], "ko") == (
        f"{progress_path()}: 진도 기록: 읽을 수 없습니다\n  이유: Input/output error"
    )
    assert list(read_progress(tmp_path).solved) == ["p01"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path / "file" / "state"))
    note = record_solved(tmp_path, "p01", "default")
    assert "could not be kept" in _english(note)
    assert in_language(note, "ko") == f"{progress_path()}에 진도를 기록하지 못했습니다: Not a directory"


def test_runs_that_end_together_keep_both_entries(tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=record_solved, args=(tmp_path, f"p{number:02}", "default"))
        for number in range(1, 13)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_progress(tmp_path).solved) == 12
    assert json.loads(progress_path().read_text(encoding="utf-8"))["version"] == 2
    assert {path.name for path in progress_path().parent.iterdir()} == {"progress.json", "progress.json.lock"}


def test_clones_of_one_project_share_their_progress(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text('[project]\nname = "puzzles"\n')
    record_solved(tmp_path / "first", "p01", "default", device="NVIDIA H200", seconds=8.04)
    solved = read_progress(tmp_path / "second").solved["p01"]["default"]
    assert (solved.device, solved.seconds) == ("NVIDIA H200", 8.0)


def test_progress_of_version_1_is_kept(tmp_path: Path) -> None:
    path = progress_path()
    path.parent.mkdir(parents=True)
    checkouts = {
        "/home/me/old": {
            "p01": {"default": "2026-01-01T00:00:00Z"},
            "p23": {"tiled": "2026-02-01T00:00:00Z"},
        },
        "/home/me/new": {"p01": {"default": "2026-03-01T00:00:00Z"}},
    }
    path.write_text(json.dumps({"version": 1, "checkouts": checkouts}))
    assert record_shown(ROOT, "p02") is None
    progress = read_progress(ROOT)
    assert progress.note is None
    assert progress.solved["p01"]["default"].at == "2026-01-01T00:00:00Z"
    assert progress.solved["p23"]["tiled"].at == "2026-02-01T00:00:00Z"
    assert progress.shown == {"p02"}
    assert json.loads(path.read_text())["version"] == 2
