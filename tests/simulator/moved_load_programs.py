"""Random right kernels whose loads the compiler moves: one thread keeps a sum, a maximum or a count in shared
memory, loads are guarded, iterations end early.

Each kernel is right: a cell is used by one thread at a time, the next thread is a barrier later, and what is
read was written. Mojo optimises them as it does any program.
"""

from __future__ import annotations

import random

_HEAD = '''"""Random kernels of one thread that accumulates."""

from std.memory import unsafe_stack_allocation

from max.gpu import AddressSpace, barrier, thread_idx
from max.gpu.host import DeviceContext

comptime P = Pointer[Float32, MutAnyOrigin]
comptime Q = Pointer[Float32, ImmutAnyOrigin]
'''

_ALLOCATION = "unsafe_stack_allocation[{size}, Float32, address_space=AddressSpace.SHARED]()"


class _Maker:
    """Makes one kernel for blocks of `threads` threads from a seed."""

    def __init__(self, seed: int, threads: int) -> None:
        self.pick = random.Random(seed)
        self.threads = threads
        self.lines: list[str] = []
        self.cells = 0

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def one_of(self, *choices: str) -> str:
        return self.pick.choice(choices)

    def kernel(self, name: str) -> str:
        """A kernel of one to three phases, each of which accumulates in a cell of its own."""
        self.add(1, "var t = thread_idx.x")
        self.add(1, "var total = Float32(0)")
        for _ in range(self.pick.randint(1, 3)):
            self.phase()
        self.add(1, "y[unsafe_offset=t] = total")
        body = "\n".join(self.lines)
        return f"def {name}(y: P, x: Q, n: Int32, k: Int32):\n{body}\n"

    def phase(self) -> None:
        """One thread accumulates in a cell; then all threads read it."""
        cell, size = f"s{self.cells}", self.pick.choice([1, 2, 64])
        self.cells += 1
        self.add(1, f"var {cell} = {_ALLOCATION.format(size=size)}")
        who = self.one_of("t == 0", "t == 5", "t == Int(k)", f"t == {self.threads - 1}")
        at = self.one_of("0", "0") if size < 64 else "7"
        element = f"{cell}[unsafe_offset={at}]"
        first = self.pick.random() < 0.6
        if first:
            self.add(1, f"if {who}:")
            self.add(2, f"{element} = {self.one_of('0', '1', 'x[unsafe_offset=3]')}")
        self.add(1, f"for i in range({self.one_of('Int(n)', '9', 'Int(n) - 3')}):")
        self.loop(who, element, first=first)
        if self.pick.random() < 0.3:
            self.add(1, f"if {who}:")
            self.add(2, f"if {element} > 2.0:")
            self.add(3, f"{element} = {element} * 0.5")
        self.add(1, "barrier()")
        use = self.one_of("total += {}", "total = max(total, {})", "if t < Int(k):\n        total += {}")
        self.add(1, use.format(element))
        if self.pick.random() < 0.3:
            self.add(1, "barrier()")
            self.add(1, f"if {who}:")
            self.add(2, f"{element} = {element} + 1")
            self.add(2, f"total -= {element}")

    def loop(self, who: str, element: str, *, first: bool) -> None:
        """The body of the loop: early `continue`, guards, and an update of the cell."""
        value = self.one_of("x[unsafe_offset=i]", "x[unsafe_offset=i + t]", "Float32(i)")
        shape = self.pick.randint(0, 3)
        start = "" if first else "i == 0 or "
        updates = {
            "sum": [f"{element} = {element} + {value}"],
            "count": [f"if {value} > 1.5:", f"    {element} += 1"],
            "maximum": [f"if {value} > {element}:", f"    {element} = {value}"],
            "late": [f"if i > 2 and {element} < 50.0:", f"    {element} += {value}"],
        }
        update = updates[self.one_of(*updates)]
        if not first:
            update = [f"if {start}{value} > {element}:", f"    {element} = {value}"]
        if shape == 0:
            self.add(2, f"if {who}:")
            depth = 3
        elif shape == 1:
            self.add(2, f"if not ({who}):")
            self.add(3, "continue")
            depth = 2
        elif shape == 2 and first:
            self.add(2, f"if {who} and i % 3 != 1:")
            depth = 3
        else:
            self.add(2, f"if {who}:")
            self.add(3, "if i >= Int(n):")
            self.add(4, "break")
            depth = 3
        for line in update:
            self.add(depth, line)


def program(seed: int, count: int, threads: int = 64) -> str:
    """A Mojo program of `count` kernels, each launched once in blocks of `threads` threads."""
    names = [f"kernel{number}" for number in range(count)]
    kernels = "\n\n".join(_Maker(1000 * seed + n, threads).kernel(name) for n, name in enumerate(names))
    launches = "".join(
        f"        ctx.enqueue_function[{name}](y, x, Int32({7 + 3 * n % 40}), Int32({n % threads}),"
        f" grid_dim={1 + n % 3 // 2}, block_dim={threads})\n        ctx.synchronize()\n"
        for n, name in enumerate(names)
    )
    return f"""{_HEAD}

{kernels}

def main() raises:
    with DeviceContext() as ctx:
        var x = ctx.enqueue_create_buffer[DType.float32]({2 * threads})
        var y = ctx.enqueue_create_buffer[DType.float32]({threads})
        with x.map_to_host() as host:
            for i in range({2 * threads}):
                host[i] = Float32(i % 5)
        y.enqueue_fill(0)
{launches}"""
