"""Basic blocks and loops of machine code."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction

_JUMPS = frozenset({"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU"})
_CALLS = frozenset({"CALL"})
_ENDS = frozenset({"EXIT", "RET", "KILL"})


class Block(Struct, frozen=True):
    """A basic block: instructions `first` to `end - 1`, and the blocks that may follow."""

    first: int
    end: int
    successors: tuple[int, ...]


class Loop(Struct, frozen=True):
    """A natural loop.

    Attributes:
        header: index of the instruction that every iteration begins with.
        instructions: indices of its instructions, ascending, with those of the loops inside it.
        depth: 1 for a loop inside no other.
    """

    header: int
    instructions: tuple[int, ...]
    depth: int


def basic_blocks(code: Sequence[SassInstruction]) -> tuple[Block, ...]:
    """The basic blocks of a kernel. A call is followed by its function and by the instruction after it."""
    index = {instruction.address: number for number, instruction in enumerate(code)}
    starts = {0}
    for number, instruction in enumerate(code):
        if instruction.name in _JUMPS | _CALLS | _ENDS:
            starts.add(number + 1)
            if instruction.name not in _ENDS:
                starts.update(index[target] for target in instruction.targets)
    ordered = sorted(start for start in starts if start < len(code))
    numbers = {start: block for block, start in enumerate(ordered)}
    blocks = []
    for start, end in zip(ordered, [*ordered[1:], len(code)], strict=True):
        last = code[end - 1]
        following: list[int] = []
        if last.name in _JUMPS | _CALLS:
            following += [numbers[index[target]] for target in last.targets]
        if end in numbers and not _never_continues(last):
            following.append(numbers[end])
        blocks.append(Block(start, end, tuple(dict.fromkeys(following))))
    return tuple(blocks)


def _never_continues(instruction: SassInstruction) -> bool:
    """Whether the next instruction is never executed after this one."""
    if instruction.predicate:
        return False
    if instruction.name in _ENDS:
        return True
    # `BRA.DIV ~URZ, target` and `BRA !UP0, target` have a condition of their own.
    return instruction.name in _JUMPS and "," not in instruction.operands


def loops(blocks: Sequence[Block]) -> tuple[Loop, ...]:
    """The natural loops, by header; code out of line that jumps back is none.

    A loop is what reaches, without passing its header, a jump to the header, where the header dominates the
    jump. A block that only jumps to itself, which the assembler puts after the last instruction, is none.
    """
    dominators = _dominators(blocks)
    before: list[list[int]] = [[] for _ in blocks]
    for number, block in enumerate(blocks):
        for following in block.successors:
            before[following].append(number)
    bodies: dict[int, set[int]] = {}
    for number, block in enumerate(blocks):
        for header in block.successors:
            if header in dominators[number] and not (header == number and block.end - block.first == 1):
                bodies.setdefault(header, {header}).update(_reaching(number, header, before))
    found = []
    for header, body in sorted(bodies.items()):
        depth = sum(header in other for other in bodies.values())
        inside = [index for block in sorted(body) for index in range(blocks[block].first, blocks[block].end)]
        found.append(Loop(blocks[header].first, tuple(inside), depth))
    return tuple(found)


def _reaching(number: int, header: int, before: Sequence[Sequence[int]]) -> set[int]:
    """The blocks that reach a block without passing the header."""
    found, left = {header}, [number]
    while left:
        block = left.pop()
        if block not in found:
            found.add(block)
            left += before[block]
    return found


def _dominators(blocks: Sequence[Block]) -> list[set[int]]:
    """The blocks that every path from the first block to a block passes; of unreachable blocks none."""
    dominators: list[set[int] | None] = [None] * len(blocks)
    dominators[0] = {0}
    changed = True
    while changed:
        changed = False
        for number, block in enumerate(blocks):
            own = dominators[number]
            if own is None:
                continue
            for following in block.successors:
                known = dominators[following]
                new = own | {following} if known is None else known & (own | {following})
                if new != known:
                    dominators[following] = new
                    changed = True
    return [found or set() for found in dominators]
