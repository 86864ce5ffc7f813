"""Instructions, loops, waits and chains of machine code."""

from __future__ import annotations

import pytest

from tests.simulator.machine_code.sass import DATA, KERNEL, code, recorded
from tooling.simulator.nvidia.machine_code.assembler import Resources
from tooling.simulator.nvidia.machine_code.chains import Chains, chains_of
from tooling.simulator.nvidia.machine_code.code import MachineCode
from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction, read_listing
from tooling.simulator.nvidia.machine_code.flow import Loop, basic_blocks, loops
from tooling.simulator.nvidia.machine_code.mix import Kind, kind_of, mix_of
from tooling.simulator.nvidia.machine_code.operands import Uses, uses_of
from tooling.simulator.nvidia.machine_code.waits import waited_for

AXIS_SUM = MachineCode(recorded(), Resources(10, shared=32))


def texts(kernel: MachineCode, indices: tuple[int, ...]) -> list[str]:
    return [kernel.instructions[index].text for index in indices]


def test_the_listing_has_addresses_lines_of_ptx_and_targets() -> None:
    found = {instruction.address: instruction for instruction in recorded()}
    load, jump = found[0xB0], found[0x220]
    assert (load.text, load.ptx_line) == ("@!P0 LDG.E.CONSTANT R0, desc[UR6][R2.64]", 42)
    assert (jump.predicate, jump.name, jump.targets) == ("P0", "BRA", (0x140,))
    assert (len(recorded()), len(AXIS_SUM.instructions), AXIS_SUM.padding) == (56, 48, 8)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("/* 0x000fe20000000800 */", "", r"^nvdisasm: no second half of the encoding after 'LDC R1"),
        ("LDC R1, c[0x0][0x28] ;", "LDC R1 c", r"^nvdisasm: a line that cannot be read: "),
        ("LDC R1, c[0x0][0x28] ;", "{ LDC ;", r"^nvdisasm: an instruction that cannot be read: '{ LDC'$"),
    ],
)
def test_a_listing_that_cannot_be_read_is_refused(before: str, after: str, message: str) -> None:
    text = (DATA / "axis_sum.sass").read_text("utf-8")
    assert before in text
    with pytest.raises(ValueError, match=message):
        read_listing(text.replace(before, after, 1))


def test_the_loop_of_puzzle_15_with_its_chains_and_mix() -> None:
    (loop,) = AXIS_SUM.loops
    assert AXIS_SUM.instructions[loop.header].address == 0x140
    assert (len(loop.instructions), loop.depth) == (15, 1)
    assert mix_of(AXIS_SUM.instructions[index] for index in loop.instructions) == {
        Kind.SHARED: 3,
        Kind.FLOAT32: 1,
        Kind.INTEGER: 8,
        Kind.SYNCHRONISATION: 2,
        Kind.CONTROL: 1,
    }
    assert texts(AXIS_SUM, AXIS_SUM.chains(loop).longest) == [
        "ISETP.GT.U32.AND P0, PT, R6, R4, PT",
        "ISETP.GT.U32.AND.EX P0, PT, R7, RZ, PT, P0",
        "@P0 LEA R2, R6.reuse, R5, 0x2",
        "@P0 LDS R0, [R2]",
        "@P0 FADD R0, R3, R0",
    ]


def test_what_instructions_of_puzzle_15_wait_for() -> None:
    index = {instruction.address: number for number, instruction in enumerate(AXIS_SUM.instructions)}
    assert AXIS_SUM.waits[index[0x120]] == {2: (index[0xB0],)}  # the store for the load
    # The registers of stores before and inside the loop may be overwritten when they were read.
    assert AXIS_SUM.waits[index[0x150]] == {0: (index[0x120],), 1: (index[0x1E0],)}
    assert [number for number, found in AXIS_SUM.waits.items() if not all(found.values())] == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        # A loop in a loop.
        (
            ("MOV R1, RZ", "MOV R2, RZ", "FADD R3, R3, R2", "@P0 BRA 2", "@P1 BRA 1", "EXIT"),
            [(1, (1, 2, 3, 4), 1), (2, (2, 3), 2)],
        ),
        # Code out of line that jumps back into the middle is no loop.
        (("@P0 BRA 4", "FADD R0, R0, R1", "FMUL R0, R0, R2", "EXIT", "MOV R1, RZ", "BRA 2"), []),
        # The jump to itself after the last instruction is no loop; one that waits for another warp is.
        (("EXIT", "BRA 1"), []),
        (
            ("LDG.E R0, desc[UR4][R2.64]", "ISETP.NE.AND P0, PT, R0, RZ, PT", "@P0 BRA 0", "EXIT"),
            [(0, (0, 1, 2), 1)],
        ),
        # A jump with a condition of its own may continue.
        (("MOV R0, RZ", "FADD R0, R0, R1", "BRA.DIV UR4, 4", "@P0 BRA 1", "EXIT"), [(1, (1, 2, 3), 1)]),
        # Two jumps back to one header are one loop.
        (("FADD R0, R0, R1", "@P0 BRA 0", "FMUL R0, R0, R1", "@P1 BRA 0", "EXIT"), [(0, (0, 1, 2, 3), 1)]),
    ],
)
def test_loops(lines: tuple[str, ...], found: list[tuple[int, tuple[int, ...], int]]) -> None:
    assert loops(basic_blocks(code(*lines))) == tuple(Loop(*each) for each in found)


