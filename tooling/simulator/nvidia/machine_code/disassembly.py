"""A cubin to instructions, from what `nvdisasm` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from tooling.platform.processes import temporary_folder
from tooling.simulator.nvidia.machine_code.control import Control, decode_control
from tooling.simulator.nvidia.machine_code.tools import Tools, call

BYTES = 16
"""Of an instruction (Volta and later)."""

_SECTION = re.compile(r"^\t\.section\t\.text\.([^,\s]+),")
_LABEL = re.compile(r"^([.\w$]+):$")
_PTX_LINE = re.compile(r'^\t//## File "[^"]*", line (\d+)')
_INSTRUCTION = re.compile(
    r"^ +/\*(?P<address>[0-9a-f]{4,})\*/ +(?P<text>\S.*?) *; +/\* 0x(?P<low>[0-9a-f]{16}) \*/$"
)
_UPPER_HALF = re.compile(r"^ +/\* 0x([0-9a-f]{16}) \*/$")
_WORDS = re.compile(r"(?:@(?P<predicate>!?U?P[0-9T]+) +)?(?P<opcode>[A-Z][\w.]*)(?: +(?P<operands>.*))?")
_TARGET = re.compile(r"`\(([.\w$]+)\)")
_TARGETS = re.compile(r'\*"BRANCH_TARGETS ([^"]*)"')


class SassInstruction(Struct, frozen=True):
    """A machine instruction.

    Attributes:
        address: bytes from the kernel's first instruction.
        predicate: `P0` or `!P0`, without which it does nothing; empty: always.
        opcode: with its modifiers, for example `LDG.E.128`.
        operands: as nvdisasm prints them.
        control: what controls its issue.
        ptx_line: the line of the PTX that it was made from; None: none is known.
        targets: addresses that it names, if they are in the kernel.
    """

    address: int
    predicate: str
    opcode: str
    operands: str
    control: Control
    ptx_line: int | None = None
    targets: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """As nvdisasm prints it, without the padding."""
        guard = f"@{self.predicate} " if self.predicate else ""
        return f"{guard}{self.opcode} {self.operands}".rstrip()

    @property
    def name(self) -> str:
        """The opcode without modifiers: `LDG`."""
        return self.opcode.partition(".")[0]


def disassemble(cubin: bytes, tools: Tools) -> dict[str, tuple[SassInstruction, ...]]:
    """The instructions of each kernel of a cubin, with the functions that it calls.

    Raises:
        ToolFailed: nvdisasm cannot read it.
        ValueError: its output has a line that cannot be read.
    """
    with temporary_folder("nvdisasm-") as folder:
        path = folder / "kernel.cubin"
        path.write_bytes(cubin)
        return read_listing(call([tools.nvdisasm, "-c", "-hex", "-gp", path]).stdout)


def read_listing(text: str) -> dict[str, tuple[SassInstruction, ...]]:
    """The instructions of each kernel, from the output of `nvdisasm -c -hex -gp`.

    Raises:
        ValueError: an instruction cannot be read.
    """
    return {name: tuple(_instructions(lines)) for name, lines in _sections(text)}


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    name = ""
    lines: list[str] = []
    for line in text.splitlines():
        section = _SECTION.match(line)
        if section or line.startswith("\t.section"):
            if name:
                yield name, lines
            name, lines = section[1] if section else "", []
        elif name:
            lines.append(line)
    if name:
        yield name, lines


class _Line(Struct):
    address: int
    text: str
    low: int
    ptx_line: int | None


def _instructions(lines: list[str]) -> Iterator[SassInstruction]:
    labels: dict[str, int] = {}
    waiting: list[str] = []
    read: list[tuple[_Line, int]] = []
    first: _Line | None = None
    ptx_line: int | None = None
    for line in lines:
        if first is not None:
            upper = _UPPER_HALF.match(line)
            if upper is None:
                raise ValueError(f"nvdisasm: no second half of the encoding after {first.text!r}: {line!r}")
            read.append((first, int(upper[1], 16) << 64 | first.low))
            first = None
        elif label := _LABEL.match(line):
            waiting.append(label[1])
        elif comment := _PTX_LINE.match(line):
            ptx_line = int(comment[1])
        elif found := _INSTRUCTION.match(line):
            first = _Line(int(found["address"], 16), found["text"], int(found["low"], 16), ptx_line)
            labels.update(dict.fromkeys(waiting, first.address))
            waiting.clear()
        elif line.lstrip().startswith("/*"):
            raise ValueError(f"nvdisasm: a line that cannot be read: {line!r}")
    for each, encoding in read:
        words = _WORDS.fullmatch(each.text)
        if words is None:
            raise ValueError(f"nvdisasm: an instruction that cannot be read: {each.text!r}")
        operands = words["operands"] or ""
        yield SassInstruction(
            each.address,
            words["predicate"] or "",
            words["opcode"],
            operands,
            decode_control(encoding),
            each.ptx_line,
            tuple(labels[name] for name in _named(operands) if name in labels),
        )


def _named(operands: str) -> Iterator[str]:
    table = _TARGETS.search(operands)
    yield from table[1].split(",") if table else _TARGET.findall(operands)
