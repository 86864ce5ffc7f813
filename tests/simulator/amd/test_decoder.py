"""The decoder's text is the assembler's, and unknown code is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.amd.assembler_text import differences, listings
from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.model import Program, ProgramLanguage, Vendor
from tooling.project import Project
from tooling.simulator.amd.architectures import GFX942
from tooling.simulator.amd.code_object.errors import UnknownInstruction
from tooling.simulator.amd.decoding.decoder import Decoder
from tooling.simulator.gpu.code_model import SourceLocation
from tooling.toolchain import BuildFailed, BuildRequest, build, find_toolchain, open_cache
from tooling.trials import includes_of

PROJECT = Project(Path(__file__).parents[3])
PROGRAMS = Path(__file__).parent / "programs"
SAMPLE = Path(__file__).parent / "data" / "gfx942_text.txt"
"""Words and text of instructions as `mojo build --emit asm` writes them, of the book's programs."""


def test_the_text_of_each_instruction_is_the_assemblers() -> None:
    rows = [line.split(maxsplit=1) for line in SAMPLE.read_text().splitlines()]
    decoder = Decoder(GFX942)
    decoded = [decoder.decode(bytes.fromhex(words), 0) for words, _ in rows]
    assert len(rows) > 250
    assert [instruction.text for instruction in decoded] == [text for _, text in rows]
    assert [instruction.size for instruction in decoded] == [len(words) // 2 for words, _ in rows]


def test_a_branch_has_the_offset_of_its_target() -> None:
    decoder = Decoder(GFX942)
    forwards = decoder.decode(bytes(8) + bytes.fromhex("030088bf"), 8)
    backwards = decoder.decode(bytes(8) + bytes.fromhex("feff89bf"), 8)
    assert (forwards.text, forwards.target) == ("s_cbranch_execz 0x18", 0x18)
    assert (backwards.text, backwards.target) == ("s_cbranch_execnz 0x4", 4)


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("ffffffff", "encoding ffffffff 00000000"),
        ("00007fbf", "SOPC bf7f0000 00000000"),
        ("00fe017e", "VOP1 7e01fe00 00000000"),
        ("", "encoding 00000000 00000000"),
    ],
)
def test_an_unknown_instruction_is_named_with_its_place(words: str, form: str) -> None:
    with pytest.raises(UnknownInstruction) as caught:
        Decoder(GFX942).decode(bytes.fromhex(words), 0, SourceLocation("a.mojo", 3, 7))
    name = form if words else caught.value.form
    first, why, _ = str(caught.value).split("\n")
    assert first == f"machine code at 0x0, from a.mojo:3:7: cannot execute `{name}`"
    assert why == "  why: this encoding is unknown"
    assert caught.value.form == name


def compared(source: Path, includes: tuple[Path, ...] = ()) -> int:
    """How many instructions of a program's kernels are as in the assembler's text: all of them."""
    request = BuildRequest(source, accelerator="gfx942", emit="asm", includes=includes)
    built = build(request, find_toolchain(), open_cache())
    results = [differences(listing, GFX942) for listing in listings(built.path)]
    assert [different for _, found in results for different in found] == []
    return sum(count for count, _ in results)


@pytest.mark.mojo
def test_the_text_of_a_program_is_the_assemblers() -> None:
    assert compared(PROGRAMS / "operations.mojo") > 800


MOJO_PROGRAMS = [
    program
    for puzzle in load_catalogue(PROJECT)
    for program in puzzle.programs
    if program.language is ProgramLanguage.MOJO
]


@pytest.mark.slow
@pytest.mark.mojo
@pytest.mark.parametrize("of_solution", [True, False], ids=["solution", "problem"])
@pytest.mark.parametrize("program", MOJO_PROGRAMS, ids=lambda program: program.name)
def test_the_text_of_each_program_of_the_book_is_the_assemblers(program: Program, of_solution: bool) -> None:
    source = Path(program.solution if of_solution else program.problem)
    try:
        assert compared(source, includes_of(program, source, PROJECT)) > 0
    except BuildFailed:
        assert refused_by_the_compiler(program), "the manifest says that it builds for AMD"


def refused_by_the_compiler(program: Program) -> bool:
    """Whether the manifest says that no mode of a program builds for AMD."""
    modes = [
        mode for puzzle in load_catalogue(PROJECT) for mode in puzzle.modes if program.name in mode.programs
    ]
    needs = [need for mode in modes for need in mode.requirements if need.vendor is Vendor.AMD]
    return bool(needs) and all(need.unsupported and not need.builds for need in needs)
