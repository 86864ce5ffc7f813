"""The assembler's text of the kernels of a program, and the machine code of the same kernels.

`mojo build --emit asm` writes the text of each kernel to a file `*.amdgcn`, and the host's assembly, which
contains the code objects as strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from msgspec import Struct

from tooling.simulator.amd.architectures import Architecture
from tooling.simulator.amd.code_object.errors import UnknownInstruction
from tooling.simulator.amd.decoding.rdna3 import make_decoder

_STRING = re.compile(r'^\t\.ascii?z?\t"(\\177ELF.*)"$', re.MULTILINE)
_ESCAPE = re.compile(rb'\\([0-7]{3}|[bfnrt"\\])')
_LETTERS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b'"': b'"', b"\\": b"\\"}
_FUNCTION = re.compile(r"\t\.type\t([^.,\s][^,\s]*),@function")
_LABEL = re.compile(r"([\w.$]+):")
_ALIGNMENT = re.compile(r"\t\.p2align\t(\d+)")
_RELOCATION = re.compile(r"([\w.$]+)@(rel|gotpcrel)32@(lo|hi)([+-]\d+)")


class Listing(Struct):
    """A code object, and the text of its functions: (function, lines of instructions, labels, alignments)."""

    elf: Any
    functions: list[tuple[str, list[str]]]

    @property
    def code(self) -> bytes:
        """The bytes of `.text`."""
        return bytes(self.elf.get_section_by_name(".text").data())

    def addresses(self) -> dict[str, int]:
        """Addresses of its symbols."""
        tables = [self.elf.get_section_by_name(name) for name in (".symtab", ".dynsym")]
        return {
            symbol.name: symbol["st_value"]
            for table in tables
            if table is not None
            for symbol in table.iter_symbols()
        }


def listings(host_assembly: Path) -> Iterator[Listing]:
    """The kernels of a program, by the folder of its assembly."""
    texts = {}
    for path in host_assembly.parent.glob("*.amdgcn"):
        functions = list(_functions(path.read_text()))
        texts[frozenset(name for name, _ in functions)] = functions
    for match in _STRING.finditer(host_assembly.read_text()):
        elf = ELFFile(BytesIO(_unescaped(match[1].encode())))
        listing = Listing(elf, [])
        names = set(listing.addresses())
        (listing.functions,) = (functions for known, functions in texts.items() if known <= names)
        yield listing


def _unescaped(text: bytes) -> bytes:
    return _ESCAPE.sub(lambda match: _LETTERS.get(match[1]) or bytes([int(match[1], 8)]), text)


def _functions(text: str) -> Iterator[tuple[str, list[str]]]:
    name = ""
    lines: list[str] = []
    for line in text.splitlines():
        if found := _FUNCTION.match(line):
            name, lines = found[1], []
        elif line.startswith(".Lfunc_end"):
            yield name, lines
            name = ""
        elif name and (
            _LABEL.match(line)
            or _ALIGNMENT.match(line)
            or (line.startswith("\t") and not line.startswith("\t."))
        ):
            lines.append(line.partition(";")[0].rstrip())


def differences(listing: Listing, architecture: Architecture) -> tuple[int, list[str]]:
    """How many instructions were compared, and each difference between their text and the decoder's.

    Labels of branches are compared as offsets, references to symbols as the distances that the linker enters.
    """
    code, addresses = listing.code, listing.addresses()
    start = listing.elf.get_section_by_name(".text")["sh_addr"]
    decoder = make_decoder(architecture)
    found: list[tuple[str, str, int, int]] = []
    labels: dict[str, int] = {}
    wrong: list[str] = []
    for name, lines in listing.functions:
        offset = addresses[name] - start
        for line in lines:
            if label := _LABEL.fullmatch(line):
                labels[label[1]] = offset
                continue
            if alignment := _ALIGNMENT.match(line):  # filled with s_nop
                offset += -offset % (1 << int(alignment[1]))
                continue
            try:
                instruction = decoder.decode(code, offset)
            except UnknownInstruction as error:
                wrong.append(f"{line}: {error.form}")
                break
            found.append((line, instruction.text, offset, instruction.size))
            offset += instruction.size
    for line, text, offset, size in found:
        wanted = " ".join(line.split())
        opcode, _, operand = wanted.partition(" ")
        if operand in labels and opcode.startswith(("s_branch", "s_cbranch")):
            wanted = f"{opcode} {labels[operand]:#x}"
        elif reference := _RELOCATION.search(wanted):
            literal = start + offset + size - 4
            wanted = wanted.replace(reference[0], _distance(reference, addresses, literal))
        if wanted != text:
            wrong.append(f"{wanted}: {text}")
    return len(found), wrong


def _distance(reference: re.Match[str], addresses: dict[str, int], address: int) -> str:
    distance = addresses[reference[1]] + int(reference[4]) - address
    return f"{distance >> (32 if reference[3] == 'hi' else 0) & 0xFFFFFFFF:#x}"
