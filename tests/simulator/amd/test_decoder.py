"""The decoder's text is the assembler's, and unknown code is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.simulator.amd.architectures import GFX942
from tooling.simulator.amd.code_object.errors import UnknownInstruction
from tooling.simulator.amd.decoding.decoder import Decoder
from tooling.simulator.gpu.code_model import SourceLocation

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
