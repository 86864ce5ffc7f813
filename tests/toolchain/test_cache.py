"""What the build cache removes: its own folders, and nothing else in the folder that it was given."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tooling.toolchain import BuildCache
from tooling.toolchain import cache as cache_module


def test_sweeping_removes_old_entries_of_the_cache_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "_MOST_ENTRIES", 7)
    cache = BuildCache(tmp_path)
    with cache.partial() as folder:
        abandoned = folder.with_name(f"{folder.name}-abandoned")
    mine = [tmp_path / "partial" / "thesis" / "draft", tmp_path / "builds" / "release" / "program"]
    for path in mine:
        path.parent.mkdir(parents=True)
        path.write_text("kept")
        os.utime(path.parent, (0, 0))
    abandoned.mkdir()
    os.utime(abandoned, (0, 0))
    entries = [cache.entry(f"{number:040x}") for number in range(8)]
    for age, entry in enumerate(entries):
        entry.mkdir()
        os.utime(entry, (age + 1, age + 1))
    cache.sweep()
    assert [path.read_text() for path in mine] == ["kept", "kept"]
    assert not abandoned.exists()
    removed = [entry for entry in entries if not entry.exists()]
    assert removed == entries[:2]
