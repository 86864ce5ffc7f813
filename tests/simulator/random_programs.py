"""Random kernels, and a scalar oracle: lanes that run one after the other, up to where they wait for others.

A kernel is a tree of statements over six registers of each lane. It is written out as PTX, and run by Python
integers and generators, which share nothing with the simulator.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tests.simulator.simulate import HEAD

REGISTERS = 6
SLOTS = 4
"""Words of each lane's local array."""
COUNTERS = 8
"""Words of the array that reductions go to."""
WORD = 0xFFFFFFFF


def signed(value: int) -> int:
    """The same bits as a number from -2**31 on."""
    return value - (1 << 32) if value >> 31 else value


INTEGER: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b,
    "sub.u32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "mul.hi.u32": lambda a, b: a * b >> 32,
    "mul.hi.s32": lambda a, b: signed(a) * signed(b) >> 32,
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
    "min.s32": lambda a, b: min(signed(a), signed(b)),
    "max.u32": max,
    "shl.b32": lambda a, b: a << b if b < 32 else 0,
    "shr.u32": lambda a, b: a >> b if b < 32 else 0,
    "shr.s32": lambda a, b: signed(a) >> min(b, 31),
}
REDUCTIONS: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b & WORD,
    "max.u32": max,
    "min.u32": min,
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
}
"""Of these the order does not matter; a counter takes one kind only."""


@dataclass(slots=True)
class Lane:
    """A thread: its index in the block, the block's size, and its registers."""

    thread: int
    threads: int
    registers: list[int]
    counters: list[int]
    slots: list[int] = field(default_factory=lambda: [0] * SLOTS)


@dataclass(frozen=True, slots=True)
class PartialBarrier:
    """What a lane waits for: all `members` at the same statement. `value` and `choice` it brings along."""

    at: int
    members: range | frozenset[int]
    value: int = 0
    choice: int = 0


Steps = Generator[PartialBarrier, dict[int, PartialBarrier], bool]
"""Yields where it waits, is sent what all brought there, and returns whether the lane has left the kernel."""


class Statement:
    """A node of the tree."""

    def run(self, lane: Lane) -> Steps:
        """Do it for one lane."""
        raise NotImplementedError

    def write(self, out: Writer) -> None:
        """Write it out as PTX."""
        raise NotImplementedError


