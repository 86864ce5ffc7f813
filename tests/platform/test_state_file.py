"""State that is kept from run to run: read as its type says, and never lost to a damaged file."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from msgspec import Struct

from tooling.platform import state_file
from tooling.platform.state_file import (
    StateDamaged,
    StateError,
    StateFile,
    StateNotReadable,
    StateOfNewerVersion,
    decoded,
    encoded,
    read_cached,
)
from tooling.text import Text


class Solved(Struct):
    version: int
    names: list[str]


class Built(Struct, frozen=True):
    path: Path
    names: frozenset[str]


def file_in(folder: Path) -> StateFile[Solved]:
    return StateFile(folder / "solved.json", Solved, 2, Text("the record of solved puzzles"))


def refusal(file: StateFile[Solved], kind: type[StateError]) -> str:
    with pytest.raises(kind) as caught:
        file.load()
    return str(caught.value)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    file = file_in(tmp_path / "new")
    assert file.load() is None
    file.save(Solved(2, ["p01"]))
    assert file.load() == Solved(2, ["p01"])
    assert file.path.read_text() == '{\n "version": 2,\n "names": [\n  "p01"\n ]\n}\n'
    assert [path.name for path in file.path.parent.iterdir()] == ["solved.json"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "Input data was truncated"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"names": []}', "Object missing required field `version`"),
        (b'{"version": 1, "names": []}', "it is of version 1, not 2"),
        (b'{"version": 2}', "Object missing required field `names`"),
        (b'{"version": 2, "names": [3]}', "Expected `str`, got `int` - at `$.names[0]`"),
        (b'{"version": 2, "names": ["\xff"]}', "'utf-8' codec can't decode byte 0xff in position 0"),
        (b'{"version": 2, "names": ' + b"[" * 100_000, "JSON is nested too deeply"),
    ],
)
def test_a_damaged_file_is_moved_aside(tmp_path: Path, content: bytes, why: str) -> None:
    file = file_in(tmp_path)
    for name in ("solved.json.damaged", "solved.json.damaged-2"):
        file.path.write_bytes(content)
        message = refusal(file, StateDamaged)
        assert message.startswith(f"{tmp_path / name}: the record of solved puzzles is damaged\n  why: {why}")
        assert (tmp_path / name).read_bytes() == content
        assert file.load() is None


def test_a_damaged_file_that_cannot_be_moved_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = file_in(tmp_path)
    file.path.write_bytes(b"{")

    def refuse(_path: Path, _target: Path) -> Path:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    assert refusal(file, StateDamaged) == (
        f"{file.path}: the record of solved puzzles is damaged\n"
        "  why: Input data was truncated\n"
        "  try: delete it: it could not be moved aside (Permission denied)"
    )
    assert file.path.read_bytes() == b"{"


@pytest.mark.parametrize(
    ("number", "why"), [(errno.EACCES, "Permission denied"), (errno.EIO, "Input/output error")]
)
def test_a_file_that_cannot_be_read_now_stays_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, why: str
) -> None:
    file = file_in(tmp_path)
    file.save(Solved(2, ["p01"]))

    def refuse(_path: Path, *, limit: int) -> bytes:
        raise OSError(number, why)

    with monkeypatch.context() as patch:
        patch.setattr(state_file, "read_regular", refuse)
        message = refusal(file, StateNotReadable)
        assert read_cached(file.path, Solved) is None
    assert message == f"{file.path}: the record of solved puzzles cannot be read\n  why: {why}"
    assert file.load() == Solved(2, ["p01"])


def test_a_file_of_a_newer_version_stays_as_it_is(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    file.path.write_bytes(b'{"version": 3, "titles": {}}')
    assert refusal(file, StateOfNewerVersion) == (
        f"{file.path}: the record of solved puzzles was written by a newer version of this tool, and left as "
        "it is\n"
        "  why: it is of version 3; this tool knows version 2\n"
        "  try: update this checkout (`git pull`)"
    )
    assert file.path.read_bytes() == b'{"version": 3, "titles": {}}'


def test_equal_values_give_equal_files_with_paths_and_sets() -> None:
    values = [Built(Path("bin/p01"), frozenset(names)) for names in (["b", "a", "c"], ["c", "b", "a"])]
    assert [encoded(value) for value in values] == [b'{"path":"bin/p01","names":["a","b","c"]}'] * 2
    assert decoded(encoded(values[0]), Built) == values[0]


def test_what_a_cache_does_not_hold_is_none(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    assert read_cached(path, Built) is None
    path.write_bytes(b'{"path": 3, "names": []}')
    assert read_cached(path, Built) is None
    path.write_bytes(b'{"path": "a", "names": []}')
    assert read_cached(path, Built) == Built(Path("a"), frozenset())
