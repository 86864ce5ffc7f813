"""What `ptxas -v` writes, and the tools of this environment."""

from __future__ import annotations

import shutil
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.machine_code.sass import DATA, KERNEL, recorded
from tooling.cli import main
from tooling.platform.exit_codes import ExitCode
from tooling.simulator.nvidia.machine_code.assembler import Resources, assemble, read_resources
from tooling.simulator.nvidia.machine_code.disassembly import disassemble
from tooling.simulator.nvidia.machine_code.tools import (
    ToolFailed,
    Tools,
    ToolsMissing,
    call,
    find_tools,
    has_tools,
)
from tooling.text import in_language

SPILLING = """\
ptxas info    : 0 bytes gmem, 16 bytes cmem[4]
ptxas info    : Compiling entry function 'first' for 'sm_90a'
ptxas info    : Function properties for first
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 2216 bytes cumulative stack size
ptxas info    : Compile time = 3.1 ms
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 49152 bytes smem
"""


def test_the_resources_of_each_kernel_are_read() -> None:
    assert read_resources(SPILLING) == {
        "first": Resources(40, stack=2216, spill_stores=12, spill_loads=16),
        "second": Resources(255, shared=49152),
    }
    assert read_resources((DATA / "axis_sum.ptxas").read_text("utf-8")) == {KERNEL: Resources(10, shared=32)}


def test_a_kernel_without_registers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^ptxas -v does not report the registers of first:\n"):
        read_resources(SPILLING.replace("Used 40 registers", "Used"))


def test_the_tools_make_the_recorded_code() -> None:
    tools = find_tools()
    assembly = assemble((DATA / "axis_sum.ptx").read_text("utf-8"), "sm_90a", tools)
    assert tools.version == "13.5.37"
    assert assembly.resources == {KERNEL: Resources(10, shared=32)}
    assert disassemble(assembly.cubin, tools) == {KERNEL: recorded()}


def test_what_ptxas_refuses_is_an_error_with_its_words() -> None:
    with pytest.raises(ToolFailed) as caught:
        assemble(".version 8.5\n.target sm_90a\n.address_size 64\nnonsense\n", "sm_90a", find_tools())
    assert caught.value.what == "`ptxas` failed"
    assert "line 4; fatal" in str(caught.value.why)
    assert caught.value.exit_code is ExitCode.NOT_POSSIBLE


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Distribution:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", absent)


@pytest.mark.usefixtures("without_extra")
def test_without_tools_the_error_has_the_command_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert not has_tools()
    with pytest.raises(ToolsMissing) as caught:
        find_tools("uv run --extra sass tooling profile p15 --sass")
    assert str(caught.value) == (
        "machine code needs NVIDIA's `ptxas`, which this environment does not have\n"
        "  why: the assembler and the disassembler are 52 MB under NVIDIA's own licence, and no verdict "
        "needs them; so they are the extra `sass`\n"
        "  try: `uv run --extra sass tooling profile p15 --sass`, or put the programs of a CUDA toolkit on "
        "PATH"
    )
    assert caught.value.exit_code is ExitCode.NOT_POSSIBLE


@pytest.mark.usefixtures("without_extra")
@pytest.mark.parametrize(
    ("variables", "command"),
    [
        ({}, "uv run --extra sass tooling profile p15 --sass --solution"),
        ({"PIXI_ENVIRONMENT_NAME": "sim"}, "pixi run -e sass tooling profile p15 --sass --solution"),
    ],
)
@needs_simulated_gpu
def test_the_command_without_tools_says_how_to_get_them_and_ends_with_status_4(
    variables: dict[str, str],
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("UV", "PIXI_ENVIRONMENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    # For this module alone: a build looks for programs, too.
    found = SimpleNamespace(which=lambda _name: None)
    monkeypatch.setattr("tooling.simulator.nvidia.machine_code.tools.shutil", found)
    assert main(["profile", "p15", "--solution", "--sass"]) == ExitCode.NOT_POSSIBLE
    said = " ".join(capsys.readouterr().err.split())  # long lines are wrapped
    assert f"try: `{command}`, or put the programs of a CUDA toolkit on PATH" in said


def test_the_machine_code_of_an_amd_gpu_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "p15", "--sass", "--target", "sim-amd"]) == ExitCode.USAGE
    assert "--sass shows the machine code of an NVIDIA GPU" in capsys.readouterr().err


@pytest.mark.usefixtures("without_extra")
def test_the_tools_of_a_toolkit_on_path_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ptxas", "nvdisasm"):
        path = tmp_path / name
        path.write_text("#!/bin/sh\necho Cuda compilation tools, release 12.4, V12.4.131\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_tools()
    assert found == Tools(tmp_path / "ptxas", tmp_path / "nvdisasm", "12.4.131")


@pytest.mark.usefixtures("without_extra")
def test_another_program_named_ptxas_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ptxas", "nvdisasm"):
        (tmp_path / name).symlink_to(shutil.which("true") or "/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolFailed) as caught:
        find_tools()
    assert caught.value.what == "`ptxas --version` does not print the version of a CUDA toolkit"
    assert (
        caught.value.hint == f"it is {tmp_path / 'ptxas'}: remove it from PATH, or install the extra `sass`"
    )


def test_a_tool_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed) as caught:
        call([tmp_path / "nvdisasm"])
    assert (caught.value.what, caught.value.why) == ("`nvdisasm` failed", "No such file or directory")
    assert in_language(caught.value.sentences[0], "ko") == "`nvdisasm`이 실패했습니다"
