"""A suggested command can be typed as shown, however the tool was started."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.reports.invocation import as_typed, tool_prefix, typed_path


def test_uv_is_named_by_its_name_only_where_the_readers_path_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    uv = tmp_path / ".uv" / "bin" / "uv"
    uv.parent.mkdir(parents=True)
    uv.write_text("#!/bin/sh\n")
    uv.chmod(0o755)
    environment = {"POE_ACTIVE": "simple", "UV": str(uv), "PATH": ""}
    assert tool_prefix(environment) == ".uv/bin/uv run tooling"
    assert tool_prefix({**environment, "PATH": str(uv.parent)}) == "uv run tooling"


UV = {"UV": "/elsewhere/uv", "PATH": ""}


@pytest.mark.parametrize(
    ("environment", "called", "typed"),
    [
        ({"PATH": "/bin"}, "gpu-puzzle-lab", "gpu-puzzle-lab"),
        ({"PATH": "/bin"}, "tooling", "tooling"),
        ({"PATH": ""}, "gpu-puzzle-lab", "bin/gpu-puzzle-lab"),
        (UV | {"PATH": "/bin"}, "gpu-puzzle-lab", "uvx gpu-puzzle-lab"),
        (UV | {"PATH": "/bin"}, "tooling", "uvx --from gpu-puzzle-lab tooling"),
        (UV, "gpu-puzzle-lab", "/elsewhere/uvx gpu-puzzle-lab"),
        (UV | {"PATH": "/bin"}, "gpu-puzzle-lab max", "uvx --from 'gpu-puzzle-lab[max]' gpu-puzzle-lab"),
        (UV | {"VIRTUAL_ENV": "."}, "gpu-puzzle-lab", "/elsewhere/uv run tooling"),
        (UV | {"VIRTUAL_ENV": "other"}, "gpu-puzzle-lab", "/elsewhere/uvx gpu-puzzle-lab"),
    ],
)
def test_a_program_of_the_package_is_called_as_the_reader_called_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    called: str,
    typed: str,
) -> None:
    program, _, extra = called.partition(" ")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    for name in ("tooling", "gpu-puzzle-lab", "uvx"):
        (tmp_path / "bin" / name).write_text("#!/bin/sh\n")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = environment | {"PATH": environment["PATH"] and str(tmp_path / "bin")}
    if venv := environment.get("VIRTUAL_ENV"):
        environment["VIRTUAL_ENV"] = str(tmp_path / venv)
    assert tool_prefix(environment, str(tmp_path / "bin" / program), extra) == typed


@pytest.mark.parametrize(
    ("environment", "typed"),
    [
        ({}, "tooling"),
        (UV, "/elsewhere/uv run tooling"),
        ({**UV, "POE_ACTIVE": "simple"}, "/elsewhere/uv run tooling"),
        ({"PIXI_ENVIRONMENT_NAME": "default"}, "pixi run tooling"),
        ({"PIXI_ENVIRONMENT_NAME": "sim", "UV": "/pixi/uv"}, "pixi run -e sim tooling"),
    ],
)
def test_a_command_in_a_hint_is_the_readers_own(environment: dict[str, str], typed: str) -> None:
    assert as_typed("`tooling list` shows all", environment) == f"`{typed} list` shows all"
    assert as_typed("tooling simulate -- ./x", environment) == f"{typed} simulate -- ./x"
    assert as_typed("usage: tooling run p15", environment) == f"usage: {typed} run p15"
    assert as_typed("사용법: tooling run p15", environment) == f"사용법: {typed} run p15"
    examples = "Examples: tooling hint; tooling hint p15; $(tooling completion bash)"
    assert as_typed(examples, environment) == examples.replace("tooling ", f"{typed} ")
    prose = "a folder tooling and its `tooling` program"
    assert as_typed(prose, environment) == prose


def test_a_command_of_uv_names_the_readers_uv() -> None:
    hint = "uv run --extra max tooling verify p17, or `uv run poe p17`"
    assert as_typed(hint, {}) == hint
    assert as_typed(hint, UV) == hint.replace("uv run", "/elsewhere/uv run")


def test_paths_are_those_from_the_folder_in_which_the_reader_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "problems" / "p01"
    below.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)  # as poe does, whichever folder it is called in
    uv = str(tmp_path / ".uv" / "bin" / "uv")
    environment = {"UV": uv, "POE_ACTIVE": "simple", "PATH": "", "POE_PWD": str(below)}
    assert tool_prefix(environment) == "../../.uv/bin/uv run tooling"
    assert typed_path(below / "p01.mojo", environment) == "p01.mojo"
    monkeypatch.chdir(below)
    script = str(tmp_path / ".venv" / "bin" / "tooling")
    assert tool_prefix({"PATH": ""}, script) == "../../.venv/bin/tooling"
    monkeypatch.chdir(tmp_path)
    assert tool_prefix({"PATH": ""}, str(tmp_path / "tooling")) == "./tooling"


@pytest.mark.parametrize(
    ("environment", "typed"),
    [
        ({}, "tooling"),
        (UV, "/elsewhere/uv run --extra max tooling"),
        ({"PIXI_ENVIRONMENT_NAME": "default"}, "pixi run -e max tooling"),
    ],
)
def test_an_extra_is_selected_where_the_command_can_select_it(
    environment: dict[str, str], typed: str
) -> None:
    assert tool_prefix(environment, extra="max") == typed


def test_a_path_with_a_space_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {"UV": str(tmp_path / "my tools" / "uv"), "PATH": ""}
    assert tool_prefix(environment) == "'my tools/uv' run tooling"
