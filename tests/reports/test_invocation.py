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
