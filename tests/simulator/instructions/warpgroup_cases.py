"""Instruction cases of four warps: wgmma in every layout of its matrices (blocks of 128 threads)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.simulator.instructions.cases import Form

_ROOM = 16384
"""Bytes of shared memory: A in the lower half, B in the upper one."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The layout of a matrix: swizzle mode, leading and stride offsets, and whether it is transposed."""

    mode: int
    leading: int
    stride: int
    turned: bool = False

    def descriptor(self, start: int) -> str:
        """The bits of a descriptor but for the address of the room, which %m holds."""
        bits = start >> 4 | (self.leading >> 4) << 16 | (self.stride >> 4) << 32 | self.mode << 62
        return f"{bits:#x}"


LAYOUTS = {
    "plain": Matrix(0, 128, 256),
    "plain far": Matrix(0, 4096, 512),
    "128 bytes": Matrix(1, 16, 1024),
    "64 bytes": Matrix(2, 16, 512),
    "32 bytes": Matrix(3, 16, 256),
    "turned plain": Matrix(0, 1024, 128, True),
    "turned 128 bytes": Matrix(1, 4096, 1024, True),
    "turned 64 bytes": Matrix(2, 2048, 512, True),
    "turned 32 bytes": Matrix(3, 1024, 256, True),
}

_FILL = {
    "bf16": "cvt.rn.bf16x2.f32 %w, %f, %g;",
    "f16": "cvt.rn.f16x2.f32 %w, %f, %g;",
    "tf32": "mov.b32 %w, %f;",
    "s8": "and.b32 %w, %h, 0x83838383;",
    "e4m3": "and.b32 %w, %h, 0x08080808; or.b32 %w, %w, 0x38383838;",
}
"""How a word of shared memory is made of two small numbers, %f and %g, or of %h that is any number."""


def _product(
    name: str,
    shape: str,
    left: Matrix,
    right: Matrix,
    *,
    registers: int,
    held: bool = False,
    signs: str = "1, 1",
) -> Iterator[Form]:
    result, kind = shape.split(".")[1:3]
    turns = ""
    if kind in ("bf16", "f16"):
        turns = f", {int(right.turned)}" if held else f", {int(left.turned)}, {int(right.turned)}"
    numbers = "" if result == "s32" else f", {signs}{turns}"
    bank = "b32" if result in ("s32", "f16") else "f32"
    body = (
        f".shared .align 1024 .b8 room[{_ROOM}]; mov.u32 %s, room; mov.u32 %i, %r3;"
        " FILL: mul.lo.u32 %h, %i, 0x9E3779B1; shr.u32 %t, %h, 28; and.b32 %t, %t, 7; cvt.rn.f32.u32 %f, %t;"
        " shr.u32 %t, %h, 24; and.b32 %t, %t, 7; cvt.rn.f32.u32 %g, %t;"
        f" {_FILL[kind]} mad.lo.u32 %t, %i, 4, %s; st.shared.b32 [%t], %w; add.u32 %i, %i, 128;"
        f" setp.lt.u32 %q, %i, {_ROOM // 4}; @%q bra FILL; fence.proxy.async.shared::cta; bar.sync 0;"
        " shr.u32 %t, %s, 4; cvt.u64.u32 %m, %t;"
        f" add.s64 %x, %m, {left.descriptor(0)}; add.s64 %y, %m, {right.descriptor(_ROOM // 2)};"
    )
    for j in range(registers):
        one = {
            "f32": f"cvt.rn.f32.u32 %d{j}, %t;",
            "s32": f"mov.b32 %d{j}, %t;",
            "f16": f"mov.b32 %d{j}, 0x40003C00;",
        }
        body += f" add.u32 %t, %r3, {j}; {one[result]}"
    first = "%x"
    if held:
        first = "{{%a0, %a1, %a2, %a3}}"
        body += "".join(f" mad.lo.u32 %t, %r3, 16, %s; ld.shared.b32 %a{j}, [%t+{4 * j}];" for j in range(4))
    group = "{{" + ", ".join(f"%d{j}" for j in range(registers)) + "}}"
    body += (
        " setp.ne.u32 %q, {a}, 0; bar.sync 0; wgmma.fence.sync.aligned;"
        f" wgmma.mma_async.sync.aligned.{shape} {group}, {first}, %y, %q{numbers};"
        " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
    )
    head = (
        ".reg .b32 %s, %i, %h, %t, %w, %a<4>; .reg .b64 %m, %x, %y; .reg .f32 %f, %g; .reg .pred %q;"
        f" .reg .{bank} %d<{registers}>;"
    )
    for j in range(registers):
        # All lanes of a warpgroup ask for the same sum: the operand is 1 everywhere but in the name.
        text = (
            "{{ " + head + " " + body.replace("{a}", "1" if j % 2 else "0") + f" mov.b32 {{d}}, %d{j}; }}}}"
        )
        yield Form(f"wgmma {name} {shape} d{j}", text, "b32", ("b32",), block=128)


def forms() -> list[Form]:
    """Every form of this table, in a fixed order; names are unique."""
    found: list[Form] = []
    plain = LAYOUTS["plain"]
    for name, layout in LAYOUTS.items():
        found += _product(name, "m64n16k16.f32.bf16.bf16", layout, layout, registers=8)
    mixed = LAYOUTS["turned 64 bytes"]
    found += _product(
        "mixed", "m64n24k16.f32.f16.f16", LAYOUTS["128 bytes"], mixed, registers=12, signs="-1, 1"
    )
    found += _product("held", "m64n8k16.f32.bf16.bf16", plain, LAYOUTS["32 bytes"], registers=4, held=True)
    found += _product("halves", "m64n16k16.f16.f16.f16", plain, plain, registers=4, signs="1, -1")
    found += _product("words", "m64n8k8.f32.tf32.tf32", LAYOUTS["128 bytes"], plain, registers=4)
    found += _product("octets", "m64n16k32.s32.s8.s8", LAYOUTS["32 bytes"], plain, registers=8)
    found += _product("narrow", "m64n8k32.f32.e4m3.e4m3", plain, LAYOUTS["64 bytes"], registers=4)
    return found
