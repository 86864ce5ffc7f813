"""The random kernels of `tests.simulator.random_programs` as a Mojo program, for any vendor's GPU.

Left out is what Mojo does not define for all vendors: votes, and shuffles by a part of a warp.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from tests.simulator.random_programs import (
    COUNTERS,
    REGISTERS,
    SLOTS,
    Call,
    Choose,
    Compute,
    Exchange,
    Halves,
    Keep,
    Leave,
    Maker,
    Reduce,
    Repeat,
    Shuffle,
    Statement,
    Vote,
)

THREADS = 96
BLOCKS = 2
"""A launch: the last wavefront of 64 lanes is half empty."""

_SIGNED = "Int64(Int32({}))"
_OPERATIONS = {
    "add.u32": "{a} + {b}",
    "sub.u32": "{a} - {b}",
    "mul.lo.u32": "{a} * {b}",
    "mul.hi.u32": "UInt32(UInt64({a}) * UInt64({b}) >> 32)",
    "mul.hi.s32": f"UInt32({_SIGNED.format('{a}')} * {_SIGNED.format('{b}')} >> 32)",
    "and.b32": "{a} & {b}",
    "or.b32": "{a} | {b}",
    "xor.b32": "{a} ^ {b}",
    "min.s32": "UInt32(min(Int32({a}), Int32({b})))",
    "max.u32": "max({a}, {b})",
    "shl.b32": "({a} << ({b} & 31)) if {b} < 32 else 0",
    "shr.u32": "({a} >> ({b} & 31)) if {b} < 32 else 0",
    "shr.s32": "UInt32(Int32({a}) >> Int32(min({b}, 31)))",
}
_REDUCTIONS = {
    "add.u32": "_ = Atomic.fetch_add[ordering=Ordering.RELAXED]",
    "max.u32": "Atomic.max[ordering=Ordering.RELAXED]",
    "min.u32": "Atomic.min[ordering=Ordering.RELAXED]",
}

_HEAD = '''"""Random kernels; prints the registers and counters after each."""

from std.atomic import Atomic, Ordering
from std.memory import unsafe_stack_allocation

from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from max.gpu.primitives import warp

comptime Words = Pointer[Scalar[DType.uint32], MutAnyOrigin]


@no_inline
def mix(one: UInt32, other: UInt32) -> UInt32:
    var a = one
    var b = other
    while a & 7 != 0:
        b = b * 5 + a
        a >>= 1
    return b ^ a


def word(number: Int) -> UInt32:
    """A pseudo-random number (SplitMix64)."""
    var z = UInt64(number + 1) * 0x9E3779B97F4A7C15
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return UInt32((z ^ (z >> 31)) & 0xFFFFFFFF)
'''

_MAIN = f"""
def main() raises:
    with DeviceContext() as ctx:
        var registers = ctx.enqueue_create_buffer[DType.uint32]({BLOCKS * THREADS * REGISTERS})
        var counters = ctx.enqueue_create_buffer[DType.uint32]({COUNTERS})
"""


def word(number: int) -> int:
    """The same pseudo-random number as in the Mojo program."""
    mask = (1 << 64) - 1
    z = (number + 1) * 0x9E3779B97F4A7C15 & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return (z ^ z >> 31) & 0xFFFFFFFF


def inputs(kernel: int) -> tuple[list[list[int]], list[int]]:
    """The registers of each thread and the counters before a kernel: all of them differ by kernel."""
    start = 10000 * kernel
    lanes = range(BLOCKS * THREADS)
    registers = [[word(start + REGISTERS * lane + n) for n in range(REGISTERS)] for lane in lanes]
    for lane in lanes:
        registers[lane][0] = lane
    return registers, [word(start + 9000 + n) for n in range(COUNTERS)]


def portable(body: Sequence[Statement]) -> tuple[Statement, ...]:
    """The statements that Mojo defines for all vendors, also inside others."""
    kept: list[Statement] = []
    for statement in body:
        match statement:
            case Vote():
                continue
            case Reduce() if statement.operation not in _REDUCTIONS:
                continue
            case Shuffle() if statement.half is not None:
                continue
            case Choose(by, ways):
                kept.append(Choose(by, tuple(portable(way) for way in ways)))
            case Repeat(number, by, least, inner):
                kept.append(Repeat(number, by, least, portable(inner)))
            case Halves(even, odd):
                kept.append(Halves(portable(even), portable(odd)))
            case _:
                kept.append(statement)
    return tuple(kept)


class Text:
    """Lines of Mojo, indented."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1

    def __iadd__(self, line: str) -> Text:
        self.lines.append("    " * self.depth + line)
        return self

    def body(self, head: str, statements: Sequence[Statement]) -> None:
        """A compound statement."""
        self += head
        self.depth += 1
        for statement in statements:
            write(statement, self)
        self += "pass"
        self.depth -= 1


@singledispatch
def write(statement: Statement, out: Text) -> None:
    """Write a statement as Mojo."""
    raise NotImplementedError(type(statement))