class Writer:
    """Lines of PTX, with labels that occur once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._labels = 0

    def label(self) -> str:
        """A fresh label."""
        self._labels += 1
        return f"$L{self._labels}"

    def __iadd__(self, line: str) -> Writer:
        self.lines.append(line)
        return self


def all_of(body: Sequence[Statement], lane: Lane) -> Steps:
    """Statements one after the other, until the lane leaves."""
    for statement in body:
        if (yield from statement.run(lane)):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Compute(Statement):
    """d = a op b, in some programs only where the lowest bit of `guard` is set."""

    operation: str
    d: int
    a: int
    b: int
    guard: int | None = None

    def run(self, lane: Lane) -> Steps:
        held = lane.registers
        if self.guard is None or held[self.guard] & 1:
            held[self.d] = INTEGER[self.operation](held[self.a], held[self.b]) & WORD
        return False
        yield

    def write(self, out: Writer) -> None:
        prefix = ""
        if self.guard is not None:
            out += f"and.b32 %t0, %r{self.guard}, 1;"
            out += "setp.ne.u32 %p0, %t0, 0;"
            prefix = "@%p0 "
        out += f"{prefix}{self.operation} %r{self.d}, %r{self.a}, %r{self.b};"


@dataclass(frozen=True, slots=True)
class Choose(Statement):
    """One of several ways, by the lower bits of a register: an if, or a jump table."""

    by: int
    ways: tuple[tuple[Statement, ...], ...]

    def run(self, lane: Lane) -> Steps:
        return (yield from all_of(self.ways[lane.registers[self.by] % len(self.ways)], lane))

    def write(self, out: Writer) -> None:
        labels = [out.label() for _ in self.ways]
        end = out.label()
        out += f"rem.u32 %t0, %r{self.by}, {len(self.ways)};"
        if len(self.ways) == 2:
            out += "setp.eq.u32 %p0, %t0, 0;"
            out += f"@!%p0 bra {labels[1]};"
        else:
            table = out.label()
            out += f"{table}: .branchtargets {', '.join(labels)};"
            out += f"brx.idx %t0, {table};"
        for label, way in zip(labels, self.ways, strict=True):
            out += f"{label}:"
            for statement in way:
                statement.write(out)
            out += f"bra {end};"
        out += f"{end}:"


@dataclass(frozen=True, slots=True)
class Repeat(Statement):
    """A loop: as often as the lower bits of a register say, or (`by` None) `least` times in all lanes."""

    number: int
    by: int | None
    least: int
    body: tuple[Statement, ...]

    def run(self, lane: Lane) -> Steps:
        times = self.least + (0 if self.by is None else lane.registers[self.by] & 3)
        for _ in range(times):
            if (yield from all_of(self.body, lane)):
                return True
        return False

    def write(self, out: Writer) -> None:
        again, end = out.label(), out.label()
        counter = f"%n{self.number}"
        if self.by is None:
            out += f"mov.u32 {counter}, {self.least};"
        else:
            out += f"and.b32 {counter}, %r{self.by}, 3;"
            out += f"add.u32 {counter}, {counter}, {self.least};"
        out += f"setp.eq.u32 %p0, {counter}, 0;"
        out += f"@%p0 bra {end};"
        out += f"{again}:"
        for statement in self.body:
            statement.write(out)
        out += f"sub.u32 {counter}, {counter}, 1;"
        out += f"setp.ne.u32 %p0, {counter}, 0;"
        out += f"@%p0 bra {again};"
        out += f"{end}:"


@dataclass(frozen=True, slots=True)
class Leave(Statement):
    """The lane exits where the lowest two bits of a register are set."""

    by: int

    def run(self, lane: Lane) -> Steps:
        return lane.registers[self.by] & 3 == 3
        yield

    def write(self, out: Writer) -> None:
        out += f"and.b32 %t0, %r{self.by}, 3;"
        out += "setp.eq.u32 %p0, %t0, 3;"
        out += "@%p0 bra $OUT;"


@dataclass(frozen=True, slots=True)
class Keep(Statement):
    """A word of the local array is stored, and another one loaded."""

    d: int
    a: int
    to: int
    origin: int

    def run(self, lane: Lane) -> Steps:
        held = lane.registers
        lane.slots[held[self.to] % SLOTS] = held[self.a]
        held[self.d] = lane.slots[held[self.origin] % SLOTS]
        return False
        yield

    def write(self, out: Writer) -> None:
        for temporary, register in (("%t1", self.to), ("%t2", self.origin)):
            out += f"and.b32 {temporary}, %r{register}, {SLOTS - 1};"
            out += f"shl.b32 {temporary}, {temporary}, 2;"
        for wide, narrow in (("%q1", "%t1"), ("%q2", "%t2")):
            out += f"cvt.u64.u32 {wide}, {narrow};"
            out += f"add.s64 {wide}, {wide}, %q0;"
        out += f"st.local.b32 [%q1], %r{self.a};"
        out += f"ld.local.b32 %r{self.d}, [%q2];"


@dataclass(frozen=True, slots=True)
class Reduce(Statement):
    """A reduction into a counter of the whole launch."""

    counter: int
    a: int

    @property
    def operation(self) -> str:
        return list(REDUCTIONS)[self.counter % len(REDUCTIONS)]

    def run(self, lane: Lane) -> Steps:
        known = lane.counters[self.counter]
        lane.counters[self.counter] = REDUCTIONS[self.operation](known, lane.registers[self.a])
        return False
        yield

    def write(self, out: Writer) -> None:
        out += f"red.global.{self.operation} [%q3+{4 * self.counter}], %r{self.a};"


@dataclass(frozen=True, slots=True)
class Call(Statement):
    """d = mix(a, b), a function with a branch and a loop."""

    d: int
    a: int
    b: int

    def run(self, lane: Lane) -> Steps:
        a, b = lane.registers[self.a], lane.registers[self.b]
        while a & 7:
            b = b * 5 + a & WORD
            a >>= 1
        lane.registers[self.d] = b ^ a
        return False
        yield

    def write(self, out: Writer) -> None:
        out += "{ .param .b32 one; .param .b32 other; .param .b32 back;"
        out += f"st.param.b32 [one], %r{self.a}; st.param.b32 [other], %r{self.b};"
        out += f"call.uni (back), mix, (one, other); ld.param.b32 %r{self.d}, [back]; }}"


MIX = """
.func (.param .b32 back) mix(.param .b32 one, .param .b32 other)
{
    .reg .b32 %r<4>;
    .reg .pred %p<2>;
    ld.param.b32 %r1, [one];
    ld.param.b32 %r2, [other];
$AGAIN:
    and.b32 %r3, %r1, 7;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra $DONE;
    mad.lo.u32 %r2, %r2, 5, %r1;
    shr.u32 %r1, %r1, 1;
    bra $AGAIN;
$DONE:
    xor.b32 %r2, %r2, %r1;
    st.param.b32 [back], %r2;
    ret;
}
"""


def warp_of(lane: Lane) -> range:
    """The threads of a lane's warp."""
    first = lane.thread // 32 * 32
    return range(first, min(first + 32, lane.threads))


