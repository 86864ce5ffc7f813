"""The real compiler: built once for all tests of this file, in a cache of their own."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from tooling.toolchain import BuildCache, BuildFailed, BuildRequest, build, find_toolchain
from tooling.toolchain.diagnostics import render_warnings
from tooling.toolchain.linker import linker_path

pytestmark = pytest.mark.mojo


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> BuildCache:
    return BuildCache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def no_c_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH on which there is a shell and nothing else."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
    monkeypatch.setenv("PATH", str(tools))


on_x86_linux = pytest.mark.skipif(
    platform.machine() != "x86_64" or not os.path.exists("/proc"),  # noqa: PTH110
    reason="the substitute linker works on x86-64 Linux",
)


@on_x86_linux
@pytest.mark.usefixtures("no_c_compiler")
def test_an_executable_links_without_a_c_compiler(tmp_path: Path, cache: BuildCache) -> None:
    source = tmp_path / "hello.mojo"
    source.write_text(
        "from std.sys import argv, exit\ndef main():\n    print('hello', argv()[1])\n    exit(3)\n"
    )
    executable = build(BuildRequest(source), find_toolchain(), cache)
    result = subprocess.run([executable.path, "world"], capture_output=True, text=True, check=False)
    assert (result.stdout, result.returncode) == ("hello world\n", 3)


@pytest.mark.slow
@on_x86_linux
@pytest.mark.usefixtures("no_c_compiler")
def test_a_shared_library_links_without_a_c_compiler(tmp_path: Path, cache: BuildCache) -> None:
    source = tmp_path / "library.mojo"
    source.write_text('@export("add_one")\ndef add_one(x: Int64) abi("C") -> Int64:\n    return x + 1\n')
    library = build(BuildRequest(source, emit="shared-lib"), find_toolchain(), cache)
    assert library.path.suffix == ".so"
    assert ctypes.CDLL(str(library.path)).add_one(41) == 42


def test_a_c_compiler_is_used_where_there_is_one(tmp_path: Path, cache: BuildCache) -> None:
    compiler = tmp_path / "cc"
    compiler.touch(mode=0o755)
    path = f"{tmp_path}{os.pathsep}/bin"
    assert linker_path(find_toolchain(), cache.root, path) == path


@pytest.mark.parametrize(
    ("line", "position", "hint"),
    [
        ("fn add(x: Int): pass", (1, 1), "write `def` instead of `fn`"),
        ("alias SIZE = 4", (1, 1), "write `comptime NAME = …`"),
        ("from gpu import thread_idx", (1, 6), "GPU names come from `max.gpu`"),
        ("from sys import argv", (1, 6), "standard modules are named in full"),
        ("def f(owned x: Int): pass", (1, 13), "are now `var` (was owned)"),
        ("def f():\n    let x = 1", (2, 5), "write `var` instead of `let`"),
        ("def f():\n    raise Error('x')", (2, 5), "add `raises` to its signature"),
        ("var x = 1", (1, 1), "use `comptime NAME = …`"),
    ],
)
def test_old_mojo_gets_a_hint_at_the_learners_line(
    tmp_path: Path, cache: BuildCache, line: str, position: tuple[int, int], hint: str
) -> None:
    source = tmp_path / "old.mojo"
    source.write_text(line + "\ndef main():\n    pass\n")
    with pytest.raises(BuildFailed) as caught:
        build(BuildRequest(source), find_toolchain(), cache)
    error = caught.value
    assert error.where is not None
    assert error.where.path == source
    assert (error.where.line, error.where.column) == position
    assert hint in error.details


@pytest.mark.slow
def test_a_compiler_that_names_no_line_is_quoted_with_what_to_try(tmp_path: Path, cache: BuildCache) -> None:
    source = tmp_path / "flags.mojo"
    source.write_text(
        "from max.gpu.host import DeviceContext\n"
        "def main() raises:\n"
        "    with DeviceContext() as ctx:\n"
        "        ctx.enqueue_create_buffer[DType.bool](7).enqueue_fill(True)\n"
    )
    with pytest.raises(BuildFailed) as caught:
        build(BuildRequest(source, accelerator="sm_90a"), find_toolchain(), cache)
    assert "failed to run the pass manager\n  try: the compiler reported no line" in caught.value.details


@pytest.mark.slow
def test_a_gpu_program_keeps_the_learners_lines(tmp_path: Path, cache: BuildCache) -> None:
    text = (
        "from layout import Layout, LayoutTensor\n"
        "from max.gpu import thread_idx\n"
        "from max.gpu.host import DeviceContext\n"
        "comptime L = Layout.row_major(4)\n"
        "def kernel(o: LayoutTensor[DType.float32, L, MutAnyOrigin]):\n"
        "    o[thread_idx.x] = 1\n"
        "def main() raises:\n"
        "    with DeviceContext() as ctx:\n"
        "        var b = ctx.enqueue_create_buffer[DType.float32](4)\n"
        "        ctx.enqueue_function[kernel](LayoutTensor[DType.float32, L](b), grid_dim=1, block_dim=4)\n"
    )
    # The compiler's own cache would answer the second build with the first one's path and lines.
    for folder, comments in (("first", 0), ("second", 3)):
        source = tmp_path / folder / "kernel.mojo"
        source.parent.mkdir()
        source.write_text("# a comment\n" * comments + text)
        request = BuildRequest(source, accelerator="sm_90a")
        executable = build(request, find_toolchain(), cache)
        assert executable.fresh
        content = executable.path.read_bytes()
        assert f'.file\t1 "{source}"'.encode() in content
        assert f"\t.loc\t1 {6 + comments} ".encode() in content
    assert "LayoutTensor (2 times)" in render_warnings(executable.diagnostics)
    found = build(request, find_toolchain(), cache)
    assert (found.fresh, found.path, found.diagnostics) == (False, executable.path, executable.diagnostics)
