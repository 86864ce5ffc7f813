"""Instruction cases with state: carry flags, shared memory, mbarriers, bulk copies, jump tables."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulator.instructions.cases import Form

_LANE = "and.b32 %lane, %r3, 31; shr.u32 %warp, %r3, 5; setp.eq.u32 %first, %lane, 0;"
_NUMBERS = ".reg .b32 %lane, %warp, %s, %t, %u; .reg .b64 %m, %n, %state; .reg .pred %first, %q;"


def _scoped(declarations: str, body: str) -> str:
    """A block with its own registers, as a `str.format` template."""
    return "{{ " + declarations + " " + body + " }}"


def _carry_flag() -> Iterator[Form]:
    for t in ("u32", "s32", "u64", "s64"):
        chains = {
            "add.cc addc": f"add.cc.{t} %s, {{a}}, {{b}}; addc.{t} {{d}}, 0, 0;",
            "add.cc addc.cc addc": f"add.cc.{t} %s, {{a}}, {{b}}; addc.cc.{t} %s, {{b}}, {{c}};"
            f" addc.{t} {{d}}, %s, 0;",
            "sub.cc subc": f"sub.cc.{t} %s, {{a}}, {{b}}; subc.{t} {{d}}, 0, 0;",
            "sub.cc subc.cc subc": f"sub.cc.{t} %s, {{a}}, {{b}}; subc.cc.{t} %s, {{b}}, {{c}};"
            f" subc.{t} {{d}}, %s, 0;",
            "sub.cc addc": f"sub.cc.{t} %s, {{a}}, {{b}}; addc.{t} {{d}}, 0, 0;",
            "add.cc subc": f"add.cc.{t} %s, {{a}}, {{b}}; subc.{t} {{d}}, 0, 0;",
            "mad.lo.cc madc.hi": f"mad.lo.cc.{t} %s, {{a}}, {{b}}, {{c}};"
            f" madc.hi.{t} {{d}}, {{a}}, {{b}}, 0;",
            "mad.hi.cc addc": f"mad.hi.cc.{t} %s, {{a}}, {{b}}, {{c}}; addc.{t} {{d}}, 0, 0;",
            "add.cc madc.lo.cc addc": f"add.cc.{t} %s, {{a}}, {{b}};"
            f" madc.lo.cc.{t} %s, {{a}}, {{b}}, {{c}}; addc.{t} {{d}}, %s, 0;",
        }
        for name, body in chains.items():
            yield Form(f"{name} {t}", _scoped(f".reg .{t} %s;", body), t, (t, t, t))


def _matrix_memory() -> Iterator[Form]:
    start = (
        ".shared .align 16 .b8 rows[2048]; " + _LANE + " mov.u32 %s, rows; mad.lo.u32 %s, %r3, 16, %s;"
    )  # every lane has a row of 16 bytes
    words = ("%a", "%b", "%x", "%y")
    values = " xor.b32 %x, %a, 0x01234567; xor.b32 %y, %b, 0x76543210;"
    registers = _NUMBERS + " .reg .b32 %x, %y, %o<4>;"
    for count in (1, 2, 4):
        for turn in ("", ".trans"):
            form = f"sync.aligned.m8n8.x{count}{turn}.shared.b16"
            held = "{{" + ", ".join(f"%o{j}" for j in range(count)) + "}}"
            for j in range(count):
                body = (
                    start
                    + values
                    + " st.shared.v4.b32 [%s], {{%a, %b, %x, %y}}; bar.warp.sync 0xffffffff;"
                    + f" ldmatrix.{form} {held}, [%s]; mov.b32 {{d}}, %o{j};"
                )
                yield Form(f"ldmatrix.{form} {j}", _scoped(registers, body), "b32", ("b32", "b32"))
                given = "{{" + ", ".join(words[:count]) + "}}"
                body = (
                    start
                    + values
                    + " st.shared.v4.b32 [%s], {{%r3, %r3, %r3, %r3}}; bar.warp.sync 0xffffffff;"
                    + f" stmatrix.{form} [%s], {given}; bar.warp.sync 0xffffffff;"
                    + f" ld.shared.b32 {{d}}, [%s+{4 * j}];"
                )
                yield Form(f"stmatrix.{form} {j}", _scoped(registers, body), "b32", ("b32", "b32"))


def _barriers() -> Iterator[Form]:
    for name, text in (
        ("popc.u32", "bar.red.popc.u32 {d}, 0, {a};"),
        ("popc.u32 not", "barrier.red.popc.aligned.u32 {d}, 0, !{a};"),
        ("and.pred", "bar.red.and.pred %q, 0, {a}; selp.u32 {d}, 1, 0, %q;"),
        ("or.pred", "bar.red.or.pred %q, 0, {a}; selp.u32 {d}, 1, 0, %q;"),
    ):
        yield Form(f"bar.red.{name}", _scoped(".reg .pred %q;", text), "u32", ("pred",))
    start = (
        ".shared .align 8 .b64 bars[2]; " + _LANE + " mov.u32 %s, bars; mad.lo.u32 %s, %warp, 8, %s;"
        " mov.b32 {d}, 77; and.b32 %t, {a}, 3; add.u32 %t, %t, 1; @!%first bra END;"
        " mbarrier.init.shared::cta.b64 [%s], %t;"
    )
    arrive = " mbarrier.arrive.shared::cta.b64 %state, [%s];"
    test = " mbarrier.test_wait.shared::cta.b64 %q, [%s], %state; selp.u32 {d}, 1, 0, %q;"
    parity = " mbarrier.test_wait.parity.shared::cta.b64 %q, [%s], {0}; selp.u32 {{d}}, 1, 0, %q;"
    cases = {
        "pending_count": arrive + " mbarrier.pending_count.b64 {d}, %state;",
        "pending_count later": " @!%first bra END; setp.gt.u32 %q, %t, 1; @!%q bra END;"
        + arrive
        + arrive
        + " mbarrier.pending_count.b64 {d}, %state;",
        "test_wait": arrive + test,
        "test_wait.parity 0": arrive + parity.format(0),
        "test_wait.parity 1": arrive + parity.format(1),
        "arrive count": " mbarrier.arrive.shared::cta.b64 %state, [%s], %t;" + test,
        "arrive.noComplete": " setp.gt.u32 %q, %t, 1; @!%q bra END;"
        " mbarrier.arrive.noComplete.shared::cta.b64 %state, [%s], 1;"
        " mbarrier.pending_count.b64 {d}, %state;",
        "arrive_drop": " mbarrier.arrive_drop.shared::cta.b64 %state, [%s];" + test,
        "arrive_drop next": " setp.gt.u32 %q, %t, 1; @!%q bra END; sub.u32 %t, %t, 1;"
        " mbarrier.arrive_drop.shared::cta.b64 %state, [%s];"
        " mbarrier.arrive.shared::cta.b64 %state, [%s], %t;"
        " mbarrier.arrive.shared::cta.b64 %state, [%s]; mbarrier.pending_count.b64 {d}, %state;",
        "expect_tx": " mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%s], 32; sub.u32 %t, %t, 1;"
        " setp.gt.u32 %q, %t, 0; @%q mbarrier.arrive.shared::cta.b64 _, [%s], %t;" + parity.format(0),
        "complete_tx": " mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%s], 32;"
        " mbarrier.arrive.shared::cta.b64 %state, [%s], %t;"
        " mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%s], 32;" + parity.format(0),
        "cp.async.mbarrier.arrive": " cp.async.mbarrier.arrive.shared::cta.b64 [%s];"
        " cp.async.wait_all;" + arrive + " mbarrier.pending_count.b64 {d}, %state;",
        "try_wait": " mbarrier.arrive.shared::cta.b64 %state, [%s], %t;"
        " mbarrier.try_wait.shared::cta.b64 %q, [%s], %state; selp.u32 {d}, 1, 0, %q;",
        "try_wait.parity": " mbarrier.arrive.shared::cta.b64 %state, [%s], %t;"
        " mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q, [%s], 0, 100; selp.u32 {d}, 1, 0, %q;",
    }
    for name, body in cases.items():
        yield Form(f"mbarrier.{name}", _scoped(_NUMBERS, start + body + " END:"), "u32", ("u32",))
    noinc = (
        ".shared .align 8 .b64 bars[2]; .shared .align 16 .b8 to[1024]; " + _LANE + " mov.u32 %s, bars;"
        " mad.lo.u32 %s, %warp, 8, %s; @%first mbarrier.init.shared::cta.b64 [%s], 32;"
        " bar.warp.sync 0xffffffff; mov.u32 %t, to; mad.lo.u32 %t, %r3, 8, %t; ld.param.u64 %m, [p1];"
        " add.s64 %m, %m, %rd1; cp.async.ca.shared.global [%t], [%m], 8;"
        " cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%s];"
        " AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %q, [%s], 0; @!%q bra AGAIN;"
        " xor.b32 %u, %lane, 5; sub.u32 %u, %u, %lane; mad.lo.u32 %t, %u, 8, %t; ld.shared.b64 {d}, [%t];"
    )
    yield Form("cp.async.mbarrier.arrive.noinc", _scoped(_NUMBERS, noinc), "u64", ("u64",))


def _bulk_copies() -> Iterator[Form]:
    """A warp's 256 bytes of operands to shared memory or back, by its first lane."""
    start = (
        ".shared .align 8 .b64 bars[2]; .shared .align 16 .b8 room[512]; " + _LANE + " mov.u32 %s, bars;"
        " mad.lo.u32 %s, %warp, 8, %s; mov.u32 %t, room; mad.lo.u32 %t, %warp, 256, %t;"
        " mul.wide.u32 %n, %lane, 8; sub.s64 %n, %rd1, %n;"
    )
    body = (
        " ld.param.u64 %m, [p1]; add.s64 %m, %m, %n; @!%first bra WAIT;"
        " mbarrier.init.shared::cta.b64 [%s], 1; fence.mbarrier_init.release.cluster;"
        " mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], 256;"
        " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%t], [%m], 256, [%s];"
        " WAIT: bar.warp.sync 0xffffffff;"
        " AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %q, [%s], 0; @!%q bra AGAIN;"
        " mad.lo.u32 %t, %lane, 8, %t; ld.shared.b64 {d}, [%t];"
    )
    yield Form("cp.async.bulk.shared::cluster.global", _scoped(_NUMBERS, start + body), "u64", ("u64",))
    body = (
        " ld.param.u64 %m, [p0]; add.s64 %m, %m, %n; mad.lo.u32 %u, %lane, 8, %t; st.shared.b64 [%u], {a};"
        " fence.proxy.async.shared::cta; bar.warp.sync 0xffffffff; @!%first bra DONE2;"
        " cp.async.bulk.global.shared::cta.bulk_group [%m], [%t], 256;"
        " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
        " DONE2: bar.warp.sync 0xffffffff; ld.param.u64 %m, [p0]; add.s64 %m, %m, %rd1;"
        " ld.volatile.global.b64 {d}, [%m]; not.b64 {d}, {d};"
    )
    yield Form("cp.async.bulk.global.shared::cta", _scoped(_NUMBERS, start + body), "u64", ("u64",))


