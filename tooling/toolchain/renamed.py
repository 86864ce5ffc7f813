"""Hints for compiler messages about names and syntax of older Mojo, and about limits of Mojo 1.2."""

from __future__ import annotations

from tooling.text import Text
from tooling.toolchain.beginners import BEGINNERS
from tooling.toolchain.characters import replacement_hint
from tooling.toolchain.hint_rows import HintRow, first_hint

_TABLE: tuple[HintRow, ...] = (
    HintRow(
        r"cannot be converted from 'U?Int(8|16|32|64)' to 'Int'",
        "",
        Text("convert a fixed-width number to `Int` where it is compared with an index: `Int(size)`"),
    ),
    HintRow(
        r"cannot (implicitly convert|be converted from) '.*element_type'",
        "",
        Text("an element of a LayoutTensor is a vector of one number; take the number: `a[i][0]`"),
    ),
    HintRow(
        r"expected ':'",
        r"^\s*(if|elif|while)\b[^=]*[^=<>!]=[^=]",
        Text("compare with `==`; `=` assigns a value"),
    ),
    HintRow(
        r"expected ':'",
        r"^\s*(if|elif|else|for|while|def|with|struct|try|except)\b",
        Text("end this line with a colon: `if i < Int(size):`"),
    ),
    HintRow("'Bool' value is unused", "==", Text("assign with `=`; `==` compares two values")),
    HintRow(
        r"expected '\('",
        r"^\s*(comptime|def)\b",
        Text(
            "the code above this line is not complete: look for an operator or an open parenthesis at its end"
        ),
    ),
    HintRow(
        "expression must be mutable in assignment",
        r"^\s*\w+\[",
        Text("a kernel cannot change its inputs: assign to its output"),
    ),
    HintRow(
        "unknown declaration 'out'",
        "",
        Text("in the kernel the buffer has the name of the parameter, such as `output`"),
    ),
    HintRow("unexpected token", r"&&|\|\|", Text("write `and` and `or` instead of `&&` and `||`")),
    HintRow(
        "call to '(load|store)'",
        "",
        Text(
            "wrap the position, also a single index: `Index(i)` (from `std.utils`) for a LayoutTensor, "
            "`Coord(i)` (from `std.utils.coord`) for a TileTensor"
        ),
    ),
    HintRow("'fn' has been removed", "", Text("write `def` instead of `fn`")),
    HintRow("", r"^\s*alias\s+\w+", Text("write `comptime NAME = …` instead of `alias NAME = …`")),
    HintRow("", r"^\s*let\s+\w+", Text("write `var` instead of `let`")),
    HintRow(
        "does not support decorators", "", Text("write `comptime if` / `comptime for` without `@parameter`")
    ),
    HintRow(
        r"'@parameter' is deprecated",
        "",
        Text("give the closure a capture list, e.g. `def f(i: Int) {var}:`"),
    ),
    HintRow("'read' was removed", "", Text("write `imm` instead of `read`, or leave it out")),
    HintRow(
        "",
        r"[(,]\s*(owned|inout|borrowed)\s+\w+",
        Text("argument conventions are now `var` (was owned), `mut` (was inout), nothing (was borrowed)"),
    ),
    HintRow(
        r"unable to locate module '(gpu|max\.gpu)",
        r"\b(gpu\.)?(warp|cluster|block)\b",
        Text("warp, block and cluster operations: `from max.gpu.primitives import warp, block, cluster`"),
    ),
    HintRow(
        "unable to locate module 'gpu'",
        "",
        Text("GPU names come from `max.gpu`: `from max.gpu import thread_idx`"),
    ),
    HintRow(
        r"unable to locate module '(sys|testing|math|memory|collections|utils|benchmark|os|time|random)'",
        "",
        Text("standard modules are named in full: `from std.sys import …`, `from std.testing import …`"),
    ),
    HintRow(
        "unable to locate module 'algorithm",
        "",
        Text(
            "`vectorize` and `tile` are in `std.algorithm`; `elementwise` and `parallelize` in "
            "`max.algorithm`"
        ),
    ),
    HintRow("unable to locate module '.*atomic", "", Text("`from std.atomic import Atomic, Ordering`")),
    HintRow(
        "unable to locate module '(compiler|tensor_internal)'",
        "",
        Text("`import extensibility` has the custom ops"),
    ),
    HintRow(
        "unable to locate module 'layout.tensor_builder'",
        "",
        Text("`stack_allocation[dtype, address_space=AddressSpace.SHARED](row_major[N]())` from `layout`"),
    ),
    HintRow(
        "unable to locate module 'builtin'|'lab'",
        "",
        Text("programs are built with `-I problems`; run them with `tooling run`"),
    ),
    HintRow(
        "",
        r"\b(has_nvidia_gpu_accelerator|has_amd_gpu_accelerator)\b",
        Text("use `has_accelerator` from `std.sys`"),
    ),
    HintRow(
        "",
        r"\b(sizeof|simdwidthof|bitwidthof|alignof)\b",
        Text("the names are now `size_of`, `simd_width_of`, `align_of`"),
    ),
    HintRow(
        "", r"\benv_get_(int|string)\b", Text("use `get_defined_int` / `get_defined_string` from `std.sys`")
    ),
    HintRow(
        "", r"\bUnsafePointer\b", Text("write `Pointer[Float32, MutAnyOrigin]` (`ImmutAnyOrigin` for inputs)")
    ),
    HintRow("positional `__getitem__` is deprecated", "", Text("index a pointer with `p[unsafe_offset=i]`")),
    HintRow("'__add__' is deprecated", "", Text("move a pointer with `p.unsafe_offset(i)`")),
    HintRow("has no attribute 'offset'", "", Text("move a pointer with `p.unsafe_offset(i)`")),
    HintRow("", r"\bMutableAnyOrigin\b", Text("the name is now `MutAnyOrigin`")),
    HintRow("", r"\b(ImmutableAnyOrigin|ImmAnyOrigin)\b", Text("the name is now `ImmutAnyOrigin`")),
    HintRow("", r"\bMutExternalOrigin\b", Text("the name is now `MutUntrackedOrigin`")),
    HintRow(
        "no matching method in call to 'enqueue_function'|has no attribute 'enqueue_function_",
        "",
        Text(
            "launch with `ctx.enqueue_function[kernel](arguments…, grid_dim=…, block_dim=…)`: the kernel is "
            "named once, has a value for each of its parameters, does not raise, and no mutable buffer is "
            "passed twice"
        ),
    ),
    HintRow(
        "Int and UInt do not conform to DevicePassable",
        "",
        Text("pass a fixed-width number to the kernel: `Int32(n)`, and declare the parameter `n: Int32`"),
    ),
    HintRow(
        "is not encodable as the declared function argument type",
        "",
        Text("convert the argument to exactly the declared type, e.g. `Float32(1.5)`"),
    ),
    HintRow("", r"\b(memcpy|memset_zero)\b", Text("the names are now `unsafe_memcpy`, `unsafe_memset_zero`")),
    HintRow(
        "unknown declaration 'value'",
        "",
        Text("write `@fieldwise_init` and list the traits: `struct S(Copyable):`"),
    ),
    HintRow(
        "'@?register_passable|register_passable.*is removed", "", Text("conform to `TrivialRegisterPassable`")
    ),
    HintRow("unknown declaration 'str'", "", Text("write `String(x)`")),
    HintRow(
        "unknown declaration '(int|float|double|auto)'",
        r"^\s*\w+\s+\w+\s*=",
        Text("declare it with `var`: `var x = 10`"),
    ),
    HintRow("unknown declaration 'int'", "", Text("write `Int(x)`")),
    HintRow(
        "", r"\bconstrained\b", Text("write `comptime assert condition, message` instead of `constrained`")
    ),
    HintRow("", r"\b__type_of\b", Text("write `type_of(x)` instead of `__type_of(x)`")),
    HintRow("", r"\bInlineArray\b", Text("write `Array[Float32, 4]` instead of `InlineArray[Float32, 4]`")),
    HintRow("negative indexing is not supported", "", Text("write `x[len(x) - 1]`")),
    HintRow(
        "Could not infer capture convention",
        "",
        Text("list what the closure captures: `{imm}`, `{mut name}` or `{var}`"),
    ),
    HintRow(
        "no matching function in call to 'vectorize'",
        "",
        Text("`vectorize[width](n, f)`: the function comes last"),
    ),
    HintRow(
        "no matching function in call to 'elementwise'",
        "",
        Text(
            '`elementwise[f, 1, target="gpu"](n, ctx)` with '
            "`def f[w: Int, alignment: Int = 1](idx: Coord) capturing`"
        ),
    ),
    HintRow(
        "does not implement the '__call__' method",
        r"\bIdx\(",
        Text("write `Idx[8]`: the value is a parameter"),
    ),
    HintRow(
        "LayoutTensor' failed to infer parameter 'origin'",
        "",
        Text("name the origin: `LayoutTensor[dtype, layout, MutAnyOrigin]`"),
    ),
    HintRow(
        "global variables are not supported", "", Text("use `comptime NAME = …`, or move it into a function")
    ),
    HintRow(
        "target 'unknown' is not supported by this build",
        "",
        Text("run it with `tooling run`, which names the GPU"),
    ),
    HintRow(
        "failed to run the pass manager",
        "",
        Text(
            "the compiler reported no line: remove statements until it builds. One that it cannot build is "
            "`enqueue_fill` of a buffer of `DType.bool`"
        ),
    ),
)


def hint_for(message: str, source_line: str, line_before: str = "") -> Text | None:
    """What to write instead, if the message or its source line has a known spelling of another language, or
    of an older Mojo.

    Args:
        line_before: the line of code before it, where that is known.
    """
    return replacement_hint(message) or first_hint((*BEGINNERS, *_TABLE), message, source_line, line_before)