@dataclass(frozen=True, slots=True)
class Exchange(Statement):
    """Each lane takes what another one of its block put into shared memory."""

    number: int
    d: int
    a: int
    origin: int

    def run(self, lane: Lane) -> Steps:
        held = lane.registers
        origin = min(held[self.origin] & 31, lane.threads - 1)
        brought = yield PartialBarrier(self.number, range(lane.threads), held[self.a])
        held[self.d] = brought[origin].value
        return False

    def write(self, out: Writer) -> None:
        out += "bar.sync 0;"
        out += f"st.shared.b32 [%t7], %r{self.a};"
        out += "bar.sync 0;"
        out += f"and.b32 %t0, %r{self.origin}, 31;"
        out += "min.u32 %t0, %t0, %t6;"
        out += "shl.b32 %t0, %t0, 2;"
        out += "mov.u32 %t1, tile;"
        out += "add.u32 %t0, %t0, %t1;"
        out += f"ld.shared.b32 %r{self.d}, [%t0];"


@dataclass(frozen=True, slots=True)
class Shuffle(Statement):
    """Lanes of a warp take each other's values; `half` says which ones have come (None: all)."""

    number: int
    d: int
    a: int
    distance: int
    half: int | None = None

    def run(self, lane: Lane) -> Steps:
        members: range | frozenset[int] = warp_of(lane)
        if self.half is not None:
            members = frozenset(thread for thread in members if thread & 1 == self.half)
        brought = yield PartialBarrier(self.number, members, lane.registers[self.a])
        source = lane.thread ^ self.distance
        lane.registers[self.d] = brought[source].value if source in brought else 0
        return False

    def write(self, out: Writer) -> None:
        mask = "%t5"
        if self.half is not None:
            mask = "%t4"
            out += f"and.b32 %t4, %t5, {0x55555555 << self.half};"
        out += f"shfl.sync.bfly.b32 %r{self.d}, %r{self.a}, {self.distance}, 31, {mask};"


@dataclass(frozen=True, slots=True)
class Halves(Statement):
    """Even and odd lanes go two ways, and shuffle there among themselves."""

    even: tuple[Statement, ...]
    odd: tuple[Statement, ...]

    def run(self, lane: Lane) -> Steps:
        return (yield from all_of(self.odd if lane.thread & 1 else self.even, lane))

    def write(self, out: Writer) -> None:
        odd, end = out.label(), out.label()
        out += "@%p7 bra " + odd + ";"
        for statement in self.even:
            statement.write(out)
        out += f"bra {end};"
        out += f"{odd}:"
        for statement in self.odd:
            statement.write(out)
        out += f"{end}:"


@dataclass(frozen=True, slots=True)
class Vote(Statement):
    """Whose lowest bit is set: of a warp as a mask, of a block how many."""

    number: int
    d: int
    a: int
    block: bool

    def run(self, lane: Lane) -> Steps:
        members = range(lane.threads) if self.block else warp_of(lane)
        brought = yield PartialBarrier(self.number, members, lane.registers[self.a] & 1)
        votes = [meeting.value << thread % 32 for thread, meeting in brought.items()]
        lane.registers[self.d] = (
            sum(meeting.value for meeting in brought.values()) if self.block else sum(votes)
        )
        return False

    def write(self, out: Writer) -> None:
        out += f"and.b32 %t0, %r{self.a}, 1;"
        out += "setp.ne.u32 %p0, %t0, 0;"
        form = "bar.red.popc.u32 {}, 0, %p0;" if self.block else "vote.sync.ballot.b32 {}, %p0, %t5;"
        out += form.format(f"%r{self.d}")


