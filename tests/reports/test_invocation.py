"""A suggested command can be typed as shown, however the tool was started."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.reports.invocation import run_prefix


@pytest.mark.parametrize(
    ("environment", "prefix"),
    [
        ({}, "tooling run"),
        ({"PIXI_ENVIRONMENT_NAME": "default"}, "pixi run"),
        ({"PIXI_ENVIRONMENT_NAME": "amd"}, "pixi run -e amd"),
        ({"POE_ACTIVE": "simple"}, "poe"),
        ({"POE_ACTIVE": "simple", "UV": "/elsewhere/uv", "PATH": ""}, "/elsewhere/uv run poe"),
    ],
)
def test_the_prefix_is_the_readers_own(environment: dict[str, str], prefix: str) -> None:
    assert run_prefix(environment) == prefix


def test_uv_is_named_by_its_name_only_where_the_readers_path_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    uv = tmp_path / ".uv" / "bin" / "uv"
    uv.parent.mkdir(parents=True)
    uv.write_text("#!/bin/sh\n")
    uv.chmod(0o755)
    environment = {"POE_ACTIVE": "simple", "UV": str(uv), "PATH": ""}
    assert run_prefix(environment) == ".uv/bin/uv run poe"
    assert run_prefix({**environment, "PATH": str(uv.parent)}) == "uv run poe"
