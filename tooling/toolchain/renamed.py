"""Hints for compiler messages about names and syntax of older Mojo, and about limits of Mojo 1.2."""

from __future__ import annotations

import re

from msgspec import Struct

from tooling.text import Text
from tooling.toolchain.characters import replacement_hint


class Renamed(Struct, frozen=True):
    """One row: the hint applies if both patterns match."""

    message: str  # pattern for the compiler's message; empty: any
    source: str  # pattern for the source line; empty: any
    hint: Text


_TABLE: tuple[Renamed, ...] = (
    Renamed(
        r"cannot be converted from 'U?Int(8|16|32|64)' to 'Int'",
        "",
        Text("convert a fixed-width number to `Int` where it is compared with an index: `Int(size)`"),
    ),
    Renamed(
        r"cannot (implicitly convert|be converted from) '.*element_type'",
        "",
        Text("an element of a LayoutTensor is a vector of one number; take the number: `a[i][0]`"),
    ),
    Renamed(
        r"expected ':'",
        r"^\s*(if|elif|while)\b[^=]*[^=<>!]=[^=]",
        Text("compare with `==`; `=` assigns a value"),
    ),
    Renamed(
        r"expected ':'",
        r"^\s*(if|elif|else|for|while|def|with|struct|try|except)\b",
        Text("end this line with a colon: `if i < Int(size):`"),
    ),
    Renamed("'Bool' value is unused", "==", Text("assign with `=`; `==` compares two values")),
    Renamed(
        r"expected '\('",
        r"^\s*(comptime|def)\b",
        Text(
            "the code above this line is not complete: look for an operator or an open parenthesis at its end"
        ),
    ),
    Renamed(
        "expression must be mutable in assignment",
        r"^\s*\w+\[",
        Text("a kernel cannot change its inputs: assign to its output"),
    ),
    Renamed(
        "unknown declaration 'out'",
        "",
        Text("in the kernel the buffer has the name of the parameter, such as `output`"),
    ),
    Renamed("unexpected token", r"&&|\|\|", Text("write `and` and `or` instead of `&&` and `||`")),
    Renamed(
        "unknown declaration "
        "'(barrier|(thread|block|global)_idx|(block|grid)_dim|lane_id|AddressSpace|WARP_SIZE)'",
        "",
        Text("import the name: `from max.gpu import …`"),
    ),
    Renamed("unknown declaration 'DeviceContext'", "", Text("import the name: `from max.gpu.host import …`")),
    Renamed(
        "unknown declaration '(Layout|LayoutTensor|TileTensor|row_major|stack_allocation)'",
        "",
        Text("import the name: `from layout import …`"),
    ),
    Renamed(
        "unknown declaration 'unsafe_stack_allocation'",
        "",
        Text("import the name: `from std.memory import …`"),
    ),
    Renamed(
        "unknown declaration 'assert_(almost_)?equal'",
        "",
        Text("import the name: `from std.testing import …`"),
    ),
    Renamed("unknown declaration 'warp'", "", Text("import the name: `from max.gpu.primitives import …`")),
    Renamed(
        "call to '(load|store)'",
        "",
        Text(
            "wrap the position, also a single index: `Index(i)` (from `std.utils`) for a LayoutTensor, "
            "`Coord(i)` (from `std.utils.coord`) for a TileTensor"
        ),
    ),
    Renamed("'fn' has been removed", "", Text("write `def` instead of `fn`")),
    Renamed("", r"^\s*alias\s+\w+", Text("write `comptime NAME = …` instead of `alias NAME = …`")),
    Renamed("", r"^\s*let\s+\w+", Text("write `var` instead of `let`")),
    Renamed(
        "does not support decorators", "", Text("write `comptime if` / `comptime for` without `@parameter`")
    ),
    Renamed(
        r"'@parameter' is deprecated",
        "",
        Text("give the closure a capture list, e.g. `def f(i: Int) {var}:`"),
    ),
    Renamed("'read' was removed", "", Text("write `imm` instead of `read`, or leave it out")),
    Renamed(
        "",
        r"[(,]\s*(owned|inout|borrowed)\s+\w+",
        Text("argument conventions are now `var` (was owned), `mut` (was inout), nothing (was borrowed)"),
    ),
    Renamed(
        "that may raise in a context that cannot raise|'raise' requires",
        "",
        Text("add `raises` to the signature: `def main() raises:`"),
    ),
    Renamed(
        r"unable to locate module '(gpu|max\.gpu)",
        r"\b(gpu\.)?(warp|cluster|block)\b",
        Text("warp, block and cluster operations: `from max.gpu.primitives import warp, block, cluster`"),
    ),
    Renamed(
        "unable to locate module 'gpu'",
        "",
        Text("GPU names come from `max.gpu`: `from max.gpu import thread_idx`"),
    ),
    Renamed(
        r"unable to locate module '(sys|testing|math|memory|collections|utils|benchmark|os|time|random)'",
        "",
        Text("standard modules are named in full: `from std.sys import …`, `from std.testing import …`"),
    ),
    Renamed(
        "unable to locate module 'algorithm",
        "",
        Text(
            "`vectorize` and `tile` are in `std.algorithm`; `elementwise` and `parallelize` in "
            "`max.algorithm`"
        ),
    ),
    Renamed("unable to locate module '.*atomic", "", Text("`from std.atomic import Atomic, Ordering`")),
    Renamed(
        "unable to locate module '(compiler|tensor_internal)'",
        "",
        Text("`import extensibility` has the custom ops"),
    ),
    Renamed(
        "unable to locate module 'layout.tensor_builder'",
        "",
        Text("`stack_allocation[dtype, address_space=AddressSpace.SHARED](row_major[N]())` from `layout`"),
    ),
    Renamed(
        "unable to locate module 'builtin'|'lab'",
        "",
        Text("programs are built with `-I problems`; run them with `tooling run`"),
    ),
    Renamed(
        "",
        r"\b(has_nvidia_gpu_accelerator|has_amd_gpu_accelerator)\b",
        Text("use `has_accelerator` from `std.sys`"),
    ),
    Renamed(
        "",
        r"\b(sizeof|simdwidthof|bitwidthof|alignof)\b",
        Text("the names are now `size_of`, `simd_width_of`, `align_of`"),
    ),
    Renamed(
        "", r"\benv_get_(int|string)\b", Text("use `get_defined_int` / `get_defined_string` from `std.sys`")
    ),
    Renamed(
        "", r"\bUnsafePointer\b", Text("write `Pointer[Float32, MutAnyOrigin]` (`ImmutAnyOrigin` for inputs)")
    ),
    Renamed("positional `__getitem__` is deprecated", "", Text("index a pointer with `p[unsafe_offset=i]`")),
    Renamed("'__add__' is deprecated", "", Text("move a pointer with `p.unsafe_offset(i)`")),
    Renamed("has no attribute 'offset'", "", Text("move a pointer with `p.unsafe_offset(i)`")),
    Renamed("", r"\bMutableAnyOrigin\b", Text("the name is now `MutAnyOrigin`")),
    Renamed("", r"\b(ImmutableAnyOrigin|ImmAnyOrigin)\b", Text("the name is now `ImmutAnyOrigin`")),
    Renamed("", r"\bMutExternalOrigin\b", Text("the name is now `MutUntrackedOrigin`")),
    Renamed(
        "no matching method in call to 'enqueue_function'|has no attribute 'enqueue_function_",
        "",
        Text(
            "launch with `ctx.enqueue_function[kernel](arguments…, grid_dim=…, block_dim=…)`: the kernel is "
            "named once, has a value for each of its parameters, does not raise, and no mutable buffer is "
            "passed twice"
        ),
    ),
    Renamed(
        "Int and UInt do not conform to DevicePassable",
        "",
        Text("pass a fixed-width number to the kernel: `Int32(n)`, and declare the parameter `n: Int32`"),
    ),
    Renamed(
        "is not encodable as the declared function argument type",
        "",
        Text("convert the argument to exactly the declared type, e.g. `Float32(1.5)`"),
    ),
    Renamed("", r"\b(memcpy|memset_zero)\b", Text("the names are now `unsafe_memcpy`, `unsafe_memset_zero`")),
    Renamed(
        "unknown declaration 'value'",
        "",
        Text("write `@fieldwise_init` and list the traits: `struct S(Copyable):`"),
    ),
    Renamed(
        "'@?register_passable|register_passable.*is removed", "", Text("conform to `TrivialRegisterPassable`")
    ),
    Renamed("unknown declaration 'str'", "", Text("write `String(x)`")),
    Renamed(
        "unknown declaration '(int|float|double|auto)'",
        r"^\s*\w+\s+\w+\s*=",
        Text("declare it with `var`: `var x = 10`"),
    ),
    Renamed("unknown declaration 'int'", "", Text("write `Int(x)`")),
    Renamed(
        "", r"\bconstrained\b", Text("write `comptime assert condition, message` instead of `constrained`")
    ),
    Renamed("", r"\b__type_of\b", Text("write `type_of(x)` instead of `__type_of(x)`")),
    Renamed("", r"\bInlineArray\b", Text("write `Array[Float32, 4]` instead of `InlineArray[Float32, 4]`")),
    Renamed("negative indexing is not supported", "", Text("write `x[len(x) - 1]`")),
    Renamed(
        "Could not infer capture convention",
        "",
        Text("list what the closure captures: `{imm}`, `{mut name}` or `{var}`"),
    ),
    Renamed(
        "no matching function in call to 'vectorize'",
        "",
        Text("`vectorize[width](n, f)`: the function comes last"),
    ),
    Renamed(
        "no matching function in call to 'elementwise'",
        "",
        Text(
            '`elementwise[f, 1, target="gpu"](n, ctx)` with '
            "`def f[w: Int, alignment: Int = 1](idx: Coord) capturing`"
        ),
    ),
    Renamed(
        "does not implement the '__call__' method",
        r"\bIdx\(",
        Text("write `Idx[8]`: the value is a parameter"),
    ),
    Renamed(
        "LayoutTensor' failed to infer parameter 'origin'",
        "",
        Text("name the origin: `LayoutTensor[dtype, layout, MutAnyOrigin]`"),
    ),
    Renamed(
        "global variables are not supported", "", Text("use `comptime NAME = …`, or move it into a function")
    ),
    Renamed(
        "target 'unknown' is not supported by this build",
        "",
        Text("run it with `tooling run`, which names the GPU"),
    ),
    Renamed(
        "failed to run the pass manager",
        "",
        Text(
            "the compiler reported no line: remove statements until it builds. One that it cannot build is "
            "`enqueue_fill` of a buffer of `DType.bool`"
        ),
    ),
)


def hint_for(message: str, source_line: str) -> Text | None:
    """What to write instead, if the message or its source line has a known old spelling."""
    if hint := replacement_hint(message):
        return hint
    for row in _TABLE:
        if row.message and not re.search(row.message, message):
            continue
        if row.source and not re.search(row.source, source_line):
            continue
        return row.hint
    return None