@write.register
def _(it: Compute, out: Text) -> None:
    value = _OPERATIONS[it.operation].format(a=f"r{it.a}", b=f"r{it.b}")
    if it.guard is None:
        out += f"r{it.d} = {value}"
    else:
        out += f"if r{it.guard} & 1 != 0:"
        out += f"    r{it.d} = {value}"


@write.register
def _(it: Choose, out: Text) -> None:
    out += f"var way{len(out.lines)} = r{it.by} % {len(it.ways)}"
    name = f"way{len(out.lines) - 1}"
    for number, way in enumerate(it.ways):
        last = number == len(it.ways) - 1
        out.body("else:" if last else f"{'elif' if number else 'if'} {name} == {number}:", way)


@write.register
def _(it: Repeat, out: Text) -> None:
    times = f"{it.least}" if it.by is None else f"Int(r{it.by} & 3) + {it.least}"
    out.body(f"for _ in range({times}):", it.body)


@write.register
def _(it: Leave, out: Text) -> None:
    out += f"if r{it.by} & 3 == 3:"
    out += "    running = False"


@write.register
def _(it: Keep, out: Text) -> None:
    out += f"slots[unsafe_offset=Int(r{it.to} & {SLOTS - 1})] = r{it.a}"
    out += f"r{it.d} = slots[unsafe_offset=Int(r{it.origin} & {SLOTS - 1})]"


@write.register
def _(it: Reduce, out: Text) -> None:
    out += f"{_REDUCTIONS[it.operation]}(counters.unsafe_offset({it.counter}), r{it.a})"


@write.register
def _(it: Call, out: Text) -> None:
    out += f"r{it.d} = mix(r{it.a}, r{it.b})"


@write.register
def _(it: Exchange, out: Text) -> None:
    out += "barrier()"
    out += f"shared[unsafe_offset=t] = r{it.a}"
    out += "barrier()"
    out += f"r{it.d} = shared[unsafe_offset=Int(r{it.origin} & 31)]"


@write.register
def _(it: Shuffle, out: Text) -> None:
    out += f"r{it.d} = warp.shuffle_xor(r{it.a}, UInt32({it.distance}))"


@write.register
def _(it: Halves, out: Text) -> None:
    out.body("if t & 1 == 0:", it.even)
    out.body("else:", it.odd)


def kernels(seed: int, count: int) -> list[tuple[Statement, ...]]:
    """The bodies of a program's kernels."""
    return [portable(Maker(seed * 1000 + number).kernel()) for number in range(count)]


def program(bodies: Sequence[Sequence[Statement]]) -> str:
    """A Mojo program of kernels."""
    functions = "\n\n".join(_function(number, body) for number, body in enumerate(bodies))
    launches = "".join(_launch(number) for number in range(len(bodies)))
    return f"{_HEAD}\n\n{functions}\n{_MAIN}{launches}"


def _function(number: int, body: Sequence[Statement]) -> str:
    out = Text()
    out += f"var shared = unsafe_stack_allocation[{THREADS}, UInt32, address_space=AddressSpace.SHARED]()"
    out += f"var slots = unsafe_stack_allocation[{SLOTS}, UInt32]()"
    out += f"for n in range({SLOTS}):"
    out += "    slots[unsafe_offset=n] = 0"
    out += "var t = thread_idx.x"
    out += f"var at = (block_dim.x * block_idx.x + t) * {REGISTERS}"
    for n in range(REGISTERS):
        out += f"var r{n} = registers[unsafe_offset=at + {n}]"
    out += "var running = True"
    for statement in body:
        out.body("if running:", [statement]) if _may_follow_leave(body, statement) else write(statement, out)
    for n in range(REGISTERS):
        out += f"registers[unsafe_offset=at + {n}] = r{n}"
    lines = "\n".join(out.lines)
    return f"def kernel{number}(registers: Words, counters: Words):\n{lines}\n"


def _may_follow_leave(body: Sequence[Statement], statement: Statement) -> bool:
    leaves = [
        index
        for index, each in enumerate(body)
        if isinstance(each, Choose) and any(isinstance(inner, Leave) for way in each.ways for inner in way)
    ]
    return bool(leaves) and list(body).index(statement) >= leaves[0]


def _launch(number: int) -> str:
    start, size = 10000 * number, BLOCKS * THREADS * REGISTERS
    return f"""        with registers.map_to_host() as host:
            for i in range({size}):
                host[i] = word({start} + i) if i % {REGISTERS} else UInt32(i // {REGISTERS})
        with counters.map_to_host() as host:
            for i in range({COUNTERS}):
                host[i] = word({start} + 9000 + i)
        ctx.enqueue_function[kernel{number}](registers, counters, grid_dim={BLOCKS}, block_dim={THREADS})
        with registers.map_to_host() as host:
            for i in range({size}):
                print(host[i])
        with counters.map_to_host() as host:
            for i in range({COUNTERS}):
                print(host[i])
"""
