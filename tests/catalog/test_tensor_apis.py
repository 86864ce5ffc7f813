"""The tensor API that a manifest states is the one that the program's kernels take their buffers by."""

from __future__ import annotations

import re

import pytest

from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.model import Program, TensorApi
from tooling.project import find_project

PARAMETER = re.compile(r"\b(LayoutTensor|TileTensor|TMATensorTile)\[")
"""A type with parameters: what only prints a tensor writes `TileTensor(…)`. A tensor map copies some."""

PROGRAMS = [program for puzzle in load_catalogue(find_project()) for program in puzzle.programs]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_source_uses_the_tensor_api_of_the_manifest(program: Program) -> None:
    text = "\n".join(source.problem.read_text() for source in program.sources)
    used = {name.replace("TMATensorTile", "TileTensor") for name in PARAMETER.findall(text)}
    assert (
        used
        == {
            TensorApi.RAW: set(),
            TensorApi.LAYOUT_TENSOR: {"LayoutTensor"},
            TensorApi.TILE_TENSOR: {"TileTensor"},
        }[program.api]
    )
