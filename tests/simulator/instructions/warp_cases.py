"""Instruction cases that need other lanes or memory: shuffles, votes, matches, atomics, mma."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulator.instructions.cases import WIDTH, Form

_FULL = "0xffffffff"


def _scoped(declarations: str, body: str) -> str:
    """A block with its own registers, as a `str.format` template."""
    return "{{ " + declarations + " " + body + " }}"


def _shuffles() -> Iterator[Form]:
    # c holds the clamp value in bits 0-4 and the segment mask in bits 8-12 (PTX ISA, shfl.sync).
    for mode in ("up", "down", "bfly", "idx"):
        for bound in ("0", "0x1f", "0x1807", "0x181f", "0x1c03"):
            for distance in ("1", "3", "8", "31", "{b}"):
                name = f"shfl.sync.{mode}.b32 b={distance.strip('{}')} c={bound}"
                sources = ("b32", "u32") if distance == "{b}" else ("b32",)
                body = f"shfl.sync.{mode}.b32 %s|%q, {{a}}, {distance}, {bound}, {_FULL};"
                registers = ".reg .pred %q; .reg .b32 %s;"
                yield Form(name, _scoped(registers, body + " mov.b32 {d}, %s;"), "b32", sources)
                yield Form(f"{name} p", _scoped(registers, body + " selp.u32 {d}, 1, 0, %q;"), "u32", sources)


def _absent_lanes() -> Iterator[Form]:
    """Shuffles that read lanes which exited, or which take another branch; odd lanes store nothing or 77.

    The value of such a lane is undefined (PTX ISA, shfl.sync); the recording says what the hardware returns.
    """
    odd = "and.b32 %t, %r3, 1; setp.ne.u32 %odd, %t, 0; "
    registers = ".reg .pred %odd, %q; .reg .b32 %s, %t;"
    calls = (("bfly", "1", "0x1f"), ("up", "1", "0"), ("down", "3", "0x1f"), ("idx", "7", "0x1f"))
    for mode, amount, bound in calls:
        for mask in (_FULL, "0x55555555"):
            shuffle = f"shfl.sync.{mode}.b32 %s|%q, {{a}}, {amount}, {bound}, {mask};"
            exits = odd + "@%odd exit; " + shuffle
            away = odd + "mov.b32 {d}, 77; @%odd bra AWAY; " + shuffle
            name = f"shfl.sync.{mode}.b32 {mask}"
            yield Form(f"{name} exited", _scoped(registers, exits + " mov.b32 {d}, %s;"), "b32", ("b32",))
            yield Form(
                f"{name} exited p", _scoped(registers, exits + " selp.u32 {d}, 1, 0, %q;"), "b32", ("b32",)
            )
            if mask != _FULL:
                body = away + " mov.b32 {d}, %s; AWAY: bar.warp.sync 0xffffffff;"
                yield Form(f"{name} away", _scoped(registers, body), "b32", ("b32",))
    half = "setp.ge.u32 %odd, %r3, 48; @%odd exit; "
    for mode, amount, bound in calls:
        body = half + f"shfl.sync.{mode}.b32 {{d}}, {{a}}, {amount}, {bound}, {_FULL};"
        yield Form(f"shfl.sync.{mode}.b32 half exited", _scoped(registers, body), "b32", ("b32",))


def _votes() -> Iterator[Form]:
    for mode in ("all", "any", "uni"):
        text = _scoped(
            ".reg .pred %q;", f"vote.sync.{mode}.pred %q, {{a}}, {_FULL}; selp.u32 {{d}}, 1, 0, %q;"
        )
        yield Form(f"vote.sync.{mode}.pred", text, "u32", ("pred",))
    yield Form("vote.sync.ballot.b32", f"vote.sync.ballot.b32 {{d}}, {{a}}, {_FULL};", "b32", ("pred",))
    for t in ("b32", "b64"):
        few = "u8"  # few distinct values, so that lanes really match
        widen = f"cvt.u{t[1:]}.u16 %v, {{a}}; and.{t} %v, %v, 3;"
        registers = f".reg .{t} %v; .reg .pred %q;"
        yield Form(
            f"match.any.sync.{t}",
            _scoped(registers, widen + f" match.any.sync.{t} {{d}}, %v, {_FULL};"),
            "b32",
            (few,),
        )
        yield Form(
            f"match.all.sync.{t}",
            _scoped(registers, widen + f" match.all.sync.{t} {{d}}|%q, %v, {_FULL};"),
            "b32",
            (few,),
        )
    for op, kinds in (
        ("add", "u32 s32"),
        ("min", "u32 s32"),
        ("max", "u32 s32"),
        ("and", "b32"),
        ("or", "b32"),
        ("xor", "b32"),
    ):
        for t in kinds.split():
            yield Form(f"redux.sync.{op}.{t}", f"redux.sync.{op}.{t} {{d}}, {{a}}, {_FULL};", t, (t,))
    yield Form("activemask.b32", "activemask.b32 {d};", "b32", ("b32",))


def _atomics() -> Iterator[Form]:
    table = (
        ("add", "u32 s32 u64 f32 f64"),
        ("min", "u32 s32 u64 s64"),
        ("max", "u32 s32 u64 s64"),
        ("and", "b32 b64"),
        ("or", "b32 b64"),
        ("xor", "b32 b64"),
        ("exch", "b32 b64"),
        ("inc", "u32"),
        ("dec", "u32"),
        ("add.noftz", "f16 f16x2 bf16 bf16x2"),
    )
    slot = "ld.param.u64 %m, [p0]; add.s64 %m, %m, %rd1;"
    for op, kinds in table:
        for t in kinds.split():
            bits = f"b{WIDTH[t]}"
            begin = slot + f" st.global.{bits} [%m], {{a}};"
            atom = f" atom.global.{op}.{t} %o, [%m], {{b}};"
            registers = f".reg .b64 %m; .reg .{bits} %o;"
            yield Form(
                f"atom.global.{op}.{t}",
                _scoped(registers, begin + atom + f" mov.{bits} {{d}}, %o;"),
                t,
                (t, t),
            )
            after = f" ld.volatile.global.{bits} {{d}}, [%m];"
            yield Form(f"atom.global.{op}.{t} after", _scoped(registers, begin + atom + after), t, (t, t))
            if op != "exch":
                red = f" red.global.{op}.{t} [%m], {{b}};"
                yield Form(f"red.global.{op}.{t} after", _scoped(registers, begin + red + after), t, (t, t))
    for t in ("b32", "b64"):
        body = slot + f" st.global.{t} [%m], {{a}}; atom.global.cas.{t} %o, [%m], {{b}}, {{c}};"
        registers = f".reg .b64 %m; .reg .{t} %o;"
        yield Form(f"atom.global.cas.{t}", _scoped(registers, body + f" mov.{t} {{d}}, %o;"), t, (t, t, t))
        yield Form(
            f"atom.global.cas.{t} after",
            _scoped(registers, body + f" ld.volatile.global.{t} {{d}}, [%m];"),
            t,
            (t, t, t),
        )


def _matrices() -> Iterator[Form]:
    """mma.sync with every register of a lane filled from its operands; one form per result register."""
    shapes = (
        ("m16n8k4.row.col.f32.tf32.tf32.f32", "b32", 2, 1, 4, 4),
        ("m16n8k8.row.col.f32.tf32.tf32.f32", "b32", 4, 2, 4, 4),
        ("m16n8k8.row.col.f32.bf16.bf16.f32", "b32", 2, 1, 4, 4),
        ("m16n8k16.row.col.f32.bf16.bf16.f32", "b32", 4, 2, 4, 4),
        ("m16n8k8.row.col.f32.f16.f16.f32", "b32", 2, 1, 4, 4),
        ("m16n8k16.row.col.f32.f16.f16.f32", "b32", 4, 2, 4, 4),
        ("m16n8k16.row.col.f16.f16.f16.f16", "b32", 4, 2, 2, 2),
        ("m16n8k16.row.col.s32.s8.s8.s32", "b32", 2, 1, 4, 4),
        ("m16n8k32.row.col.s32.u8.s8.s32", "b32", 4, 2, 4, 4),
        ("m8n8k16.row.col.s32.s8.s8.s32", "b32", 1, 1, 2, 2),
        ("m8n8k16.row.col.satfinite.s32.u8.u8.s32", "b32", 1, 1, 2, 2),
        ("m16n8k32.row.col.f32.e4m3.e5m2.f32", "b32", 4, 2, 4, 4),
    )
    for shape, bits, a, b, c, d in shapes:
        operand = shape.split(".")[-3]
        accumulator = {"f32": "f32", "f16": "f16x2", "s32": "b32"}[shape.split(".")[-1]]
        source = {"tf32": "f32", "bf16": "bf16x2", "f16": "f16x2"}.get(operand, "b32")
        registers = "".join(
            f" .reg .{bits} %{n}<{k}>;" for n, k in (("ma", a), ("mb", b), ("mc", c), ("md", d))
        )
        fill = ""
        # Small integers in every register, selected by the low bits of the operands: the sums are exact in
        # any order, so only the layout of the fragments is tested.
        for letter, name, count, kind in (
            ("a", "ma", a, source),
            ("b", "mb", b, source),
            ("c", "mc", c, accumulator),
        ):
            for j in range(count):
                fill += f" shr.b32 %t, {{{letter}}}, {3 * j}; and.b32 %t, %t, 7;"
                if kind == "b32":
                    fill += f" mov.b32 %{name}{j}, %t;"
                elif kind == "f32":
                    fill += f" cvt.rn.f32.u32 %{name}{j}, %t;"
                else:
                    half = kind.removesuffix("x2")
                    fill += f" cvt.rn.f32.u32 %f, %t; cvt.rn.{half}x2.f32 %{name}{j}, %f, 0f3F800000;"
        groups = {
            n: "{{" + ", ".join(f"%{n}{j}" for j in range(k)) + "}}"
            for n, k in (("ma", a), ("mb", b), ("mc", c), ("md", d))
        }
        call = f" mma.sync.aligned.{shape} {groups['md']}, {groups['ma']}, {groups['mb']}, {groups['mc']};"
        for j in range(d):
            text = _scoped(
                f".reg .b32 %t; .reg .f32 %f;{registers}", fill + call + f" mov.b32 {{d}}, %md{j};"
            )
            yield Form(f"mma.sync.aligned.{shape} d{j}", text, "b32", ("b32", "b32", "b32"))


def _double_matrices() -> Iterator[Form]:
    """f64 products whose sums are rounded, so that the order of the additions matters."""
    for shape, a, b, c in (
        ("m8n8k4", 1, 1, 2),
        ("m16n8k4", 2, 1, 4),
        ("m16n8k8", 4, 2, 4),
        ("m16n8k16", 8, 4, 4),
    ):
        fill = " and.b64 %t, {a}, 0x3ff; cvt.rn.f64.u64 %f, %t; mul.f64 %f, %f, 0d3FF5555555555555;"
        for name, count, factor in (("ma", a, "0d3FF3333333333333"), ("mb", b, "0d3FB999999999999A")):
            for j in range(count):
                fill += f" mul.f64 %f, %f, {factor}; mov.f64 %{name}{j}, %f;"
        fill += " and.b64 %t, {b}, 0xffff; cvt.rn.f64.u64 %f, %t;"
        for j in range(c):
            fill += f" mul.f64 %f, %f, 0d3FE0000000000001; mov.f64 %mc{j}, %f;"
        groups = {
            n: "{{" + ", ".join(f"%{n}{j}" for j in range(k)) + "}}"
            for n, k in (("ma", a), ("mb", b), ("mc", c), ("md", c))
        }
        registers = f".reg .f64 %f, %ma<{a}>, %mb<{b}>, %mc<{c}>, %md<{c}>; .reg .b64 %t;"
        call = f" mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64 {groups['md']}, {groups['ma']},"
        call += f" {groups['mb']}, {groups['mc']};"
        for j in range(c):
            text = _scoped(registers, fill + call + f" mov.b64 {{d}}, %md{j};")
            yield Form(f"mma.sync.aligned.{shape}.f64 d{j}", text, "b64", ("b64", "b64"))


def _vector_atomics() -> Iterator[Form]:
    """atom and red on two or more elements: the 8 bytes of one case are the vector, or the half of one."""
    slot = "ld.param.u64 %m, [p0]; add.s64 %m, %m, %rd1; st.global.b64 [%m], {a};"
    after = " ld.volatile.global.b64 {d}, [%m];"
    f32 = _scoped(
        ".reg .b64 %m; .reg .f32 %x, %y, %u, %v;",
        slot + " mov.b64 {{%x, %y}}, {b}; atom.global.add.v2.f32 {{%u, %v}}, [%m], {{%x, %y}};",
    )
    yield Form("atom.global.add.v2.f32", f32[:-3] + " mov.b64 {d}, {{%u, %v}}; }}", "b64", ("b64", "b64"))
    yield Form("atom.global.add.v2.f32 after", f32[:-3] + after + " }}", "b64", ("b64", "b64"))
    for op, t in (("add", "f16x2"), ("min", "bf16x2"), ("max", "f16x2"), ("add", "bf16x2")):
        text = f" mov.b64 {{{{%x, %y}}}}, {{b}}; red.global.{op}.noftz.v2.{t} [%m], {{{{%x, %y}}}};"
        yield Form(
            f"red.global.{op}.noftz.v2.{t}",
            _scoped(".reg .b64 %m; .reg .b32 %x, %y;", slot + text + after),
            "b64",
            ("b64", "b64"),
        )
    for op, t in (("add", "f16"), ("max", "f16"), ("min", "f16"), ("add", "bf16"), ("min", "bf16")):
        names = "{{%w, %x, %y, %z}}"
        text = f" mov.b64 {names}, {{b}}; red.global.{op}.noftz.v4.{t} [%m], {names};"
        yield Form(
            f"red.global.{op}.noftz.v4.{t}",
            _scoped(".reg .b64 %m; .reg .b16 %w, %x, %y, %z;", slot + text + after),
            "b64",
            ("b64", "b64"),
        )


def forms() -> list[Form]:
    """Every form of this table, in a fixed order; names are unique."""
    products = [*_matrices(), *_double_matrices()]
    return [*_shuffles(), *_absent_lanes(), *_votes(), *_atomics(), *_vector_atomics(), *products]