def _multicast_copies() -> Iterator[Form]:
    """One block of a cluster of four copies 512 bytes to the blocks of a mask; every block reads its own."""
    for sender, mask, hint in ((1, 0b1101, ""), (2, 0b0110, ""), (0, 0b1111, ".L2::cache_hint")):
        body = (
            ".shared .align 8 .b64 bars[1]; .shared .align 128 .b8 room[512]; mov.u32 %s, bars;"
            " mov.u32 %t, room; mov.u32 %u, %cluster_ctarank;"
            " mad.lo.u32 %lane, %r3, 8, %t; st.shared.b64 [%lane], {b};"
            " setp.eq.u32 %first, %r3, 0; @%first mbarrier.init.shared::cta.b64 [%s], 1;"
            " @%first fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;"
            " @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], 512;"
            " barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
            f" setp.eq.and.u32 %q, %u, {sender}, %first; @!%q bra WAIT; mov.b16 %few, {mask};"
            " ld.param.u64 %m, [p1]; add.s64 %m, %m, %rd1;"
            " createpolicy.fractional.L2::evict_first.b64 %n;"
            " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
            f"{hint} [%t], [%m], 512, [%s], %few{', %n' if hint else ''};"
            f" WAIT: shr.u32 %warp, {mask}, %u; and.b32 %warp, %warp, 1; setp.eq.u32 %q, %warp, 0;"
            " @%q bra OVER;"
            " AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %q, [%s], 0; @!%q bra AGAIN;"
            " OVER: ld.shared.b64 {d}, [%lane]; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
        )
        yield Form(
            f"cp.async.bulk.multicast::cluster{hint} {sender} {mask:#x}",
            _scoped(_NUMBERS + " .reg .b16 %few;", body),
            "u64",
            ("u64", "u64"),
            directives=".explicitcluster .reqnctapercluster 4, 1, 1",
        )


