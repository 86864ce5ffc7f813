"""A decoded instruction and its operands."""

from __future__ import annotations

from msgspec import Struct

from tooling.simulator.gpu.code_model import Instruction


class Operand(Struct, frozen=True):
    """A register, a run of registers or a constant.

    Attributes:
        kind: `s`, `v`, `a` (accumulation register), `ttmp`, `const`, or a name: `vcc`, `exec`, `m0`, `scc`, …
        index, count: the first register, and how many; for `vcc` and `exec` index 1 is the upper half.
        value: the bits of a constant of the operand's type, at least 32.
        text: as the assembler writes it, without modifiers.
    """

    kind: str
    index: int = 0
    count: int = 1
    value: int = 0
    text: str = ""


class Modified(Struct, frozen=True):
    """A source operand with its modifiers.

    Attributes:
        negate, absolute: of a float; negate_high: of the upper half of a packed operand.
        select: SDWA's selection (`BYTE_0`, …), or empty; extend: sign-extend what it selects.
        low_half, high_half: which half of a register a packed or 16-bit operation takes (op_sel, op_sel_hi).
    """

    operand: Operand
    negate: bool = False
    absolute: bool = False
    negate_high: bool = False
    select: str = ""
    extend: bool = False
    low_half: int = 0
    high_half: int = 1


class CrossLane(Struct, frozen=True):
    """DPP: the lane that the first operand is taken from.

    Attributes:
        control: the 9-bit DPP_CTRL, or the 24 bits of DPP8's selectors.
        row_mask, bank_mask: rows and banks that are written; bound_control: an invalid source reads 0.
    """

    control: int
    row_mask: int = 15
    bank_mask: int = 15
    bound_control: bool = False
    is_dpp8: bool = False
    fetch_inactive: bool = False


class MachineInstruction(Instruction, frozen=True, kw_only=True):
    """One machine instruction. `opcode` is the mnemonic with the suffix of its encoding.

    Attributes:
        name: the mnemonic without that suffix, as the tables of semantics have it.
        encoding: the name of its microcode format.
        offset, size: bytes in the code.
        results, sources: operands.
        text: as the assembler writes it.
        immediate: a 16-bit immediate or an offset; the meaning depends on the encoding.
        flags: `glc`, `sc0`, `sc1`, `nt`, `clamp`, `saddr`, …
        output_scale: omod: 1 multiplies by 2, 2 by 4, 3 by 1/2.
        select, unused: SDWA's selection of the destination, and what becomes of the rest.
        high_result: the result is the upper half (op_sel).
        cross_lane: DPP.
        target: offset of a branch's target.
        second: the other half of a dual instruction.
    """

    name: str
    encoding: str
    offset: int
    size: int
    results: tuple[Operand, ...] = ()
    sources: tuple[Modified, ...] = ()
    text: str = ""
    immediate: int = 0
    flags: frozenset[str] = frozenset()
    output_scale: int = 0
    select: str = ""
    unused: str = ""
    high_result: bool = False
    cross_lane: CrossLane | None = None
    target: int = -1
    second: MachineInstruction | None = None

    @property
    def form(self) -> str:
        """Its text."""
        return self.text
