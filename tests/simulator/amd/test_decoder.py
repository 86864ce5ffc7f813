"""The decoder's text is the assembler's, and unknown code is refused by name.

Every kernel of the book's Mojo programs, solutions and problem files, on both architectures (228 builds,
about 25 minutes on one core): `pytest -m slow -k assemblers tests/simulator/amd/test_decoder.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.amd.assembler_text import differences, listings
from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.model import Program, ProgramLanguage, Vendor
from tooling.project import Project
from tooling.simulator.amd.architectures import GFX942, GFX1100, Architecture
from tooling.simulator.amd.code_object.errors import UnknownInstruction
from tooling.simulator.amd.decoding.rdna3 import make_decoder
from tooling.simulator.gpu.code_model import SourceLocation
from tooling.toolchain import BuildFailed, BuildRequest, build, find_toolchain, open_cache
from tooling.trials import includes_of

PROJECT = Project(Path(__file__).parents[3])
PROGRAMS = Path(__file__).parent / "programs"
SAMPLES = Path(__file__).parent / "data"
"""Words and text of instructions as `mojo build --emit asm` writes them, of the book's programs."""


each_architecture = pytest.mark.parametrize("architecture", [GFX942, GFX1100], ids=lambda each: each.name)


@each_architecture
def test_the_text_of_each_instruction_is_the_assemblers(architecture: Architecture) -> None:
    sample = SAMPLES / f"{architecture.name}_text.txt"
    rows = [line.split(maxsplit=1) for line in sample.read_text().splitlines()]
    decoder = make_decoder(architecture)
    decoded = [decoder.decode(bytes.fromhex(words), 0) for words, _ in rows]
    assert len(rows) > 250
    assert [instruction.text for instruction in decoded] == [text for _, text in rows]
    assert [instruction.size for instruction in decoded] == [len(words) // 2 for words, _ in rows]


def test_a_branch_has_the_offset_of_its_target() -> None:
    decoder = make_decoder(GFX942)
    forwards = decoder.decode(bytes(8) + bytes.fromhex("030088bf"), 8)
    backwards = decoder.decode(bytes(8) + bytes.fromhex("feff89bf"), 8)
    assert (forwards.text, forwards.target) == ("s_cbranch_execz 0x18", 0x18)
    assert (backwards.text, backwards.target) == ("s_cbranch_execnz 0x4", 4)


def refusal(architecture: Architecture, words: str) -> UnknownInstruction:
    """Why an instruction of a.mojo:3:7 is not decoded; `words` are its bytes in hexadecimal."""
    with pytest.raises(UnknownInstruction) as caught:
        make_decoder(architecture).decode(bytes.fromhex(words), 0, SourceLocation("a.mojo", 3, 7))
    return caught.value


@pytest.mark.parametrize(
    ("architecture", "words", "form"),
    [
        (GFX942, "ffffffff", "encoding ffffffff 00000000"),
        (GFX942, "00007fbf", "SOPC bf7f0000 00000000"),
        (GFX942, "00fe017e", "VOP1 7e01fe00 00000000"),
        (GFX942, "", "encoding 00000000 00000000"),
        (GFX1100, "ffffffff", "encoding ffffffff 00000000"),
        (GFX1100, "00fe017e", "VOP1 7e01fe00 00000000"),
    ],
)
def test_an_unknown_instruction_is_named_with_its_place(
    architecture: Architecture, words: str, form: str
) -> None:
    error = refusal(architecture, words)
    name = form if words else error.form
    first, why, _ = str(error).split("\n")
    assert first == f"machine code at 0x0, from a.mojo:3:7: cannot execute `{name}`"
    assert why == "  why: this encoding is unknown"
    assert error.form == name


@pytest.mark.parametrize(
    ("architecture", "words", "name"),
    [
        (GFX1100, "004040cc00000000", "v_wmma_f32_16x16x16_f16"),
        (GFX1100, "02000cd603091604", "v_cubeid_f32"),
        (GFX1100, "000088f4000000f8", "s_atc_probe"),
        (GFX942, "0000cdd300000000", "v_mfma_f32_16x16x16_f16"),
    ],
)
def test_an_instruction_that_is_not_supported_has_its_mnemonic(
    architecture: Architecture, words: str, name: str
) -> None:
    assert str(refusal(architecture, words)).split("\n")[0] == (
        f"machine code at 0x0, from a.mojo:3:7: cannot execute `{name}`"
    )


def compared(source: Path, architecture: Architecture, includes: tuple[Path, ...] = ()) -> int:
    """How many instructions of a program's kernels are as in the assembler's text: all of them."""
    request = BuildRequest(source, accelerator=architecture.name, emit="asm", includes=includes)
    built = build(request, find_toolchain(), open_cache())
    results = [differences(listing, architecture) for listing in listings(built.path)]
    assert [different for _, found in results for different in found] == []
    return sum(count for count, _ in results)


@pytest.mark.slow
@pytest.mark.mojo
@each_architecture
def test_the_text_of_a_program_is_the_assemblers(architecture: Architecture) -> None:
    assert compared(PROGRAMS / "operations.mojo", architecture) > 800


MOJO_PROGRAMS = [
    program
    for puzzle in load_catalogue(PROJECT)
    for program in puzzle.programs
    if program.language is ProgramLanguage.MOJO
]


@pytest.mark.slow
@pytest.mark.mojo
@each_architecture
@pytest.mark.parametrize("of_solution", [True, False], ids=["solution", "problem"])
@pytest.mark.parametrize("program", MOJO_PROGRAMS, ids=lambda program: program.name)
def test_the_text_of_each_program_of_the_book_is_the_assemblers(
    program: Program, of_solution: bool, architecture: Architecture
) -> None:
    source = Path(program.solution if of_solution else program.problem)
    try:
        assert compared(source, architecture, includes_of(program, source, PROJECT)) > 0
    except BuildFailed:
        assert refused_by_the_compiler(program), "the manifest says that it builds for AMD"


def refused_by_the_compiler(program: Program) -> bool:
    """Whether the manifest says that no mode of a program builds for AMD."""
    modes = [
        mode for puzzle in load_catalogue(PROJECT) for mode in puzzle.modes if program.name in mode.programs
    ]
    needs = [need for mode in modes for need in mode.requirements if need.vendor is Vendor.AMD]
    return bool(needs) and all(need.unsupported and not need.builds for need in needs)