def _bulk_reductions() -> Iterator[Form]:
    """cp.reduce.async.bulk of a warp's 256 bytes, to global memory and to the shared memory of a cluster."""
    table = {
        "global": {
            "add": "u32 s32 u64 f16 bf16 f32 f64",
            "min": "u32 s32 u64 s64 f16 bf16",
            "max": "u32 s32 u64 s64 f16 bf16",
            "inc": "u32",
            "dec": "u32",
            "and": "b32 b64",
            "or": "b32 b64",
            "xor": "b32 b64",
        },
        "shared": {
            "add": "u32 s32 u64",
            "min": "u32 s32",
            "max": "u32 s32",
            "inc": "u32",
            "dec": "u32",
            "and": "b32",
            "or": "b32",
            "xor": "b32",
        },
    }
    start = (
        ".shared .align 8 .b64 bars[2]; .shared .align 16 .b8 room[512], to[512]; "
        + _LANE
        + " mov.u32 %s, bars;"
        " mad.lo.u32 %s, %warp, 8, %s; mov.u32 %t, room; mad.lo.u32 %t, %warp, 256, %t; mov.u32 %v, to;"
        " mad.lo.u32 %v, %warp, 256, %v; mul.wide.u32 %n, %lane, 8; sub.s64 %n, %rd1, %n;"
        " mad.lo.u32 %u, %lane, 8, %t; st.shared.b64 [%u], {a}; mad.lo.u32 %u, %lane, 8, %v;"
    )
    to_global = (
        " ld.param.u64 %m, [p0]; add.s64 %m, %m, %rd1; st.global.b64 [%m], {{b}}; ld.param.u64 %m, [p0];"
        " add.s64 %m, %m, %n; fence.proxy.async; bar.warp.sync 0xffffffff; @!%first bra DONE2;"
        " cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [%m], [%t], 256;"
        " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
        " DONE2: bar.warp.sync 0xffffffff; ld.param.u64 %m, [p0]; add.s64 %m, %m, %rd1;"
        " ld.volatile.global.b64 {{d}}, [%m];"
    )
    to_shared = (
        " st.shared.b64 [%u], {{b}}; @%first mbarrier.init.shared::cta.b64 [%s], 1;"
        " @%first fence.mbarrier_init.release.cluster; fence.proxy.async; bar.warp.sync 0xffffffff;"
        " @!%first bra WAIT; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], 256;"
        " cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{operation}"
        " [%v], [%t], 256, [%s];"
        " WAIT: mbarrier.try_wait.parity.shared::cta.b64 %q, [%s], 0; @!%q bra WAIT;"
        " ld.shared.b64 {{d}}, [%u];"
    )
    for space, body in (("global", to_global), ("shared", to_shared)):
        for operation, kinds in table[space].items():
            for kind in kinds.split():
                noftz = ".noftz" if operation == "add" and kind in ("f16", "bf16") else ""
                form = f"{operation}{noftz}.{kind}"
                yield Form(
                    f"cp.reduce.async.bulk.{space}.{form}",
                    _scoped(_NUMBERS + " .reg .b32 %v;", start + body.format(operation=form)),
                    "b64",
                    ("b64", "b64"),
                    directives=".explicitcluster .reqnctapercluster 1, 1, 1",
                )


