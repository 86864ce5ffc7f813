"""Cases of tensor copies: loads of boxes and of im2col pixels, stores and reductions.

A case is a tensor in global memory, the arguments of its tensor map, and the coordinates of one copy. The
kernel text is the same here and on real hardware, where the driver encodes the map.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

KINDS = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz",
)  # fmt: skip
"""Element types by their CUtensorMapDataType."""

OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
_FLOATS = ("f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz")


@dataclass(frozen=True, slots=True)
class Map:
    """The arguments of a tensor map; dimensions start with the innermost.

    Attributes:
        extents: of the tensor; steps: element strides (the first one is ignored).
        box: of a tiled map, elements per dimension.
        row: elements from one row to the next; 0 where the tensor is dense.
        lower, upper: of an im2col map, corners of the pixel box; channels, pixels: of one copy.
    """

    kind: str
    extents: tuple[int, ...]
    steps: tuple[int, ...]
    box: tuple[int, ...] = ()
    row: int = 0
    lower: tuple[int, ...] = ()
    upper: tuple[int, ...] = ()
    channels: int = 0
    pixels: int = 0
    swizzle: int = 0
    fill: int = 0

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return int(self.kind.removesuffix(".ftz").lstrip("tbfus")) // 8

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one index to the next, from the second dimension on."""
        return tuple(self.size * int(np.prod(self.room[: k + 1])) for k in range(len(self.extents) - 1))

    @property
    def room(self) -> tuple[int, ...]:
        """The extents, including the gaps between rows."""
        return (self.row or self.extents[0], *self.extents[1:])

    @property
    def elements(self) -> int:
        """The number of elements of one copy."""
        if not self.box:
            return self.channels * self.pixels
        return self.box[0] * int(
            np.prod([-(-b // s) for b, s in zip(self.box[1:], self.steps[1:], strict=True)])
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One copy.

    Attributes:
        at: coordinates; offsets: of an im2col load; operation: of a reduction; stores: it is a store.
        scrambled: the elements have all sorts of bits, and not just their numbers.
    """

    name: str
    map: Map
    at: tuple[int, ...]
    offsets: tuple[int, ...] = ()
    operation: str = ""
    scrambled: bool = False
    stores: bool = False

    @property
    def changes_tensor(self) -> bool:
        """It is a store or a reduction."""
        return self.stores or bool(self.operation)

    def text(self) -> str:
        """The kernel: the tensor, the output, and the map; 64 threads."""
        rank, size = len(self.map.extents), self.map.size
        coordinates = ", ".join(map(str, self.at))
        body = _STORE if self.changes_tensor else _LOAD
        verb, how = ("cp.reduce", f".{self.operation}") if self.operation else ("cp", "")
        listed = ", ".join(f"%rs{k}" for k in range(len(self.offsets)))
        return body.format(
            rank=rank,
            size=size,
            bits=8 * size,
            register={1: "%r2", 2: "%rs9", 4: "%r2", 8: "%rd4"}[size],
            elements=self.map.elements,
            bytes=self.map.elements * size,
            at=coordinates,
            mode="im2col" if self.offsets else "tile",
            moves="".join(f"mov.b16 %rs{k}, {offset};\n    " for k, offset in enumerate(self.offsets)),
            offsets=f", {{{listed}}}" if self.offsets else "",
            verb=verb,
            how=how,
        )

    def tensor(self) -> npt.NDArray[np.uint8]:
        """The bytes of the tensor: each element its number, or every pair's first operand."""
        if self.operation and not self.stores:
            return _operands(self.map.kind)[0].view(np.uint8)
        numbers = np.arange(1, int(np.prod(self.map.room)) + 1, dtype=np.uint64)
        if self.scrambled:
            numbers = numbers * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(64 - 8 * self.map.size)
        elements = numbers.astype(f"u{self.map.size}")
        if self.scrambled and self.map.kind.startswith("tf32"):
            elements[1::2] = elements[1::2] & 0xFFFFE000 | 0x1000  # halfway between two neighbours
            elements[: len(_HARD)] = _HARD
        return elements.view(np.uint8)

    def output(self) -> npt.NDArray[np.uint8]:
        """The bytes of the second buffer: where a load's box goes, or what is stored, or every pair's second
        operand."""
        if self.stores:
            numbers = np.arange(1, self.map.elements + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            return (numbers >> np.uint64(64 - 8 * self.map.size)).astype(f"u{self.map.size}").view(np.uint8)
        if self.operation:
            return _operands(self.map.kind)[1].view(np.uint8)
        return np.zeros(self.map.elements * self.map.size, np.uint8)


_HEAD = """.version 8.5
.target sm_90a
.address_size 64
.visible .entry probe(.param .u64 p0, .param .u64 p1, .param .align 64 .b8 map[128])
{{
    .reg .pred %p<4>; .reg .b16 %rs<12>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
    .shared .align 1024 .b8 tile[16384]; .shared .align 8 .b64 bar;
    ld.param.b64 %rd6, [p0]; ld.param.b64 %rd7, [p1];
    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
    mov.b64 %rd2, map; cvta.param.u64 %rd1, %rd2;
"""
_LOAD = (
    _HEAD
    + """
    {moves}@!%p1 bra WAIT;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes};
    cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes
        [tile], [%rd1, {{{at}}}], [bar]{offsets};
WAIT: bar.sync 0; mov.b32 %r5, 0;
AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @%p2 bra NEXT;
    add.s32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 1000; @%p3 bra AGAIN;
    trap;
NEXT: setp.ge.u32 %p3, %r1, {elements}; @%p3 bra DONE;
    mov.b32 %r3, tile; mad.lo.u32 %r3, %r1, {size}, %r3;
    mul.wide.u32 %rd3, %r1, {size}; add.s64 %rd3, %rd3, %rd7;
    ld.shared.u{bits} {register}, [%r3]; st.global.u{bits} [%rd3], {register};
    add.s32 %r1, %r1, 64; bra NEXT;
DONE: ret;
}}
"""
)
_STORE = (
    _HEAD
    + """
FILL: setp.ge.u32 %p3, %r1, {elements}; @%p3 bra FULL;
    mov.b32 %r3, tile; mad.lo.u32 %r3, %r1, {size}, %r3;
    mul.wide.u32 %rd3, %r1, {size}; add.s64 %rd3, %rd3, %rd7;
    ld.global.u{bits} {register}, [%rd3]; st.shared.u{bits} [%r3], {register};
    add.s32 %r1, %r1, 64; bra FILL;
FULL: fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra DONE;
    {verb}.async.bulk.tensor.{rank}d.global.shared::cta{how}.tile.bulk_group [%rd1, {{{at}}}], [tile];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
DONE: ret;
}}
"""
)

_VALUES = {
    "f16": [0x0000, 0x8000, 0x3C00, 0x3C01, 0x0001, 0x83FF, 0x7C00, 0x7E01],
    "bf16": [0x0000, 0x8000, 0x3F80, 0x3F81, 0x0001, 0x807F, 0x7F80, 0x7FC1],
    "f32": [0x0, 0x80000000, 0x3F800000, 0x33800000, 0x00000001, 0x807FFFFF, 0x7F800000, 0x7FC00001],
    "f64": [
        0x0, 1 << 63, 0x3FF0000000000000, 0x3CA0000000000000, 0x1, 0x800FFFFFFFFFFFFF, 0x7FF0000000000000,
        0x7FF8000000000001,
    ],
}  # fmt: skip


_HARD = (0x7F800000, 0xFF801000, 0x7FFFFFFF, 0x7F7FFFFF, 0x00001000, 0x80000FFF, 0x00003000, 0x7FC01FFF)
"""For what cuts f32 to tf32: infinity, NaN, the largest number, subnormal ones."""


def _operands(kind: str) -> tuple[npt.NDArray[np.unsignedinteger], npt.NDArray[np.unsignedinteger]]:
    """64 destinations and 64 sources: every pair of eight values."""
    base = kind.removesuffix(".ftz")
    size = Map(kind, (1,), (1,)).size
    top = 1 << 8 * size
    values = _VALUES.get(base.removeprefix("t"), [0, 1, 2, 7, top // 2 - 1, top // 2, top - 2, top - 1])
    array = np.array(values, np.uint64).astype(f"u{size}")
    return np.repeat(array, 8), np.tile(array, 8)


def reductions() -> Iterator[Case]:
    """Every operation on every type, defined or not."""
    for kind in KINDS:
        for operation in OPERATIONS:
            yield Case(f"reduce {operation} {kind}", Map(kind, (64,), (1,), (64,)), (0,), (), operation)


_NHWC = (8, 7, 6, 3)


def columns() -> Iterator[Case]:
    """Loads in im2col mode."""
    ones = (1, 1, 1, 1)
    same = Map("f32", _NHWC, ones, lower=(-1, -1), upper=(-1, -1), channels=8, pixels=16)
    for at in ((0, -1, -1, 0), (0, 0, 0, 0), (0, 3, 2, 1), (4, 3, 2, 1), (8, 0, 0, 0), (-4, 0, 0, 0),
               (0, 4, 3, 2), (0, 5, 0, 0), (0, 6, 0, 0), (0, 9, 0, 0), (0, -3, 0, 0), (0, 0, 5, 0),
               (0, 0, 7, 1), (0, 0, -3, 1), (0, 0, 0, 3), (0, 0, 0, -1)):  # fmt: skip
        for offsets in ((0, 0), (1, 1), (2, 1)):
            yield Case(f"same {at} {offsets}", same, at, offsets)
    for offsets in ((2, 0), (5, 3), (127, 0), (255, 255), (0, 128)):
        yield Case(f"offsets {offsets}", same, (0, 0, 0, 0), offsets)
    corners = (
        ((0, 0), (0, 0)), ((0, 0), (-2, -2)), ((1, 2), (0, -1)), ((-3, -2), (2, 1)), ((2, 2), (2, 2)),
    )  # fmt: skip
    for lower, upper in corners:
        valid = Map("f32", _NHWC, ones, lower=lower, upper=upper, channels=8, pixels=64)
        for at in ((0, *lower, 0), (0, 2, 3, 0)):
            yield Case(f"corners {lower} {upper} {at}", valid, at, (1, 0))
    for steps in ((1, 2, 1, 1), (1, 2, 2, 1), (1, 3, 2, 1), (1, 1, 1, 2), (2, 1, 1, 1)):
        for pixels in (9, 32):
            spread = Map("f32", _NHWC, steps, lower=(-1, -1), upper=(-1, -1), channels=8, pixels=pixels)
            for at in ((0, -1, -1, 0), (0, 2, 1, 1)):
                yield Case(f"steps {steps} {pixels} {at}", spread, at, (1, 2))
    widths = ((4, "f32", 0), (8, "f32", 1), (16, "f16", 1), (16, "u8", 0), (32, "f32", 3))
    for channels, kind, swizzle in widths:
        extents = (max(channels, 8) * (2 if channels < 8 else 1), 7, 6, 3)
        narrow = Map(
            kind, extents, ones, lower=(0, 0), upper=(0, 0), channels=channels, pixels=20, swizzle=swizzle
        )
        yield Case(f"channels {channels} {kind} {swizzle}", narrow, (0, 3, 2, 1), (1, 1))
    filled = Map("f32", _NHWC, ones, lower=(-1, -1), upper=(-1, -1), channels=8, pixels=16, fill=1)
    yield Case("filled with NaN", filled, (4, -1, -1, 0), (0, 0))
    row = Map("f32", (8, 7, 3), (1, 1, 1), lower=(-1,), upper=(-1,), channels=8, pixels=12)
    yield from (Case(f"row {at}", row, at, (1,)) for at in ((0, -1, 0), (0, 3, 1), (0, 0, 2)))
    room = Map(
        "f32", (4, 4, 3, 3, 2), (1,) * 5, lower=(-1, -1, -1), upper=(-1, -1, -1), channels=4, pixels=50
    )
    for start in ((0, -1, -1, -1, 0), (0, 1, 0, 1, 0), (0, 2, 1, 1, 1)):
        for filtered in ((0, 0, 0), (2, 1, 0), (1, 1, 2)):
            yield Case(f"room {start} {filtered}", room, start, filtered)


def boxes() -> Iterator[Case]:
    """Loads of tiles: every type, in the tensor and beyond it, and each way to swizzle."""
    for kind in KINDS:
        width = 32 // Map(kind, (1,), (1,)).size
        for fill in (0, 1) if kind in _FLOATS else (0,):
            edge = Map(kind, (2 * width, 8), (1, 1), (width, 4), fill=fill)
            for at in ((0, 0), (-2, 6)):
                yield Case(f"tile {kind} {fill} {at}", edge, at, scrambled=True)
    subnormal = Map("f32.ftz", (8, 4), (1, 1), (8, 4))
    yield Case("tile subnormal", subnormal, (0, 0))
    for swizzle in (0, 1, 2, 3):
        wide = Map("f32", (64, 16), (1, 1), (4 << max(swizzle, 1), 16), swizzle=swizzle)
        yield Case(f"tile swizzled {swizzle}", wide, (4, 0))
    for kind, columns_at in (
        ("f32", (1, 2, 3, -1, -3, -4, 5)),
        ("f16", (1, 4, 8, -4, -1)),
        ("u8", (1, 8, 15)),
    ):
        width = 32 // Map(kind, (1,), (1,)).size
        for column in columns_at:
            yield Case(
                f"tile from {column} {kind}", Map(kind, (2 * width, 8), (1, 1), (width, 4)), (column, 1)
            )
    for steps in ((1, 3, 1), (1, 2, 2)):
        yield Case(f"tile steps {steps}", Map("f16", (32, 9, 3), steps, (32, 7, 2)), (0, 1, 1))


def stores() -> Iterator[Case]:
    """Stores and reductions inside and outside the tensor; its rows are 80 bytes apart and mostly shorter."""
    for kind in ("u8", "u16", "u32", "u64"):
        size = Map(kind, (1,), (1,)).size
        for short in sorted({0, 1, 16 // size - 1, 16 // size + 1}):
            for width in (16, 64):
                edge = Map(kind, (64 // size - short, 6), (1, 1), (width // size, 4), row=80 // size)
                for column in (0, 1, -1, 16 // size, 48 // size, -16 // size):
                    for operation in ("", "add") if kind in ("u32", "u64") else ("",):
                        name = f"store {operation}{kind} short {short} box {width} at {column}"
                        yield Case(name, edge, (column, 4), (), operation, stores=True)
    block = Map("u32", (13, 6, 3), (1, 1, 1), (8, 4, 2), row=16)
    for at in ((0, -1, 0), (0, -4, 0), (4, 4, -1), (0, 6, 0), (12, 5, 2), (16, 0, 0), (20, 1, 1), (-8, 0, 0),
               (8, 2, 2), (0, 0, 3)):  # fmt: skip
        for operation in ("", "add"):
            yield Case(f"store {operation} at {at}", block, at, (), operation, stores=True)
    for swizzle in (1, 2, 3):
        wide = Map("u32", (27, 6), (1, 1), (4 << swizzle, 4), row=32, swizzle=swizzle)
        for column in (0, 4, 24, 25):
            yield Case(f"store swizzled {swizzle} at {column}", wide, (column, 3), stores=True)
    for steps in ((1, 2, 1), (2, 1, 1), (1, 3, 2)):
        strided = Map("u16", (29, 7, 3), steps, (16, 4, 2), row=32)
        for column in (0, 24, 3):
            yield Case(f"store steps {steps} at {column}", strided, (column, 2, 1), stores=True)
    line = Map("u32", (29,), (1,), (16,))
    for column in (0, 16, 20, 28, -4, 3):
        yield Case(f"store line at {column}", line, (column,), stores=True)


def mistaken() -> Iterator[Case]:
    """A copy in the mode that does not match its map."""
    yield Case("tile of im2col", Map("f32", _NHWC, (1,) * 4, (8, 2, 2, 1)), (0, 0, 0, 0), (0, 0))
    column = Map("f32", _NHWC, (1,) * 4, lower=(0, 0), upper=(0, 0), channels=8, pixels=4)
    yield Case("im2col of tile", column, (0, 0, 0, 0))


def cases() -> list[Case]:
    """All of them."""
    return [*reductions(), *columns(), *boxes(), *stores(), *mistaken()]
