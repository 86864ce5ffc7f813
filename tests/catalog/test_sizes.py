"""Sizes of a program that play different roles differ, so that one in place of another shows.

Where they are equal, the mode's run with other sizes tells them apart, or a reason is given here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.model import LANES, Program, ProgramLanguage, Puzzle
from tooling.project import find_project

PROJECT = find_project(Path(__file__).parent)
PUZZLES = {puzzle.id: puzzle for puzzle in load_catalogue(PROJECT)}
_DEFINITION = re.compile(r"^comptime ([A-Z][A-Z0-9_]*) = (.+)$", re.MULTILINE)
_NAME = re.compile(r"[A-Z][A-Z0-9_]*")

_FILLED = "the block has as many threads as the vector has elements: a guard is not asked for"
_OF_THE_PRODUCT = "the product of a warpgroup and its swizzle decide them, and what uses them is given"
EXCEPTED = {
    ("p11", "TPB", "SIZE"): _FILLED,
    ("p12", "TPB", "SIZE"): _FILLED,
    ("p14", "TPB", "SIZE"): _FILLED,
    ("p27", "SIZE", "TPB"): _FILLED,
    ("p29", "BLUR_RADIUS", "BUFFER_COUNT"): "of two modes",
    ("p33", "TILE", "BK"): "of two kernels",
    ("p33", "TILE", "WM"): "of two kernels",
    ("p33", "TILE", "WN"): "of two kernels",
    ("p40", "COLS", "GUARD"): "the kernels use neither of them",
    ("p41", "DEPTH", "SIDE"): "the terms of a step, and the results of a thread, by which loops differ",
    ("p41", "ROWS", "THREADS"): "the kernel uses neither of them",
    ("p43", "SEQUENCES", "SLICE_ROWS"): "the kernel needs the second only",
    ("p43", "STAGES", "SEQUENCES"): "of two kernels",
    ("p43", "STAGES", "SLICE_ROWS"): "of two kernels",
    ("p44", "GROUP", "TILE_ROWS"): "what uses the first is given",
    ("p44", "GROUP_ROWS", "DEPTH"): _OF_THE_PRODUCT,
    ("p44", "PIECE", "PIECES"): _OF_THE_PRODUCT,
    ("p44", "THREADS", "STAGE_ROWS"): "the kernel uses neither of them",
    ("p44", "TILE_COLS", "GROUP"): _OF_THE_PRODUCT,
    ("p44", "TILE_COLS", "TILE_ROWS"): "the tiles of a stage have the same size",
    ("p45", "DEPTH", "TILE_COLS"): _OF_THE_PRODUCT,
    ("p45", "GROUP_ROWS", "DEPTH"): _OF_THE_PRODUCT,
    ("p45", "GROUP_ROWS", "TILE_COLS"): _OF_THE_PRODUCT,
    ("p45", "TILE_ROWS", "GROUP"): _OF_THE_PRODUCT,
    ("p46", "BOX", "FEATURES"): "given: a box has all the features",
    ("p46", "GROUP", "BOX_BYTES"): "given: threads, and bytes",
    ("p46", "GROUP", "QUERIES"): "given: threads, and the rows of two warpgroups",
    ("p46", "GROUPS", "STAGES"): "given: the learner uses the second only",
    ("p46", "GROUP_ROWS", "BOX"): "given: the rows of an instruction, and the columns of a swizzle",
    ("p46", "GROUP_ROWS", "FEATURES"): "the first is the instruction's; `features` is a parameter",
    ("p46", "QUERIES", "BOX_BYTES"): "given: rows, and bytes",
    ("p46", "ROWS", "KEYS"): "of two kernels",
    ("p46", "SEQUENCES", "HEADS"): "of two kernels",
    ("p48", "MOST_POLLS", "BENCHMARK_SIZE"): "a number of polls",
}
_P33 = "BK WM WN WARPS MMA_N MMA_K A_SHARE B_SHARE PIECES_M PIECES_N VECTOR THREADS SIMULATED_SIZE"
GIVEN = {"p33": set(_P33.split())}
"""Shapes of the tensor core's instruction and of the tiles that the page makes of it."""


def sizes(program: Program, changed: dict[str, str]) -> dict[str, int]:
    """The sizes that the program's constants define, without those that stand for another one."""
    values: dict[str, object] = {"WARP_SIZE": LANES}
    found = {}
    for name, written in _DEFINITION.findall(program.solution.read_text("utf-8")):
        text = changed.get(name, written)
        try:
            values[name] = eval(text, {}, values)
        except (NameError, SyntaxError, TypeError):
            continue
        parts = text[1:-1].split(",") if isinstance(values[name], tuple) else [text]
        for axis, part in enumerate(parts):
            if _NAME.fullmatch(part.strip()) or not part.strip():
                continue
            value = eval(part.strip(), {}, values)
            if isinstance(value, int) and value > 1:
                found[f"{name}[{axis}]" if len(parts) > 1 else name] = value
    return found


def equal_pairs(program: Program, changed: dict[str, str]) -> set[tuple[str, str]]:
    """Pairs of sizes that are equal; the axes of one shape are one role."""
    return {
        (one, two)
        for (one, first), (two, second) in itertools.combinations(sizes(program, changed).items(), 2)
        if first == second and one.split("[")[0] != two.split("[")[0]
    }


def unexplained(puzzle: Puzzle) -> Iterator[tuple[str, str]]:
    for program in puzzle.programs:
        if program.language is not ProgramLanguage.MOJO:
            continue
        pairs = equal_pairs(program, {})
        for mode in puzzle.modes_of(program.name):
            if mode.other_sizes is not None:
                pairs &= equal_pairs(program, dict(mode.other_sizes.constants))
        for one, two in sorted(pairs):
            if (puzzle.id, one, two) not in EXCEPTED and not {one, two} <= GIVEN.get(puzzle.id, set()):
                yield one, two


@pytest.mark.parametrize("name", PUZZLES)
def test_sizes_of_different_roles_differ(name: str) -> None:
    assert list(unexplained(PUZZLES[name])) == []


def test_every_exception_is_needed() -> None:
    needed = {
        (puzzle.id, *pair)
        for puzzle in PUZZLES.values()
        for program in puzzle.programs
        for pair in equal_pairs(program, {})
    }
    assert EXCEPTED.keys() <= needed


def test_a_changed_constant_is_defined_once_in_each_program() -> None:
    resized = [
        (program, mode.other_sizes)
        for puzzle in PUZZLES.values()
        for mode in puzzle.modes
        if mode.other_sizes is not None
        for program in map(puzzle.program, mode.programs)
    ]
    assert {program.name for program, _ in resized} >= {"p03", "p06", "p07_tile_tensor", "p13", "p14", "p16"}
    for program, other in resized:
        for path in (program.solution, program.problem):
            names = [name for name, _ in _DEFINITION.findall(path.read_text("utf-8"))]
            assert [names.count(name) for name in other.constants] == [1] * len(other.constants), path


def test_a_size_in_place_of_another_is_noticed() -> None:
    """Without its other sizes, puzzle 16 has as many tiles in a row as threads in a row of a block."""
    (program,) = (each for each in PUZZLES["p16"].programs if each.name == "p16")
    assert ("TPB", "TILES") in equal_pairs(program, {})
    assert ("TPB", "TILES") not in equal_pairs(program, {"SIZE_TILED": "12"})
