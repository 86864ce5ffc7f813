"""The script that provides built packages, which MAX would otherwise build again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tooling.toolchain import BuildCache, Toolchain
from tooling.toolchain.cache import CacheUnusable
from tooling.toolchain.packages import DRIVER_VARIABLE, make_driver, package_stem


@pytest.fixture
def toolchain(tmp_path: Path) -> Toolchain:
    """A compiler that prints its arguments; the space in its path is intentional."""
    mojo = tmp_path / "my tools" / "mojo"
    mojo.parent.mkdir()
    mojo.write_text(f'#!/bin/sh\necho "compiles $*, driver: ${{{DRIVER_VARIABLE}-}}"\n')
    mojo.chmod(0o755)
    return Toolchain(mojo, "1.2.0", tmp_path, None)


def asked(driver: Path, *arguments: str) -> str:
    result = subprocess.run(
        [driver, *arguments],
        env={**os.environ, DRIVER_VARIABLE: str(driver)},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


def test_max_receives_each_built_package(tmp_path: Path, toolchain: Toolchain) -> None:
    folders = [tmp_path / "op", tmp_path / "other op"]
    built = [tmp_path / "a cache" / f"{package_stem(folder)}.mojoc" for folder in folders]
    for number, path in enumerate(built):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes([number]))
    driver = make_driver(built, toolchain, BuildCache(tmp_path / "cache"))
    for number, (folder, path) in enumerate(zip(folders, built, strict=True)):
        output = tmp_path / "staging" / path.name
        output.parent.mkdir(exist_ok=True)
        assert asked(driver, "precompile", str(folder), "-o", str(output)) == ""
        assert output.read_bytes() == bytes([number])
    assert make_driver(built, toolchain, BuildCache(tmp_path / "cache")) == driver


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("precompile", "/another/op", "-o", "/tmp/mojo_pkg_0123.mojoc"),
        ("build", "/op", "-o", "/tmp/{name}"),
        ("precompile", "/op", "-o", "/tmp/{name}"),  # swept from the cache in the meantime
    ],
)
def test_other_commands_are_passed_to_the_compiler(
    tmp_path: Path, toolchain: Toolchain, arguments: tuple[str, ...]
) -> None:
    name = f"{package_stem(Path('/op'))}.mojoc"
    gone = tmp_path / "gone" / name
    driver = make_driver([gone], toolchain, BuildCache(tmp_path / "cache"))
    wanted = [argument.format(name=name) for argument in arguments]
    # The variable is gone: the `mojo` command of a wheel starts what it names, and would start the script.
    assert asked(driver, *wanted) == f"compiles {' '.join(wanted)}, driver: \n"


def test_an_unwritable_cache_is_reported(tmp_path: Path, toolchain: Toolchain) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "packages").write_text("a file where a folder should be")
    with pytest.raises(CacheUnusable, match="script that provides built packages") as caught:
        make_driver([tmp_path / "op.mojoc"], toolchain, BuildCache(tmp_path / "cache"))
    assert "PUZZLE_CACHE_DIR" in (caught.value.hint or "")
