"""What was solved is kept, and nothing is ever lost to a damaged file."""

from __future__ import annotations

import errno
import json
import threading
from pathlib import Path

import pytest

from tooling.catalog.catalogue import load_catalogue
from tooling.platform import state_file
from tooling.platform.errors import ToolingError
from tooling.progress import (
    earlier_path,
    earlier_record,
    export_progress,
    forget_all,
    forget_program,
    import_progress,
    progress_path,
    read_progress,
    record_shown,
    record_solved,
)
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


def test_the_record_is_in_the_folder_of_the_puzzles_unless_a_variable_names_another(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert progress_path(tmp_path) == state / ".progress.json"
    monkeypatch.delenv("PUZZLE_STATE_DIR")
    assert progress_path(tmp_path) == tmp_path / ".progress.json"


def test_an_earlier_folder_of_state_that_is_not_absolute_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for given, folder in (("state", tmp_path / ".local/state"), (str(tmp_path / "x"), tmp_path / "x")):
        monkeypatch.setenv("XDG_STATE_HOME", given)
        assert earlier_path() == folder / "gpu-puzzle-lab" / "progress.json"


def test_nothing_is_solved_at_first(tmp_path: Path) -> None:
    progress = read_progress(tmp_path)
    assert (dict(progress.solved), progress.note) == ({}, None)


def test_the_first_success_counts_and_folders_are_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PUZZLE_STATE_DIR")
    for name in "ab":
        (tmp_path / name).mkdir()
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
        b'{"version": 3, "solved": 3}',
        b"\xff\xfe",
        b"null",
    ],
)
def test_a_damaged_file_is_put_aside_and_told(tmp_path: Path, damage: bytes) -> None:
    path = progress_path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    note = _english(record_solved(tmp_path, "p01", "default"))
    assert ".progress.json.damaged" in note
    assert path.with_name(".progress.json.damaged").read_bytes() == damage
    assert "p01" in read_progress(tmp_path).solved
    path.write_bytes(damage)
    assert ".progress.json.damaged-2" in _english(read_progress(tmp_path).note)


def test_a_file_of_a_newer_version_is_left_as_it_is(tmp_path: Path) -> None:
    path = progress_path(tmp_path)
    path.parent.mkdir(parents=True)
    newer = b'{"version": 4, "solved": [["p01", "default"]]}'
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
    expected = (
        f"{progress_path(tmp_path)}: the record of your progress cannot be read\n  why: Input/output error"
    )
    assert [_english(note) for note in notes] == [expected, expected]
    assert in_language(notes[0], "ko") == (
        f"{progress_path(tmp_path)}: 진도 기록: 읽을 수 없습니다\n  이유: Input/output error"
    )
    assert list(read_progress(tmp_path).solved) == ["p01"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path / "file" / "state"))
    note = record_solved(tmp_path, "p01", "default")
    assert "could not be kept" in _english(note)
    assert (
        in_language(note, "ko") == f"{progress_path(tmp_path)}에 진도를 기록하지 못했습니다: Not a directory "
        "(다른 폴더는 PUZZLE_STATE_DIR로 지정합니다)"
    )


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
    assert json.loads(progress_path(tmp_path).read_text(encoding="utf-8"))["version"] == 3
    assert {path.name for path in progress_path(tmp_path).parent.iterdir()} == {
        ".progress.json",
        ".progress.json.lock",
    }


def test_programs_and_gpus_that_passed_are_kept_beside_the_first_success(tmp_path: Path) -> None:
    for program, device in (("p12", "H200"), ("p12_raw", "H200"), ("p12", "M4"), ("p12", "H200")):
        record_solved(tmp_path, "p12", "default", program=program, device=device, seconds=8.04)
    solved = read_progress(tmp_path).solved["p12"]["default"]
    assert (solved.device, solved.seconds) == ("H200", 8.0)
    assert solved.passes == {"p12": ("H200", "M4"), "p12_raw": ("H200",)}
    assert solved.devices == ("H200", "M4")


def test_a_program_that_is_reset_leaves_what_another_has_solved(tmp_path: Path) -> None:
    for program in ("p12", "p12_raw"):
        record_solved(tmp_path, "p12", "default", program=program, device="H200")
    record_solved(tmp_path, "p12", "other", program="p12", device="H200")
    record_solved(tmp_path, "p13", "default", program="p13", device="H200")
    assert forget_program(tmp_path, "p12", "p12") is None
    assert read_progress(tmp_path).solved["p12"].keys() == {"default"}
    forget_program(tmp_path, "p12", "p12_raw")
    assert read_progress(tmp_path).solved.keys() == {"p13"}
    record_shown(tmp_path, "p02")
    assert forget_all(tmp_path) is None
    assert (read_progress(tmp_path).solved, read_progress(tmp_path).shown) == ({}, frozenset())


VERSION_1 = {
    "version": 1,
    "checkouts": {
        "/home/me/old": {
            "p01": {"default": "2026-01-01T00:00:00Z"},
            "p23": {"tiled": "2026-02-01T00:00:00Z"},
        },
        "/home/me/new": {"p01": {"default": "2026-03-01T00:00:00Z"}},
    },
}
VERSION_2 = {
    "version": 2,
    "projects": {
        "gpu-puzzle-lab": {
            "solved": {
                "p01": {"default": {"at": "2026-01-01T00:00:00Z"}},
                "p23": {"tiled": {"at": "2026-02-01T00:00:00Z", "device": "H200"}},
            },
            "shown": ["p02"],
        },
        "another": {"solved": {"p05": {"default": {"at": "2026-01-01T00:00:00Z"}}}},
    },
}


@pytest.mark.parametrize(("content", "shown"), [(VERSION_1, set()), (VERSION_2, {"p02"})])
def test_the_record_of_an_earlier_version_is_found_and_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: dict[str, object], shown: set[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert earlier_record(ROOT) is None
    path = earlier_path()
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))
    assert read_progress(ROOT).solved == {}
    assert earlier_record(ROOT) == path
    assert import_progress(ROOT, path) == (2, None)
    progress = read_progress(ROOT)
    assert progress.solved["p01"]["default"].at == "2026-01-01T00:00:00Z"
    assert progress.solved["p23"]["tiled"].at == "2026-02-01T00:00:00Z"
    assert (set(progress.solved), set(progress.shown)) == ({"p01", "p23"}, shown)
    assert earlier_record(ROOT) is None
    assert import_progress(ROOT, path) == (0, None)
    assert json.loads(path.read_text()) == content


def test_progress_goes_from_folder_to_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUZZLE_STATE_DIR")
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    record_solved(first, "p01", "default", program="p01", device="H200")
    record_solved(second, "p02", "default", program="p02", device="M4")
    (tmp_path / "exported").write_text(export_progress(first))
    for source in (first, tmp_path / "exported"):
        assert import_progress(second, source) == (source == first, None)
        assert read_progress(second).solved.keys() == {"p01", "p02"}
    assert read_progress(second).solved["p01"] == read_progress(first).solved["p01"]
    assert read_progress(first).solved.keys() == {"p01"}


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "there is no record of progress"),
        ("{", "this file is not a record of progress"),
        ('{"version": 4}', "the record of your progress was written by a newer version of this tool"),
    ],
)
def test_what_cannot_be_imported_stays_as_it_is(tmp_path: Path, content: str | None, what: str) -> None:
    source = tmp_path / "given.json"
    if content is not None:
        source.write_text(content)
    with pytest.raises(ToolingError, match=what):
        import_progress(ROOT, source)
    assert (source.read_text() if source.exists() else None) == content
    assert read_progress(ROOT).solved == {}
