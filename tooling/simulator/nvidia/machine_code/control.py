"""What controls the issue of a machine instruction: bits 105 to 125 of its 128-bit encoding.

NVIDIA documents none of these bits. Their positions (Volta and later) are known from reverse engineering,
among others "Analyzing Modern NVIDIA GPU cores" by Huerta et al. (2025). `tests/simulator/machine_code`
checks on every kernel of the book what must hold if they are right: every wait names a scoreboard that an
instruction before it sets, and no instruction of fixed latency sets one for its result.
"""

from __future__ import annotations

from msgspec import Struct

SCOREBOARDS = 6
_NONE = 7


class Control(Struct, frozen=True):
    """Of one instruction.

    Attributes:
        stall: cycles until the warp may issue its next instruction; the assembler sets it for results of
            fixed latency.
        yields: whether the scheduler should prefer another warp next.
        write_barrier: the scoreboard that is released when the result is written; None: none.
        read_barrier: the scoreboard that is released when the operands have been read; None: none.
        waits: the scoreboards that must be released before the instruction is issued.
        reuse: operands (bit 0: the first) that the operand cache keeps for the next instruction.
    """

    stall: int
    yields: bool
    write_barrier: int | None
    read_barrier: int | None
    waits: tuple[int, ...]
    reuse: int


def decode_control(encoding: int) -> Control:
    """The control bits of a 128-bit encoding.

    Raises:
        ValueError: it names a scoreboard that does not exist.
    """

    def bits(first: int, count: int) -> int:
        return encoding >> first & ((1 << count) - 1)

    mask = bits(116, SCOREBOARDS)
    return Control(
        stall=bits(105, 4),
        yields=not bits(109, 1),
        write_barrier=_scoreboard(bits(110, 3)),
        read_barrier=_scoreboard(bits(113, 3)),
        waits=tuple(number for number in range(SCOREBOARDS) if mask >> number & 1),
        reuse=bits(122, 4),
    )


def _scoreboard(number: int) -> int | None:
    if number == _NONE:
        return None
    if number >= SCOREBOARDS:
        raise ValueError(f"there is no scoreboard {number}")
    return number