def test_a_wait_names_the_setters_of_every_path() -> None:
    lines = (
        "@P0 BRA 3",
        "LDS R0, [R4]",
        "BRA 4",
        "LDG.E R0, desc[UR4][R2.64]",
        "FADD R0, R0, R1",
        "FADD R0, R0, R0",
    )
    made = code(*lines, write={1: 0, 3: 0}, waits={4: [0], 5: [0]})
    assert waited_for(made, basic_blocks(made)) == {4: {0: (1, 3)}, 5: {0: ()}}


def test_depbar_waits_for_the_scoreboard_that_it_names() -> None:
    made = code("LDGDEPBAR", "DEPBAR.LE SB0, 0x0", "LDS R0, [R2]", write={0: 0})
    assert waited_for(made, basic_blocks(made)) == {1: {0: (0,)}}


@pytest.mark.parametrize(
    ("line", "reads", "writes"),
    [
        ("IADD3 R4, P0, P1, R5, R6, RZ", "R5 R6", "R4 P0 P1"),
        ("IADD3.X R4, RZ, R5, RZ, P3, !PT", "R5 P3", "R4"),
        ("ISETP.GT.U32.AND.EX P0, PT, R7, RZ, PT, P1", "R7 P1", "P0"),
        ("LOP3.LUT P0, R4, R5, 0xff, RZ, 0xc0, !PT", "R5", "P0 R4"),
        ("SHFL.DOWN PT, R5, R4, 0x10, 0x1f", "R4", "R5"),
        ("VOTE.ANY R4, PT, P0", "P0", "R4"),
        ("LDG.E.128 R4, desc[UR6][R2.64+0x10]", "UR6 UR7 R2 R3", "R4 R5 R6 R7"),
        ("STG.E.64 desc[UR6][R2.64], R8", "UR6 UR7 R2 R3 R8 R9", ""),
        ("STS [R5+UR4], R0", "R5 UR4 R0", ""),
        ("IMAD.WIDE R2, R5, 0x4, R6", "R5 R6 R7", "R2 R3"),
        ("DFMA R2, R4, R6, R8", "R4 R5 R6 R7 R8 R9", "R2 R3"),
        ("CS2R R2, SRZ", "", "R2 R3"),
        ("LDC.64 R2, c[0x0][0x230]", "", "R2 R3"),
        ("LDSM.16.M88.4 R4, [R2]", "R2", "R4 R5 R6 R7"),
        ("HMMA.1688.F32.TF32 R4, R8, R12, R4", "R8 R9 R10 R11 R12 R13 R4 R5 R6 R7", "R4 R5 R6 R7"),
        ("HMMA.16816.F16 R4, R8, R12, R4", "R8 R9 R10 R11 R12 R13 R4 R5", "R4 R5"),
        ("HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, !UPT", "UR4 R24 R25 R26 R27", "R24 R25 R26 R27"),
        ("@!P2 MOV R1, R2", "P2 R2 R1", "R1"),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", "", ""),
        ("EXIT", "", ""),
    ],
)
def test_the_registers_of_an_instruction(line: str, reads: str, writes: str) -> None:
    (instruction,) = code(line)
    assert uses_of(instruction) == Uses(frozenset(reads.split()), frozenset(writes.split()))


def test_a_chain_through_a_register_that_is_overwritten_ends() -> None:
    made = code("FADD R0, R0, R1", "FMUL R2, R0, R0", "MOV R0, RZ", "FADD R3, R0, R2", "FADD R4, R3, R3")
    assert chains_of(made, range(5)) == Chains(longest=(0, 1, 3, 4), carried=())


def test_the_chain_from_one_iteration_to_the_next() -> None:
    made = code("LDS R5, [R2]", "FFMA R0, R5, R5, R0", "FMUL R0, R0, R1", "IADD3 R2, R2, 0x4, RZ")
    assert chains_of(made, range(4)) == Chains(longest=(0, 1, 2), carried=(1, 2))


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("LDG.E R0, desc[UR4][R2.64]", Kind.GLOBAL), ("ATOMS.ADD RZ, [R2], R3", Kind.SHARED),
        ("STL [R1], R0", Kind.LOCAL), ("LDGSTS.E [R4], desc[UR4][R2.64]", Kind.COPY),
        ("HMMA.1688.F32.TF32 R4, R8, R12, R4", Kind.TENSOR), ("MUFU.RCP R0, R1", Kind.SPECIAL),
        ("UIADD3 UR4, UR4, 0x1, URZ", Kind.UNIFORM), ("ULDC.64 UR6, c[0x0][0x208]", Kind.CONSTANT),
        ("S2R R4, SR_TID.X", Kind.OTHER), ("NEWOP R0, R1", Kind.OTHER),
    ],
)  # fmt: skip
def test_kinds(line: str, kind: Kind) -> None:
    (instruction,) = code(line)
    assert kind_of(instruction) is kind


def test_every_kernel_of_a_listing_is_found() -> None:
    text = (DATA / "axis_sum.sass").read_text("utf-8")
    found = read_listing(text + text.replace(KERNEL, "other"))
    assert {name: len(instructions) for name, instructions in found.items()} == {KERNEL: 56, "other": 56}
    assert all(isinstance(each, SassInstruction) for each in found["other"])
