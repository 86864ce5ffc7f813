"""The control bits of encodings that ptxas 13.5.37 wrote."""

from __future__ import annotations

import pytest

from tests.simulator.machine_code.sass import recorded
from tooling.simulator.nvidia.machine_code.control import Control, decode_control

NEVER = 0x000FE200 << 96
"""Stall 1, no yield, no scoreboard."""


@pytest.mark.parametrize(
    ("encoding", "control"),
    [
        # LDC R1, c[0x0][0x28]
        (0x000FE20000000800_00000A00FF017B82, Control(1, False, None, None, (), 0)),
        # @!P0 LDC.64 R6, c[0x0][0x240]: sets scoreboard 0 for its result
        (0x000E300000000A00_00009000FF068B82, Control(8, False, 0, None, (), 0)),
        # STS [R5], R0: waits for scoreboard 2, sets 0 when it has read its operands
        (0x0041E20000000800_0000000005007388, Control(1, False, None, 0, (2,), 0)),
        # ISETP.GT.U32.AND P0, PT, R4, 0x5, PT: waits for scoreboard 0, prefers another warp next
        (0x001FDA0003F04070_000000050400780C, Control(13, True, None, None, (0,), 0)),
        # IMAD.MOV.U32 R0, RZ, RZ, RZ: waits for two scoreboards
        (0x003FC600078E00FF_000000FFFF007224, Control(3, True, None, None, (0, 1), 0)),
        # @P0 LEA R2, R6.reuse, R5, 0x2: the operand cache keeps the first operand
        (0x040FE400078E10FF_0000000506020211, Control(2, False, None, None, (), 1)),
    ],
)
def test_the_bits_of_an_encoding(encoding: int, control: Control) -> None:
    assert decode_control(encoding) == control


@pytest.mark.parametrize("field", [110, 113])
def test_a_scoreboard_that_does_not_exist_is_refused(field: int) -> None:
    encoding = NEVER & ~(7 << field) | 6 << field
    with pytest.raises(ValueError, match=r"^there is no scoreboard 6$"):
        decode_control(encoding)


def test_only_instructions_of_variable_latency_set_scoreboards_for_results() -> None:
    names = {each.name for each in recorded() if each.control.write_barrier is not None}
    assert names == {"S2R", "S2UR", "LDC", "LDG", "LDS"}