def _wide_atomics() -> Iterator[Form]:
    """atom and red on 16 bytes: those of two cases, by the lane of the first one."""
    start = (
        " shr.b64 %m, %rd1, 4; shl.b64 %m, %m, 4; ld.param.u64 %n, [p{0}]; add.s64 %n, %n, %m;"
        " ld.global.v2.b64 {{{{%x, %y}}}}, [%n]; ld.param.u64 %n, [p0]; add.s64 %n, %n, %rd1;"
        " st.global.b64 [%n], {{a}}; bar.warp.sync 0xffffffff; and.b32 %t, %r3, 1;"
        " setp.ne.u32 %q, %t, 0; @%q bra JOIN;"
    )
    loaded = start.format(2)
    end = " JOIN: bar.warp.sync 0xffffffff; "
    registers = ".reg .b32 %t; .reg .pred %q; .reg .b64 %m, %n, %x, %y, %u, %v; .reg .b128 %new, %old, %is;"
    pair = " mov.b128 %new, {{%x, %y}};"
    for space in ("global", "generic"):
        dot = ".global" if space == "global" else ""
        exchange = f" atom{dot}.exch.b128 %old, [%n], %new; mov.b128 {{{{%u, %v}}}}, %old;"
        for part in "uv":
            # The first lane of a pair returns half of the old value, the second one half of the new value.
            body = loaded + pair + exchange + f" mov.b64 {{d}}, %{part}; bra OVER;"
            body += end + " ld.volatile.global.b64 {d}, [%n]; bra LAST; OVER: bar.warp.sync 0xffffffff; LAST:"
            yield Form(f"atom.{space}.exch.b128 {part}", _scoped(registers, body), "b64", ("b64", "b64"))
            body = (
                loaded
                + pair
                + " ld.param.u64 %m, [p1]; shr.b64 %u, %rd1, 4; shl.b64 %u, %u, 4; add.s64 %m, %m, %u;"
                " ld.global.v2.b64 {{%u, %v}}, [%m]; and.b64 %m, {b}, 1; xor.b64 %v, %v, %m;"
                " mov.b128 %is, {{%u, %v}};"
                f" atom{dot}.cas.b128 %old, [%n], %is, %new; mov.b128 {{{{%u, %v}}}}, %old;"
                f" mov.b64 {{d}}, %{part}; bra OVER;"
            )
            body += end + " ld.volatile.global.b64 {d}, [%n]; bra LAST; OVER: bar.warp.sync 0xffffffff; LAST:"
            yield Form(f"atom.{space}.cas.b128 {part}", _scoped(registers, body), "b64", ("b64", "b64"))
    for text, words in (
        ("red.global.add.v4.f32", "b32"),
        ("red.global.v4.f32.add", "b32"),
        ("red.global.add.noftz.v8.f16", "b16"),
        ("red.global.min.noftz.v8.bf16", "b16"),
        ("red.global.max.noftz.v8.f16", "b16"),
        ("red.global.add.noftz.v4.bf16x2", "b32"),
        ("red.global.min.noftz.v4.f16x2", "b32"),
        ("atom.global.v4.f32.add", "b32"),
        ("atom.global.max.noftz.v4.f16x2", "b32"),
    ):
        count = {"b32": 4, "b16": 8}[words]
        half = count // 2
        names = [f"%e{n}" for n in range(count)]
        given = "{{" + ", ".join(names) + "}}"
        result = "{{" + ", ".join(f"%f{n}" for n in range(count)) + "}}, " if text[0] == "a" else ""
        body = loaded
        for name, group in (("%x", names[:half]), ("%y", names[half:])):
            body += f" mov.b64 {{{{{', '.join(group)}}}}}, {name};"
        body += f" {text} {result}[%n], {given};"
        first = "{{" + ", ".join(f"%f{n}" for n in range(half)) + "}}"
        final = (
            " bra OVER;"
            + end
            + " ld.volatile.global.b64 {d}, [%n]; bra LAST; OVER: bar.warp.sync 0xffffffff;"
        )
        own = f" mov.b64 {{d}}, {first}; LAST:" if result else " ld.volatile.global.b64 {d}, [%n]; LAST:"
        yield Form(
            text,
            _scoped(registers + f" .reg .{words} %e<{count}>, %f<{count}>;", body + final + own),
            "b64",
            ("b64", "b64"),
        )


