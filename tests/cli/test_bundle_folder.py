"""`tooling bundle` deletes nothing but former bundles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Workbench
from tests.platform.test_output_folder import tree
from tooling.platform.exit_codes import ExitCode


@pytest.mark.parametrize("folder", [".", "problems", "solutions/p01/new"])
def test_a_bundle_is_never_written_over_the_sources(workbench: Workbench, folder: str) -> None:
    before = tree(workbench.root)
    result = workbench.run("bundle", folder)
    assert result.status == ExitCode.USAGE
    assert "which the command reads" in " ".join(result.stderr.split())
    assert tree(workbench.root) == before


def test_results_in_a_bundle_are_never_deleted(workbench: Workbench, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "bundle.json").write_text("{}")  # a bundle of an earlier version, or of another program
    (folder / "results.json").write_text("measured")
    before = tree(folder)
    result = workbench.run("bundle", str(folder))
    assert result.status == ExitCode.USAGE
    assert "was not written by `tooling bundle`" in " ".join(result.stderr.split())
    assert tree(folder) == before
