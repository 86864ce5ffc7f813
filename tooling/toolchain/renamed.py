"""Hints for compiler messages about names and syntax of older Mojo, and about limits of Mojo 1.2."""

from __future__ import annotations

import re

from msgspec import Struct


class Renamed(Struct, frozen=True):
    """One row: the hint applies if both patterns match."""

    message: str  # pattern for the compiler's message; empty: any
    source: str  # pattern for the source line; empty: any
    hint: str


_TABLE: tuple[Renamed, ...] = (
    Renamed("'fn' has been removed", "", "write `def` instead of `fn`"),
    Renamed("", r"^\s*alias\s+\w+", "write `comptime NAME = …` instead of `alias NAME = …`"),
    Renamed("", r"^\s*let\s+\w+", "write `var` instead of `let`"),
    Renamed("does not support decorators", "", "write `comptime if` / `comptime for` without `@parameter`"),
    Renamed(
        r"'@parameter' is deprecated", "", "give the closure a capture list, e.g. `def f(i: Int) {var}:`"
    ),
    Renamed("'read' was removed", "", "write `imm` instead of `read`, or leave it out"),
    Renamed(
        "",
        r"[(,]\s*(owned|inout|borrowed)\s+\w+",
        "argument conventions are now `var` (was owned), `mut` (was inout), nothing (was borrowed)",
    ),
    Renamed(
        "that may raise in a context that cannot raise|'raise' requires",
        "",
        "add `raises` to the signature: `def main() raises:`",
    ),
    Renamed(
        r"unable to locate module '(gpu|max\.gpu)",
        r"\b(gpu\.)?(warp|cluster|block)\b",
        "warp, block and cluster operations: `from max.gpu.primitives import warp, block, cluster`",
    ),
    Renamed(
        "unable to locate module 'gpu'", "", "GPU names come from `max.gpu`: `from max.gpu import thread_idx`"
    ),
    Renamed(
        r"unable to locate module '(sys|testing|math|memory|collections|utils|benchmark|os|time|random)'",
        "",
        "standard modules are named in full: `from std.sys import …`, `from std.testing import …`",
    ),
    Renamed(
        "unable to locate module 'algorithm",
        "",
        "`vectorize` and `tile` are in `std.algorithm`; `elementwise` and `parallelize` in `max.algorithm`",
    ),
    Renamed("unable to locate module '.*atomic", "", "`from std.atomic import Atomic, Ordering`"),
    Renamed(
        "unable to locate module '(compiler|tensor_internal)'",
        "",
        "`import extensibility` has the custom ops",
    ),
    Renamed(
        "unable to locate module 'layout.tensor_builder'",
        "",
        "`stack_allocation[dtype, address_space=AddressSpace.SHARED](row_major[N]())` from `layout`",
    ),
    Renamed(
        "unable to locate module 'builtin'|'lab'",
        "",
        "programs are built with `-I problems`; run them with `tooling run`",
    ),
    Renamed(
        "",
        r"\b(has_nvidia_gpu_accelerator|has_amd_gpu_accelerator)\b",
        "use `has_accelerator` from `std.sys`",
    ),
    Renamed(
        "",
        r"\b(sizeof|simdwidthof|bitwidthof|alignof)\b",
        "the names are now `size_of`, `simd_width_of`, `align_of`",
    ),
    Renamed("", r"\benv_get_(int|string)\b", "use `get_defined_int` / `get_defined_string` from `std.sys`"),
    Renamed("", r"\bUnsafePointer\b", "write `Pointer[Float32, MutAnyOrigin]` (`ImmutAnyOrigin` for inputs)"),
    Renamed("positional `__getitem__` is deprecated", "", "index a pointer with `p[unsafe_offset=i]`"),
    Renamed("'__add__' is deprecated", "", "move a pointer with `p.unsafe_offset(i)`"),
    Renamed("has no attribute 'offset'", "", "move a pointer with `p.unsafe_offset(i)`"),
    Renamed("", r"\bMutableAnyOrigin\b", "the name is now `MutAnyOrigin`"),
    Renamed("", r"\b(ImmutableAnyOrigin|ImmAnyOrigin)\b", "the name is now `ImmutAnyOrigin`"),
    Renamed("", r"\bMutExternalOrigin\b", "the name is now `MutUntrackedOrigin`"),
    Renamed(
        "no matching method in call to 'enqueue_function'|has no attribute 'enqueue_function_",
        "",
        "launch with `ctx.enqueue_function[kernel](arguments…, grid_dim=…, block_dim=…)`: the kernel is "
        "named once, does not raise, and no mutable buffer is passed twice",
    ),
    Renamed(
        "Int and UInt do not conform to DevicePassable",
        "",
        "pass a fixed-width number to the kernel: `Int32(n)`, and declare the parameter `n: Int32`",
    ),
    Renamed(
        "is not encodable as the declared function argument type",
        "",
        "convert the argument to exactly the declared type, e.g. `Float32(1.5)`",
    ),
    Renamed("", r"\b(memcpy|memset_zero)\b", "the names are now `unsafe_memcpy`, `unsafe_memset_zero`"),
    Renamed(
        "unknown declaration 'value'",
        "",
        "write `@fieldwise_init` and list the traits: `struct S(Copyable):`",
    ),
    Renamed("'@?register_passable|register_passable.*is removed", "", "conform to `TrivialRegisterPassable`"),
    Renamed("unknown declaration 'str'", "", "write `String(x)`"),
    Renamed("unknown declaration 'int'", "", "write `Int(x)`"),
    Renamed(
        "unknown declaration '(constrained|__type_of|InlineArray)'",
        "",
        "`comptime assert`, `type_of`, `Array`",
    ),
    Renamed("negative indexing is not supported", "", "write `x[len(x) - 1]`"),
    Renamed(
        "Could not infer capture convention",
        "",
        "list what the closure captures: `{imm}`, `{mut name}` or `{var}`",
    ),
    Renamed(
        "no matching function in call to 'vectorize'", "", "`vectorize[width](n, f)`: the function comes last"
    ),
    Renamed(
        "no matching function in call to 'elementwise'",
        "",
        '`elementwise[f, 1, target="gpu"](n, ctx)` with '
        "`def f[w: Int, alignment: Int = 1](idx: Coord) capturing`",
    ),
    Renamed(
        "does not implement the '__call__' method", r"\bIdx\(", "write `Idx[8]`: the value is a parameter"
    ),
    Renamed(
        "LayoutTensor' failed to infer parameter 'origin'",
        "",
        "name the origin: `LayoutTensor[dtype, layout, MutAnyOrigin]`",
    ),
    Renamed("global variables are not supported", "", "use `comptime NAME = …`, or move it into a function"),
    Renamed(
        "target 'unknown' is not supported by this build",
        "",
        "run it with `tooling run`, which names the GPU",
    ),
    Renamed(
        "failed to run the pass manager",
        "",
        "the compiler reported no line: remove statements until it builds. One that it cannot build is "
        "`enqueue_fill` of a buffer of `DType.bool`",
    ),
)


def hint_for(message: str, source_line: str) -> str | None:
    """What to write instead, if the message or its source line has a known old spelling."""
    for row in _TABLE:
        if row.message and not re.search(row.message, message):
            continue
        if row.source and not re.search(row.source, source_line):
            continue
        return row.hint
    return None
