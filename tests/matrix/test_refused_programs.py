"""The real compiler's messages about a program that uses a feature that the GPU lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.catalog.catalogue import find_program
from tooling.matrix.accelerators import choose
from tooling.matrix.building import BuildResult, MatrixCell, build_cells
from tooling.matrix.messages import explain_refusal
from tooling.project import Project
from tooling.toolchain import find_toolchain, open_cache

REPOSITORY = Path(__file__).parent.parent.parent
PROJECT = Project(REPOSITORY)


def build(name: str, accelerator: str) -> MatrixCell:
    _, program = find_program(PROJECT, name)
    cells = build_cells(
        [program],
        choose([accelerator]),
        project=PROJECT,
        toolchain=find_toolchain(),
        cache=open_cache(),
        jobs=1,
    )
    return next(cells)


@pytest.mark.slow
@pytest.mark.mojo
def test_a_refusal_is_reported_at_the_line_that_uses_the_missing_feature() -> None:
    cell = build("p34_tile_tensor", "gfx942")
    assert cell.result is BuildResult.REFUSED
    explained = explain_refusal(cell.diagnostics, cell.program.solution)
    lines = cell.program.solution.read_text().splitlines()
    number = int(explained.split(":")[1])
    assert "block_rank_in_cluster" in lines[number - 1]
    assert "only supported by NVIDIA SM90+ GPUs" in explained
    assert "pass manager" not in explained


@pytest.mark.slow
@pytest.mark.mojo
def test_what_can_be_checked_without_apples_tools_is_checked() -> None:
    assert build("p01", "apple-m1").result is BuildResult.BUILT
