"""The kernels of the access cases, as PTX: one for each form, with one memory instruction of interest.

A kernel loads each thread's offset from a table and performs the operation there; `ABSENT` leaves a thread
out. The simulator and `record.py` run the same text.
"""

from __future__ import annotations

from dataclasses import dataclass

ABSENT = 0xFFFFFFFF
"""Table entry of a thread that takes no part."""

WINDOW = 32768
"""Bytes of the memory that global and shared offsets are in; local memory has `LOCAL_WINDOW` per thread."""
LOCAL_WINDOW = 256

_MAGIC = 0x5EED1E55  # no loaded word has this value, so nothing is stored; ptxas cannot know


@dataclass(frozen=True, slots=True)
class Form:
    """What a kernel does, in a state space, with `width` bytes per thread.

    Attributes:
        operation: `ld`, `st`, `red`, `red_one` (adds the constant 1), `atom`, `cas`, `exch`, `max`, or
            `async_ca` and `async_cg` (cp.async to the same offset in shared memory).
        generic: through a generic address.
        kind: type that atomics add in.
    """

    space: str
    operation: str
    width: int = 4
    generic: bool = False
    kind: str = "u32"

    @property
    def name(self) -> str:
        """Its kernel's name."""
        kind = f"b{8 * self.width}" if self.kind == "u32" else self.kind
        return f"{'generic_' if self.generic else ''}{self.space}_{self.operation}_{kind}"


def kernel(form: Form) -> str:
    """The PTX module of a form; parameters: data, table of offsets, a buffer that is never written."""
    return f"""\
.version 8.5
.target sm_90a
.address_size 64
.visible .entry {form.name}(.param .u64 data, .param .u64 table, .param .u64 never)
{{
    .reg .pred %p<4>;
    .reg .b16 %h<2>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    {_DECLARATIONS["shared" if "async" in form.operation else form.space]}
    ld.param.b64 %rd1, [data];
    ld.param.b64 %rd2, [table];
    ld.param.b64 %rd3, [never];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    cvta.to.global.u64 %rd3, %rd3;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r2, %r1, %r2, %r0;
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd2, %rd2, %rd4;
    add.u64 %rd3, %rd3, %rd4;
    ld.global.b32 %r3, [%rd2];
    setp.ne.u32 %p1, %r3, {ABSENT};
    cvt.u64.u32 %rd5, %r3;
    {_base(form)}
    mov.b32 %r8, 0;
    mov.b32 %r9, 0;
    mov.b32 %r10, 0;
    mov.b32 %r11, 0;
    mov.b16 %h1, 0;
    {_operation(form)}
    {_consumption(form)}
    setp.eq.u32 %p2, %r8, {_MAGIC};
    @%p2 st.global.b32 [%rd3], %r8;
    ret;
}}
"""


_DECLARATIONS = {
    "global": "",
    "shared": f".shared .align 16 .b8 window[{WINDOW}];",
    "local": f".local .align 16 .b8 depot[{LOCAL_WINDOW}];",
}

# %rd7: a place in local memory that ptxas cannot know, so that the array stays in memory.
_OWN_CELL = (
    f"xor.b32 %r12, %r0, 31;\n    and.b32 %r12, %r12, {LOCAL_WINDOW // 4 - 1};\n"
    "    mul.wide.u32 %rd4, %r12, 4;\n    mov.u64 %rd7, depot;\n    add.u64 %rd7, %rd7, %rd4;\n"
)


def _base(form: Form) -> str:
    """%rd6: the address that the operation uses."""
    if form.space == "global":
        generic = "cvta.global.u64 %rd6, %rd6;" if form.generic else ""
        return f"add.u64 %rd6, %rd1, %rd5;\n    {generic}"
    if form.space == "local":
        filled = f"{_OWN_CELL}    st.local.b32 [%rd7], %r2;\n    " if form.operation == "ld" else ""
        return f"{filled}mov.u64 %rd6, depot;\n    add.u64 %rd6, %rd6, %rd5;"
    generic = "cvta.shared.u64 %rd6, %rd6;" if form.generic else ""
    return f"mov.u64 %rd6, window;\n    add.u64 %rd6, %rd6, %rd5;\n    {generic}"


def _operation(form: Form) -> str:
    space = "" if form.generic else f".{form.space}"
    value = {"u32": "%r2", "f32": "%r2", "u64": "%rd2"}[form.kind]
    match form.operation:
        case "red_one":
            return f"@%p1 red{space}.add.u32 [%rd6], 1;"
        case "red":
            return f"@%p1 red{space}.add.{form.kind} [%rd6], {value};"
        case "atom" if form.kind == "u64":
            return f"@%p1 atom{space}.add.u64 %rd7, [%rd6], {value};\n    cvt.u32.u64 %r8, %rd7;"
        case "atom":
            return f"@%p1 atom{space}.add.{form.kind} %r8, [%rd6], {value};"
        case "cas":
            return f"@%p1 atom{space}.cas.b32 %r8, [%rd6], 0, %r2;"
        case "exch":
            return f"@%p1 atom{space}.exch.b32 %r8, [%rd6], %r2;"
        case "max":
            return f"@%p1 atom{space}.max.u32 %r8, [%rd6], %r2;"
        case "async_ca" | "async_cg":
            copy = f"cp.async.{form.operation[-2:]}.shared.global [%rd7], [%rd6], {form.width};"
            return f"mov.u64 %rd7, window;\n    add.u64 %rd7, %rd7, %rd5;\n    @%p1 {copy}"
    if form.operation == "ld":
        text = {
            1: "ld{}.u8 %h1, [%rd6];",
            2: "ld{}.u16 %h1, [%rd6];",
            4: "ld{}.b32 %r8, [%rd6];",
            8: "ld{}.v2.b32 {{%r8, %r9}}, [%rd6];",
            16: "ld{}.v4.b32 {{%r8, %r9, %r10, %r11}}, [%rd6];",
        }[form.width]
    else:
        text = {
            1: "st{}.u8 [%rd6], %h1;",
            2: "st{}.u16 [%rd6], %h1;",
            4: "st{}.b32 [%rd6], %r2;",
            8: "st{}.v2.b32 [%rd6], {{%r2, %r0}};",
            16: "st{}.v4.b32 [%rd6], {{%r2, %r0, %r1, %r3}};",
        }[form.width]
    return "@%p1 " + text.format(space)


def _consumption(form: Form) -> str:
    """Make the result matter: into %r8. What was stored in shared or local memory is read back."""
    own_word = (
        "mov.u32 %r12, window;\n    shl.b32 %r13, %r0, 2;\n    add.u32 %r12, %r12, %r13;\n"
        "    ld.shared.b32 %r8, [%r12];"
    )
    if "async" in form.operation:
        return f"cp.async.wait_all;\n    bar.sync 0;\n    {own_word}"
    if form.operation == "ld" and form.width < 4:
        return "cvt.u32.u16 %r8, %h1;"
    if form.operation == "ld":
        return "xor.b32 %r8, %r8, %r9;\n    xor.b32 %r10, %r10, %r11;\n    xor.b32 %r8, %r8, %r10;"
    if form.space == "shared" and form.operation in ("st", "red", "red_one"):
        return f"bar.sync 0;\n    {own_word}"
    if form.space == "local":
        return f"{_OWN_CELL}    ld.local.b32 %r8, [%rd7];"
    return ""