def _addresses() -> Iterator[Form]:
    body = (
        ".local .align 8 .b8 own[16]; mov.u64 %m, own; cvta.local.u64 %m, %m; st.b32 [%m+4], {a};"
        " mov.u64 %n, own; ld.local.b32 %s, [%n+4]; st.local.b32 [%n+8], {b}; ld.b32 %t, [%m+8];"
        " sub.u32 {d}, %s, %t;"
    )
    yield Form("local by generic address", _scoped(_NUMBERS, body), "u32", ("u32", "u32"))
    body = (
        "and.b32 %s, {a}, 3; TABLE: .branchtargets L0, L1, L2, L3; brx.idx %s, TABLE;"
        " L0: mov.b32 {d}, 10; bra END; L1: mov.b32 {d}, 11; bra END; L2: mov.b32 {d}, 12; bra END;"
        " L3: mov.b32 {d}, 13; END:"
    )
    yield Form("brx.idx", _scoped(_NUMBERS, body), "u32", ("u32",))


def _counted_stores() -> Iterator[Form]:
    """st.async and red.async to the executing block's memory, with one mbarrier per warp."""
    start = (
        ".shared .align 8 .b64 bars[2]; .shared .align 16 .b8 room[1024]; " + _LANE + " mov.u32 %s, bars;"
        " mad.lo.u32 %s, %warp, 8, %s; mov.u32 %t, room; mad.lo.u32 %t, %r3, 16, %t; st.shared.b64 [%t], {b};"
        " @%first mbarrier.init.shared::cta.b64 [%s], 1;"
        " @%first fence.mbarrier_init.release.cluster;"
        " @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], {{bytes}};"
        " bar.warp.sync 0xffffffff;"
    )
    end = (
        " AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %q, [%s], 0; @!%q bra AGAIN;"
        " bar.warp.sync 0xffffffff; ld.shared.b64 {d}, [%t];"
    )
    way = "shared::cluster.mbarrier::complete_tx::bytes"
    for form, size, value in (
        (f"st.async.weak.{way}.b64", 8, "{a}"),
        (f"st.async.weak.{way}.b32", 4, "%u"),
        (f"st.async.weak.{way}.v2.b32", 8, "{{%u, %lane}}"),
        (f"st.async.weak.{way}.v4.b32", 16, "{{%lane, %u, %u, %lane}}"),
        *(
            (f"red.async.relaxed.cluster.{way}.{op}.u32", 4, "%u")
            for op in ("add", "min", "max", "inc", "dec")
        ),
        *((f"red.async.relaxed.cluster.{way}.{op}.s32", 4, "%u") for op in ("add", "min", "max")),
        *((f"red.async.relaxed.cluster.{way}.{op}.b32", 4, "%u") for op in ("and", "or", "xor")),
        (f"red.async.relaxed.cluster.{way}.add.u64", 8, "{a}"),
    ):
        body = (
            start.replace("{{bytes}}", str(32 * size))
            + f" cvt.u32.u64 %u, {{a}}; {form} [%t], {value}, [%s];"
        )
        yield Form(
            form,
            _scoped(_NUMBERS, body + end),
            "b64",
            ("b64", "b64"),
            directives=".explicitcluster .reqnctapercluster 1, 1, 1",
        )


def _calls() -> Iterator[Form]:
    """A parameter's address, as a number and as a generic one."""
    body = (
        "mov.b64 %m, p1; cvta.param.u64 %n, %m; ld.b64 %n, [%n]; ld.param.u64 %m, [p1]; sub.s64 {d}, %m, %n;"
    )
    yield Form("cvta.param.u64", _scoped(_NUMBERS, body), "u64", ("u64",))


def forms() -> list[Form]:
    """Every form of this table, in a fixed order; names are unique."""
    every = [*_carry_flag(), *_matrix_memory(), *_barriers(), *_bulk_copies(), *_addresses()]
    every += [*_counted_stores(), *_calls()]
    return [*every, *_multicast_copies(), *_bulk_reductions(), *_wide_atomics()]
