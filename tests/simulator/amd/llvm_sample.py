"""Machine code of every instruction that LLVM's disassembler knows, with its text.

The files `data/*_llvm.txt` are a sample of it: `python -m tests.simulator.amd.llvm_sample` records them again
(LLVM 19: Debian's package `llvm-19`). Words are made by trying every opcode of every format with operands
that are likely to be legal; an instruction is legal if LLVM disassembles it and assembles the same bytes.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).parent / "data"
ARCHITECTURES = ("gfx942", "gfx1100")
ASSEMBLER = shutil.which("llvm-mc-19") or shutil.which("llvm-mc-19", path="/usr/lib/llvm-19/bin")
_LINE = re.compile(r"\t(.*?)\s*; encoding: \[(.*)\]")
_SUFFIX = re.compile(r"(_e64)?(_dpp8|_dpp|_sdwa|_e32|_e64)?$")
_VECTOR = 256
_TOGETHER = 512
_INLINE = (128, 129, 193, 240, 242, 248)


def mnemonic(text: str) -> str:
    """`v_add_f32` of `v_add_f32_e32 v1, v2, v3`."""
    return _SUFFIX.sub("", text.split(maxsplit=1)[0])


def disassembled(architecture: str, words: list[bytes]) -> dict[bytes, str]:
    """The text of the legal instructions among these. LLVM 19 crashes on a few: these are left out.

    Raises:
        RuntimeError: the assembler is not installed.
    """
    if ASSEMBLER is None:
        raise RuntimeError("llvm-mc-19 is not installed (Debian: llvm-19)")
    if len(words) > _TOGETHER:
        parts = (words[at : at + _TOGETHER] for at in range(0, len(words), _TOGETHER))
        return {word: text for part in parts for word, text in disassembled(architecture, part).items()}
    known = set(words)
    lines = "\n".join(" ".join(f"{octet:#04x}" for octet in word) for word in words)
    command = [ASSEMBLER, "-arch=amdgcn", f"-mcpu={architecture}", "--disassemble", "-show-encoding"]
    quick = os.environ | {"LLVM_DISABLE_SYMBOLIZATION": "1"}  # of the stack after a crash
    done = subprocess.run(command, input=lines, env=quick, capture_output=True, text=True, check=False)
    if done.returncode < 0 and len(words) > 1:
        halves = words[: len(words) // 2], words[len(words) // 2 :]
        return disassembled(architecture, halves[0]) | disassembled(architecture, halves[1])
    found = {}
    for line in done.stdout.splitlines():
        if match := _LINE.match(line):
            encoding = bytes(int(octet, 16) for octet in match[2].split(","))
            if encoding in known and "/*" not in line:  # a comment says what is wrong with an operand
                found[encoding] = " ".join(match[1].split())
    return found


class _Words:
    """Candidates of one architecture.

    Args:
        older: CDNA 3's formats, otherwise RDNA 3's.
    """

    def __init__(self, seed: int, *, older: bool) -> None:
        self.chance = random.Random(seed)
        self.older = older

    def _pick(self, *values: int) -> int:
        return self.chance.choice(values)

    def _vector(self) -> int:
        return self.chance.choice((0, 2, 4, 8, 16, 32, 40, 64, 96, 126))

    def _scalar(self) -> int:
        return self.chance.choice((0, 2, 4, 8, 12, 16, 32))

    def _any(self) -> int:
        return self._pick(_VECTOR + self._vector(), _VECTOR + self._vector(), self._scalar(), *_INLINE[:3])

    def all(self) -> Iterator[tuple[int, ...]]:
        """Words of every opcode, each with operands of one kind."""
        yield from self._scalars()
        yield from self._short_vectors()
        yield from self._long_vectors()
        yield from self._memory()
        if not self.older:
            yield from self._newer()

    def _scalars(self) -> Iterator[tuple[int, ...]]:
        for opcode in range(256):
            source = self._pick(self._scalar(), *_INLINE)
            yield (0xBE800000 | self._scalar() << 16 | opcode << 8 | source,)
            yield (0xBE800000 | opcode << 8,)
        for opcode in range(128):
            sources = self._scalar() << 8 | self._pick(self._scalar(), *_INLINE)
            if opcode < 96:
                yield (0x80000000 | opcode << 23 | self._scalar() << 16 | sources,)
            yield (0xBF000000 | opcode << 16 | sources,)
            yield (0xBF800000 | opcode << 16 | self._pick(0, 1, 3, 10),)
            yield (0xBF800000 | opcode << 16,)
        for opcode in range(32):
            first = 0xB0000000 | opcode << 23 | self._scalar() << 16 | self.chance.getrandbits(8)
            yield (first,)
            yield (first & ~0x7F0000 if opcode < 24 else first | 0x7C0000,)
            yield first, self.chance.getrandbits(32)
            yield 0xB0000000 | opcode << 23 | 1, 0x12345678
        for opcode in range(256):
            data, base = self._scalar(), self._pick(0, 2, 4, 6)
            if self.older:
                yield 0xC0000000 | opcode << 18 | self._pick(0, 1 << 17) | data << 6 | base, 16
                yield 0xC0000000 | opcode << 18 | 1 << 17 | data << 6 | base, 40
                yield 0xC0000000 | opcode << 18, 0
            else:
                yield 0xF4000000 | opcode << 18 | data << 6 | base, 16 | 124 << 25
                yield 0xF4000000 | opcode << 18 | data << 6 | base, 4 << 25
                yield 0xF4000000 | opcode << 18, 124 << 25
                yield 0xF4000000 | opcode << 18, 0

    def _short_vectors(self) -> Iterator[tuple[int, ...]]:
        dwords = (249, 250) if self.older else (250, 233)
        for opcode in range(256):
            result, source, second = self._vector(), self._any(), self._vector()
            one = 0x7E000000 | opcode << 9
            compare = 0x7C000000 | opcode << 17 | second << 9
            yield (one | result << 17 | source,)
            yield (one | result << 17 | _VECTOR + self._vector(),)
            yield (one | self._scalar() << 17 | _VECTOR + self._vector(),)
            yield (one,)
            yield (compare | source,)
            for code in dwords:
                extra = self._extra(code)
                yield one | result << 17 | code, extra
                yield compare | code, extra & ~0x7F00 if code == 249 else extra
            if opcode < 64:
                two = opcode << 25 | result << 17 | second << 9
                yield (two | source,)
                yield two | _VECTOR + self._vector(), self.chance.getrandbits(32)
                for code in dwords:
                    yield two | code, self._extra(code)

    def _extra(self, code: int) -> int:
        """The dword of SDWA, DPP or DPP8."""
        if code == 249:
            return self._vector() | self._pick(6, 5, 4) << 8 | self._pick(6, 4, 5, 1) << 16 | 6 << 24
        if code == 250:
            control = self._pick(0xE4, 0x1B, 0x111, 0x101, 0x121, 0x140, 0x141)
            return self._vector() | control << 8 | self._pick(15, 10) << 28 | 15 << 24
        return self._vector() | self.chance.getrandbits(24) << 8

    def _long_vectors(self) -> Iterator[tuple[int, ...]]:
        start = 0xD0000000 if self.older else 0xD4000000
        for opcode in range(1024):
            result = self._vector()
            a, b, c = (_VECTOR + self._vector() for _ in range(3))
            first = start | opcode << 16
            yield first | result, a | b << 9 | c << 18
            yield first | result, self._any() | b << 9 | c << 18
            yield first | self._scalar(), a | self._pick(self._scalar(), 130) << 9
            yield first | result, a | b << 9
            yield first | result, a
            yield first | result, a | self._scalar() << 9
            yield first | 106 << 8 | result, a | b << 9 | self._pick(106, c) << 18
            yield first | 1 << 15 | result, a | b << 9 | c << 18
            yield first | 1 << 15 | result, a | b << 9
            yield first | self._pick(0x100, 0x200) | result, a | b << 9 | c << 18 | 1 << 29
            yield first | self._pick(0x800, 0x4000) | result, a | b << 9 | c << 18
            yield first, 0
        start = 0xD3800000 if self.older else 0xCC000000
        for opcode in range(128):
            a, b, c = (_VECTOR + 8 * self.chance.randrange(16) for _ in range(3))
            matrices = self.older and opcode >= 62
            for result in (self._vector(), c - _VECTOR):
                for high in (0, 1 << 14, 1 << 15):
                    for low in (0, 1, 2, 3):
                        first, last = start | opcode << 16 | high | result, low << 27
                        yield first, a | b << 9 | c << 18 | last
                        yield first, a | b << 9 | c << 18 | last | self._pick(1, 2, 4) << 29
                        if matrices and not 88 <= opcode < 93:
                            continue
                        yield first, a | b << 9 | last
                        yield first, a | last
                        yield first, self._any() | last
                        yield first | self._pick(0x800, 0x1000, 0x100), a | b << 9 | c << 18 | last
            if matrices:
                yield start | opcode << 16 | self._vector(), a | b << 9 | 128 << 18

    def _memory(self) -> Iterator[tuple[int, ...]]:
        for opcode in range(256):
            first = 0xD8000000 | opcode << (17 if self.older else 18)
            address, one, two, result = (self._vector() for _ in range(4))
            offset = self._pick(0, 8, 16)
            yield first | offset, address | one << 8 | two << 16 | result << 24
            yield first | offset, address | one << 8 | two << 16
            yield first | offset, address | one << 8 | result << 24
            yield first | offset, address | one << 8
            yield first | offset, address | result << 24
            yield first | offset, address
            yield first | offset, one << 8
            yield first | offset, result << 24
            yield first, 0
            yield first | 1 << (16 if self.older else 17), one
            if self.older:
                yield first | 1 << 25 | offset, address | one << 8 | two << 16 | result << 24
                yield first | 1 << 25 | offset, address | one << 8
                yield first | 1 << 25 | offset, address | result << 24
            if opcode < 128:
                yield from self._flat(opcode)
            yield from self._buffer(opcode)

    def _flat(self, opcode: int) -> Iterator[tuple[int, ...]]:
        off = 127 if self.older else 124
        returns = 1 << (16 if self.older else 14)
        for segment in range(3):
            first = 0xDC000000 | opcode << 18 | segment << (14 if self.older else 16)
            vector = (1 << 13, 0) if self.older else (0, 1 << 23)
            for base in (off, 4) if segment else (0 if self.older else off,):
                for low, high in ((0, 0), vector) if segment == 1 else ((0, 0),):
                    for flag in (0, returns):
                        address, data, result = self._vector(), self._vector(), self._vector()
                        if segment == 1 and not low and not high:
                            address = 0
                        start, end = first | flag | low | self._pick(0, 8, 24), base << 16 | high
                        yield start, end | address | data << 8 | result << 24
                        yield start, end | address | result << 24
                        yield start, end | address | data << 8
                        yield start, end | address
                        if self.older:
                            yield start, end | address | data << 8 | 1 << 23
                            yield start, end | address | result << 24 | 1 << 23

    def _buffer(self, opcode: int) -> Iterator[tuple[int, ...]]:
        for mode in range(4):
            address = self._vector() if mode else 0
            operands = address | self._vector() << 8 | self._pick(0, 1, 2) << 16 | self._pick(4, 128) << 24
            small = self._pick(0, 8, 42)
            if self.older and opcode < 128:
                first = 0xE0000000 | opcode << 18 | mode << 12
                yield first | small, operands
                yield first | 1 << 14, operands
                yield first | small, operands | 1 << 55 - 32
                yield first | 1 << 16, operands & ~0xFF00
                yield first & ~0x3000, 0
            elif not self.older:
                first = 0xE0000000 | opcode << 18
                yield first | small, operands | mode << 22
                yield first | 1 << 14, operands | mode << 22
                yield first | small, operands & ~0xFF00 | mode << 22
                yield first, 0
            if opcode < 16:
                kind = self._pick(1, 20, 30) << 19
                where = mode << 12 if self.older else 0
                yield 0xE8000000 | opcode << 15 | kind | where, operands | (0 if self.older else mode << 22)

    def _newer(self) -> Iterator[tuple[int, ...]]:
        for x in range(16):
            for y in range(32):
                sources = (_VECTOR + 2 * self.chance.randrange(8), _VECTOR + 2 * self.chance.randrange(8) + 1)
                for literal in ((), (0x3F800000,)):
                    yield (
                        0xC8000000 | x << 22 | y << 17 | 2 << 9 | sources[0],
                        sources[1] | 5 << 9 | 6 << 17 | 4 << 24,
                        *literal,
                    )
        for opcode in range(8):
            yield 0xCD000000 | opcode << 16 | 4, _VECTOR + 6 | _VECTOR + 8 << 9 | _VECTOR + 10 << 18
        for opcode in range(4):
            yield (0xCE000000 | opcode << 20 | 4,)
        yield 0xF800000F, 0x03020100
        for opcode in range(256):
            for dimension in range(8):
                for near in (0, 1):
                    first = 0xF0000000 | opcode << 18 | dimension << 2 | near
                    for mask in (1 << 8, 15 << 8):
                        yield first | mask, 8 << 8
                        if near:
                            yield first | mask, 8 << 8, 0x04030201


def legal_instructions(architecture: str, seeds: range) -> dict[bytes, str]:
    """Legal instructions and their text."""
    words: dict[bytes, None] = {}
    for seed in seeds:
        for each in _Words(seed, older=architecture == "gfx942").all():
            words[b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in _split(each))] = None
    return disassembled(architecture, list(words))


def _split(words: tuple[int, ...]) -> Iterator[int]:
    """32-bit words; the second of a pair may have been written with 64-bit positions."""
    yield words[0]
    yield from words[1:]


def sample(found: dict[bytes, str]) -> dict[bytes, str]:
    """At most two instructions of each mnemonic and encoding; every form of the matrix instructions on
    accumulators."""
    chosen: dict[tuple[str, str], list[bytes]] = defaultdict(list)
    for word, text in found.items():
        name, form = mnemonic(text), re.sub(r"\d+", "#", text)
        accumulates = "a[#" in form or " a#" in form
        kept = accumulates and name.startswith("v_")
        key = (name, form if kept else f"{text.split()[0]} {accumulates}")
        if len(chosen[key]) < (1 if kept else 2) and all(found[other] != text for other in chosen[key]):
            chosen[key].append(word)
    return {word: found[word] for words in chosen.values() for word in words}


def record() -> None:
    """Write the samples."""
    for architecture in ARCHITECTURES:
        rows = sample(legal_instructions(architecture, range(3)))
        lines = sorted((text, word.hex()) for word, text in rows.items())
        path = DATA / f"{architecture}_llvm.txt"
        path.write_text("".join(f"{word} {text}\n" for text, word in lines))


if __name__ == "__main__":
    record()