class Maker:
    """Makes statements at random."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._number = 0

    def _register(self) -> int:
        return self.chance.randrange(REGISTERS)

    def _next(self) -> int:
        self._number += 1
        return self._number

    def alone(self, depth: int) -> Statement:
        """A statement for which no lane waits."""
        r = self._register
        what = self.chance.randrange(12 if depth else 8)
        if what < 5:
            guard = r() if self.chance.random() < 0.3 else None
            return Compute(self.chance.choice(list(INTEGER)), r(), r(), r(), guard)
        if what == 5:
            return Keep(r(), r(), r(), r())
        if what == 6:
            return Reduce(self.chance.randrange(COUNTERS), r())
        if what == 7:
            return Call(r(), r(), r())
        if what < 11:
            ways = self.chance.choice((2, 2, 3, 5))
            return Choose(r(), tuple(self.some(depth - 1) for _ in range(ways)))
        return Repeat(self._next(), r(), self.chance.randrange(2), self.some(depth - 1))

    def some(self, depth: int) -> tuple[Statement, ...]:
        """A few of them."""
        return tuple(self.alone(depth) for _ in range(self.chance.randint(0, 3)))

    def joint(self, depth: int) -> Statement:
        """A statement that all lanes come to."""
        r, what = self._register, self.chance.randrange(6)
        if what == 0:
            return Exchange(self._next(), r(), r(), r())
        if what == 1:
            return Vote(self._next(), r(), r(), self.chance.random() < 0.5)
        if what == 2:
            ways = [
                (*self.some(1), Shuffle(self._next(), r(), r(), self.chance.choice((2, 4, 8, 16)), half))
                for half in (0, 1)
            ]
            return Halves(ways[0], ways[1])
        if what == 3 and depth:
            body = (*self.some(1), self.joint(depth - 1), *self.some(1))
            return Repeat(self._next(), None, self.chance.randint(1, 3), body)
        return Shuffle(self._next(), r(), r(), self.chance.choice((1, 2, 4, 8, 16)))

    def kernel(self) -> tuple[Statement, ...]:
        """A kernel's body."""
        body: list[Statement] = []
        for _ in range(self.chance.randint(1, 3)):
            body += [*self.some(2), self.joint(1)]
        body += self.some(2)
        if self.chance.random() < 0.5:
            body += [Choose(self._register(), ((Leave(self._register()),), self.some(1))), *self.some(2)]
        return tuple(body)


def text_of(body: Sequence[Statement], threads: int) -> str:
    """The kernel as PTX. Parameters: the lanes' registers, six words each, and the counters."""
    out = Writer()
    for statement in body:
        statement.write(out)
    lines = "\n".join(out.lines)
    loads = "".join(f"ld.global.b32 %r{n}, [%q4+{4 * n}];\n" for n in range(REGISTERS))
    stores = "".join(f"st.global.b32 [%q4+{4 * n}], %r{n};\n" for n in range(REGISTERS))
    zeros = "".join(f"st.local.b32 [%q0+{4 * n}], 0;\n" for n in range(SLOTS))
    return f"""{HEAD}{MIX}
.shared .align 4 .b8 tile[{4 * threads}];
.visible .entry k(.param .u64 registers, .param .u64 counters)
{{
    .local .align 4 .b8 slots[{4 * SLOTS}];
    .reg .pred %p<8>;
    .reg .b32 %r<{REGISTERS}>, %t<12>, %n<99>;
    .reg .b64 %q<9>;
    mov.u64 %q0, slots;
    ld.param.b64 %q4, [registers];
    ld.param.b64 %q3, [counters];
    mov.u32 %t8, %tid.x;
    mov.u32 %t9, %ntid.x;
    sub.u32 %t6, %t9, 1;
    and.b32 %t0, %t8, 1;
    setp.ne.u32 %p7, %t0, 0;
    shl.b32 %t7, %t8, 2;
    mov.u32 %t0, tile;
    add.u32 %t7, %t7, %t0;
    and.b32 %t0, %t8, {WORD & ~31};
    sub.u32 %t0, %t9, %t0;
    min.u32 %t0, %t0, 32;
    sub.u32 %t0, 32, %t0;
    mov.u32 %t5, {WORD};
    shr.u32 %t5, %t5, %t0;
    mov.u32 %t0, %ctaid.x;
    mad.lo.u32 %t0, %t0, %t9, %t8;
    mul.wide.u32 %q5, %t0, {4 * REGISTERS};
    add.s64 %q4, %q4, %q5;
{loads}{zeros}{lines}
$OUT:
{stores}ret;
}}
"""


def expected(
    body: Sequence[Statement], threads: int, registers: list[list[int]], counters: list[int]
) -> Iterator[list[int]]:
    """Each lane's registers after the kernel; the counters are changed in place."""
    for first in range(0, len(registers), threads):
        lanes = [
            Lane(thread, threads, list(registers[first + thread]), counters) for thread in range(threads)
        ]
        _run_block(body, lanes)
        for lane in lanes:
            yield lane.registers


def _run_block(body: Sequence[Statement], lanes: list[Lane]) -> None:
    steps = [all_of(body, lane) for lane in lanes]
    waiting: dict[int, PartialBarrier] = {}
    ready: dict[int, dict[int, PartialBarrier] | None] = dict.fromkeys(range(len(lanes)))
    while ready:
        for thread, brought in ready.items():
            with suppress(StopIteration):
                waiting[thread] = next(steps[thread]) if brought is None else steps[thread].send(brought)
        ready = {}
        for meeting in dict.fromkeys((m.at, frozenset(m.members)) for m in waiting.values()):
            at, members = meeting
            if all(other in waiting and waiting[other].at == at for other in members):
                brought = {other: waiting.pop(other) for other in sorted(members)}
                ready |= dict.fromkeys(members, brought)
    if waiting:
        raise AssertionError(f"the oracle's lanes {sorted(waiting)} wait for ever")
