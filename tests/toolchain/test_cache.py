"""What the build cache removes: its own folders, and nothing else in the folder that it was given."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tooling.platform.exit_codes import ExitCode
from tooling.text import in_language
from tooling.toolchain import BuildCache, BuildRequest, Toolchain, build, open_cache
from tooling.toolchain import cache as cache_module
from tooling.toolchain.build import CompilerKilled
from tooling.toolchain.cache_key import build_key


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


PROGRAM = "#!/bin/sh\nexit 0\n"


@pytest.fixture
def toolchain(tmp_path: Path) -> Toolchain:
    """A compiler that writes a fixed program, and counts how often it was called."""
    compiler = tmp_path / "mojo"
    compiler.write_text(
        "#!/bin/sh\n"
        f"echo built >> {tmp_path}/calls\n"
        "while [ $# -gt 1 ]; do shift; done\n"
        f"[ -e {tmp_path}/killed ] && kill -9 $$\n"
        "printf '#!/bin/sh\\nexit 0\\n' > \"$1\"\n"
    )
    compiler.chmod(0o755)
    (tmp_path / "lib").mkdir()
    return Toolchain(compiler, "Mojo 1.2.0", tmp_path / "lib", None)


def calls(folder: Path) -> int:
    path = folder / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0


def request(folder: Path) -> BuildRequest:
    source = folder / "program.mojo"
    source.write_text("def main(): pass\n")
    return BuildRequest(source, emit="asm")  # no linker is needed


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: (entry / "program.s").write_text("#!/bin/sh\n"),  # truncated
        lambda entry: (entry / "program.s").unlink(),
        lambda entry: (entry / "build.json").write_text("{"),
        lambda entry: (entry / "build.json").write_text(
            (entry / "build.json").read_text().replace("program.s", "../../../program.mojo")
        ),
    ],
)
def test_a_damaged_entry_is_built_again(
    tmp_path: Path, toolchain: Toolchain, damage: Callable[[Path], object]
) -> None:
    cache = BuildCache(tmp_path / "cache")
    built = build(request(tmp_path), toolchain, cache)
    assert not build(request(tmp_path), toolchain, cache).fresh
    damage(built.path.parent)
    again = build(request(tmp_path), toolchain, cache)
    assert (again.fresh, again.path, again.path.read_text(), calls(tmp_path)) == (
        True,
        built.path,
        PROGRAM,
        2,
    )


def test_a_compiler_that_was_killed_is_not_the_programs_fault(tmp_path: Path, toolchain: Toolchain) -> None:
    (tmp_path / "killed").touch()
    with pytest.raises(CompilerKilled) as caught:
        build(request(tmp_path), toolchain, BuildCache(tmp_path / "cache"))
    assert caught.value.what == "the compiler was killed while it built program.mojo"
    assert caught.value.exit_code is ExitCode.NOT_POSSIBLE


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path, toolchain: Toolchain) -> None:
    cache = BuildCache(tmp_path / "cache")
    victim = tmp_path / "victim"
    victim.write_text("kept")
    locks = cache.root / "locks"
    locks.mkdir(parents=True)
    (locks / build_key(request(tmp_path), toolchain)).symlink_to(victim)
    assert build(request(tmp_path), toolchain, cache).note is not None  # elsewhere
    assert victim.read_text() == "kept"


def test_a_folder_that_others_can_write_is_closed_or_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    root = tmp_path / "cache"
    root.mkdir()
    root.chmod(0o777)
    assert open_cache(root).root == root
    assert root.stat().st_mode & 0o777 == 0o755  # it is this user's
    monkeypatch.setattr(os, "getuid", lambda: 12345)  # now it is another user's
    monkeypatch.setattr(cache_module, "fallback_cache", lambda: BuildCache(tmp_path / "mine"))
    if root.stat().st_uid == 0:
        assert open_cache(root).root == root  # root's, and closed
        root.chmod(0o775)
    other = open_cache(root)
    assert other.root == tmp_path / "mine"
    used = tmp_path / "mine"
    assert (
        in_language(other.note, "en")
        == f"other users can change the build cache {root}; {used} is used instead"
    )


def test_a_new_cache_is_closed_to_other_users(tmp_path: Path) -> None:
    root = tmp_path / "of" / "mine"
    assert open_cache(root).writable
    assert root.stat().st_mode & 0o777 == 0o700


def test_a_cache_that_others_could_fill_is_not_used_once_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, mine = tmp_path / "cache", tmp_path / "mine"
    (root / "builds" / "planted").mkdir(parents=True)
    root.chmod(0o777)
    monkeypatch.setattr(cache_module, "fallback_cache", lambda: BuildCache(mine))
    real = Path.lstat

    def of_another(path: Path) -> os.stat_result:
        status = real(path)
        if path.name != "planted":
            return status
        return os.stat_result((*status[:4], 12345, *status[5:]))

    monkeypatch.setattr(Path, "lstat", of_another)
    assert [open_cache(root).root for _ in range(2)] == [mine, mine]
    (root / "builds" / "planted").rmdir()
    assert open_cache(root).root == root


def test_waiting_for_another_build_is_reported(
    tmp_path: Path, toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = BuildCache(tmp_path / "cache", language="ko")
    said = io.StringIO()  # capsys loses what a thread writes while the test reads
    monkeypatch.setattr(sys, "stderr", said)

    def wait() -> None:
        with cache.locked("k"):
            pass

    with cache.locked("k"):
        thread = threading.Thread(target=wait)
        thread.start()
        while "같은 프로그램을 빌드하는 다른 프로세스가 끝나기를" not in said.getvalue():
            time.sleep(0.01)
    thread.join()
