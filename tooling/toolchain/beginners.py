"""Hints for mistakes of beginners: spellings of C, CUDA and Python that Mojo does not have."""

from __future__ import annotations

from tooling.text import Text
from tooling.toolchain.hint_rows import HintRow

_UNKNOWN = "use of unknown declaration "

BEGINNERS: tuple[HintRow, ...] = (
    HintRow(
        r"expected ':'",
        r"\{\s*$",
        Text(
            "Mojo has no braces: end the line with a colon, and indent the lines that belong to it: "
            "`if i < Int(size):`"
        ),
    ),
    HintRow(
        r"expected '\)'",
        r"^\s*for\s*\(",
        Text("count with `for k in range(4):`; Mojo has no `for` with three parts"),
    ),
    HintRow(
        "unexpected token|expected ",
        r"\w(\+\+|--)\s*([])};]|$)",
        Text("write `i += 1` or `i -= 1`; Mojo has no `++` and `--`"),
    ),
    HintRow(
        "unexpected token|expected ",
        "",
        Text("write `i += 1` or `i -= 1` in the line above; Mojo has no `++` and `--`"),
        before=r"(\+\+|--)\s*;?\s*(#.*)?$",
    ),
    HintRow(
        r"expected '\)'",
        r"""(?<![\w"'])f["']""",
        Text('Mojo has no `f"…"`: give the values to `print` one by one: `print("i =", i)`'),
    ),
    HintRow(
        "expression must be mutable for in-place",
        r"^\s*\w+\[",
        Text("a kernel cannot change its inputs: compute the value, and assign it to the output"),
    ),
    HintRow(
        "'raise' requires|that may raise in a context that cannot raise",
        "",
        Text(
            "a kernel cannot raise: return early instead (`if i >= Int(size): return`). In a function of the "
            "host add `raises` to its signature: `def main() raises:`"
        ),
    ),
    HintRow(
        _UNKNOWN + "'(thread|block|grid)(Idx|Dim)'",
        "",
        Text(
            "CUDA's `threadIdx`, `blockIdx`, `blockDim` and `gridDim` are `thread_idx`, `block_idx`, "
            "`block_dim` and `grid_dim`: `from max.gpu import …`"
        ),
    ),
    HintRow(
        _UNKNOWN + "'__sync(threads|warp)'",
        "",
        Text("CUDA's `__syncthreads()` is `barrier()`: `from max.gpu import barrier`"),
    ),
    HintRow(
        _UNKNOWN + "'__shared__'",
        "",
        Text(
            "shared memory is allocated by a call: "
            "`unsafe_stack_allocation[TPB, Float32, address_space=AddressSpace.SHARED]()`"
        ),
    ),
    HintRow(
        _UNKNOWN + "'atomic(Add|Max|Min|Sub)'",
        "",
        Text("CUDA's `atomicAdd` is `Atomic.fetch_add`: `from std.atomic import Atomic`"),
    ),
    HintRow(
        "expressions must not appear at file scope|" + _UNKNOWN + "'(__global__|__device__|void)'",
        r"\b(__global__|__device__|void)\b",
        Text("a kernel is an ordinary function without a result: `def name(…):`"),
    ),
    HintRow(_UNKNOWN + "'printf'", "", Text('write `print("i =", i)`; it takes values of any type')),
    HintRow(_UNKNOWN + "'(true|false)'", "", Text("write `True` and `False`")),
    HintRow(_UNKNOWN + "'(null|nullptr|NULL)'", "", Text("write `None`")),
    HintRow(
        r"unexpected character `\?`", "", Text("write `a if condition else b` instead of `condition ? a : b`")
    ),
    HintRow("unexpected character `!`", "", Text("write `not` instead of `!`")),
    HintRow(
        "body must not be empty",
        "",
        Text("indent the lines that belong to it by four more spaces; if there are none yet, write `pass`"),
    ),
    HintRow("must not mix tabs and spaces", "", Text("indent with spaces alone, four for each level")),
    HintRow(
        "statements must start at the beginning of a line",
        r"\d\.?\d*f\b",
        Text("leave out the `f` at the end of the number: `1.0`, or `Float32(1.0)` for a fixed type"),
    ),
    HintRow(
        "value to 'None' in return value",
        r"^\s*return\b",
        Text("a kernel has no result: assign the value to an element of its output"),
    ),
    HintRow("", r"^\s*//", Text("a comment begins with `#`; `//` divides whole numbers")),
    HintRow("", r"^\s*else\s+if\b", Text("write `elif`")),
    HintRow(
        _UNKNOWN
        + "'(?P<name>barrier|(thread|block|global)_idx|(block|grid)_dim|lane_id|AddressSpace|WARP_SIZE)'",
        "",
        Text("import the name: `from max.gpu import {name}`"),
    ),
    HintRow(
        _UNKNOWN + "'(?P<name>DeviceContext|DeviceBuffer|HostBuffer)'",
        "",
        Text("import the name: `from max.gpu.host import {name}`"),
    ),
    HintRow(
        _UNKNOWN + "'(?P<name>Layout|LayoutTensor|TileTensor|row_major|stack_allocation)'",
        "",
        Text("import the name: `from layout import {name}`"),
    ),
    HintRow(
        _UNKNOWN + "'(?P<name>unsafe_stack_allocation)'",
        "",
        Text("import the name: `from std.memory import {name}`"),
    ),
    HintRow(
        _UNKNOWN + "'(?P<name>assert_(almost_)?equal)'",
        "",
        Text("import the name: `from std.testing import {name}`"),
    ),
    HintRow(
        _UNKNOWN + "'(?P<name>warp|cluster|block)'",
        "",
        Text("import the name: `from max.gpu.primitives import {name}`"),
    ),
    HintRow(
        _UNKNOWN + "'(?P<name>sqrt|exp|log|sin|cos|tanh|floor|ceil|ceildiv|iota)'",
        "",
        Text("import the name: `from std.math import {name}`"),
    ),
)
