"""An engine of the other kind, for comparison: an interpreter of PTX in Mojo, 32 lanes of a warp at a time.

It knows the instructions that the kernels of throughput.mojo use, and does what the checks do on each
access: bounds and alignment, bytes never written, and a shadow of the last writer and two readers of each
word. It tells no findings: an access that has one stops the launch. `mojo_engine.py` decodes kernels for it,
and compares its results and its speed with the simulator's.

    mojo build --emit shared-lib benchmarks/kernels/warp_interpreter.mojo -o warp_interpreter.so
"""

from std.bit import pop_count
from std.math import fma, iota

comptime W = 32
comptime U32x = SIMD[DType.uint32, W]
comptime U64x = SIMD[DType.uint64, W]
comptime I64x = SIMD[DType.int64, W]
comptime Mask = SIMD[DType.bool, W]
comptime NEVER = Int(1) << 40
comptime FULL = UInt32(0xFFFFFFFF)
comptime THREAD = Int64(0x7FFFFFFF)

comptime DONE = 0
comptime BARRIER = 1
comptime FAULT = 2  # an illegal address, or an unknown instruction
comptime FINDING = 3  # a race, or a read of what nobody wrote


def at[T: AnyType](address: Int) -> Pointer[T, MutUntrackedOrigin]:
    return Pointer[T, MutUntrackedOrigin](unsafe_from_address=address)


@always_inline
def get[d: DType](address: Int) -> SIMD[d, W]:
    return at[Scalar[d]](address).unsafe_load[width=W, alignment=4]()


@always_inline
def lanes(mask: UInt32) -> Mask:
    return ((U32x(mask) >> iota[DType.uint32, W]()) & 1).ne(0)


@always_inline
def put[d: DType](address: Int, value: SIMD[d, W], mask: UInt32):
    var p = at[Scalar[d]](address)
    if mask == FULL:
        p.unsafe_store[alignment=4](value)
    else:
        p.unsafe_store[alignment=4](
            lanes(mask).select(value, p.unsafe_load[width=W, alignment=4]())
        )


@always_inline
def bits(condition: Mask) -> UInt32:
    var weights = U32x(1) << iota[DType.uint32, W]()
    return condition.select(weights, U32x(0)).reduce_or()


struct Step(TrivialRegisterPassable):
    """A decoded instruction. Operands are byte offsets in a warp's registers: rows of 256 bytes.
    """

    var operation: Int32
    var target: Int32
    var a: Int32
    var b: Int32
    var c: Int32
    var jump: Int32
    var home: Int32  # which allocation it found last time


struct Allocation(TrivialRegisterPassable):
    """A buffer with what the checks know of it.

    What was written is an interval, and beside it a byte for each byte. Who wrote and who read is a strip
    (from `low` to `high`, the first thread) as long as neighbouring threads go on where the last ones ended,
    and a shadow of three keys for each word else.
    """

    var base: Int64
    var end: Int64
    var written_low: Int64
    var written_high: Int64
    var written: Int64
    var tracked: Int64  # whether the kernel writes it: else readers need no record
    var write_low: Int64
    var write_high: Int64
    var write_thread: Int64
    var read_low: Int64
    var read_high: Int64
    var read_thread: Int64
    var shadow: Int64
    var words: Int64
    var entered: Int64  # whether strips were given up for the shadow


struct State(TrivialRegisterPassable):
    """A launch, as `mojo_engine.py` lays it out: addresses, sizes in bytes, offsets in a warp's registers.
    """

    var steps: Int64
    var registers: Int64
    var register_bytes: Int64
    var threads: Int64
    var block_x: Int64
    var grid_x: Int64
    var shared: Int64
    var shared_bytes: Int64
    var shadow: Int64
    var allocations: Int64
    var allocation_count: Int64
    var host: Int64  # where device address 0 would be in this process
    var checked: Int64
    var tid_x: Int64
    var tid_y: Int64
    var ctaid_x: Int64
    var ctaid_y: Int64
    var stamp: Int64
    var lane_instructions: Int64
    var place: Int64


struct Machine(TrivialRegisterPassable):
    """The block that runs: its shared memory, and since when what counts as unordered.

    A key is the stamp of an access above and its thread below: "since the last barrier" is one comparison.
    """

    var state: Pointer[State, MutUntrackedOrigin]
    var shared: Int
    var shared_bytes: Int
    var host: Int
    var checked: Bool
    var launch: Int64
    var block_floor: Int64
    var floor: Int64
    var stamp: Int64
    var thread: Int  # of the running warp's first lane

    def __init__(out self, state: Pointer[State, MutUntrackedOrigin]):
        self.state = state
        self.shared = Int(state[].shared)
        self.shared_bytes = Int(state[].shared_bytes)
        self.host = Int(state[].host)
        self.checked = state[].checked != 0
        self.stamp = state[].stamp
        self.launch = self.stamp << 32
        self.block_floor = self.launch
        self.floor = self.launch
        self.thread = 0

    @always_inline
    def home(
        self, low: Int, high: Int, step: Pointer[Step, MutUntrackedOrigin]
    ) -> Int:
        """The allocation that holds [low, high), first tried where the step found one before; 0: none.
        """
        var table = at[Allocation](Int(self.state[].allocations))
        ref known = table[unsafe_offset=Int(step[].home)]
        if Int(known.base) <= low and high <= Int(known.end):
            return Int(table.unsafe_offset(Int(step[].home)))
        for i in range(Int(self.state[].allocation_count)):
            ref one = table[unsafe_offset=i]
            if Int(one.base) <= low and high <= Int(one.end):
                step[].home = Int32(i)
                return Int(table.unsafe_offset(i))
        return 0

    def check_global(
        mut self,
        address: U64x,
        mask: UInt32,
        writes: Bool,
        step: Pointer[Step, MutUntrackedOrigin],
        run: Bool,
    ) -> Int:
        """Look at 4 bytes per lane; `run`: all lanes, side by side."""
        var low: Int
        var high: Int
        if run:
            low = Int(address[0])
            high = low + 4 * W
            if low & 3:
                return FAULT
        else:
            var some = lanes(mask)
            low = Int(some.select(address, U64x(UInt64.MAX)).reduce_min())
            high = Int(some.select(address, U64x(0)).reduce_max()) + 4
            if some.select(address, U64x(0)).reduce_or() & 3:
                return FAULT
        var found = self.home(low, high, step)
        if found == 0:
            return FAULT
        if not self.checked:
            return DONE
        var a = at[Allocation](found)
        var offset = address - UInt64(Int(a[].base))
        if not self.initialised(found, offset, mask, writes, run):
            return FINDING
        if a[].tracked == 0 and not writes:
            return DONE
        if (
            run
            and a[].entered == 0
            and self.extends(found, low - Int(a[].base), writes)
        ):
            return DONE
        if a[].entered == 0:
            self.enter(found)
        return self.check_words(
            Int(a[].shadow),
            Int(a[].words),
            offset.cast[DType.int64](),
            mask,
            writes,
            self.launch,
            False,
        )

    @always_inline
    def initialised(
        self, found: Int, offset: U64x, mask: UInt32, writes: Bool, run: Bool
    ) -> Bool:
        """Record what is written; whether what is read was."""
        var a = at[Allocation](found)
        var start = Int(offset[0])
        if (
            run
            and Int(a[].written_low) <= start
            and start + 4 * W <= Int(a[].written_high)
        ):
            return True
        if run and writes and start == Int(a[].written_high):
            a[].written_high = Int64(start + 4 * W)
            return True
        for i in range(W):
            if mask >> UInt32(i) & 1:
                var o = Int(offset[i])
                if Int(a[].written_low) <= o and o + 4 <= Int(a[].written_high):
                    continue
                var bytes = at[UInt32](Int(a[].written) + o)
                if writes:
                    bytes[] = 0x01010101
                elif bytes[] != 0x01010101:
                    return False
        return True

    @always_inline
    def extends(self, found: Int, start: Int, writes: Bool) -> Bool:
        """Whether it goes on with a strip of its kind, and no other thread may have touched its words.
        """
        var a = at[Allocation](found)
        if writes:
            if a[].write_high == 0:
                a[].write_low = Int64(start)
                a[].write_high = Int64(start)
                a[].write_thread = Int64(self.thread)
            var own = Int(a[].write_thread) * 4 - Int(a[].write_low)
            var others = Int(a[].read_thread) * 4 - Int(a[].read_low)
            if Int(a[].write_high) != start or own != self.thread * 4 - start:
                return False
            if Int(a[].read_high) > start and others != own:
                return False
            a[].write_high = Int64(start + 4 * W)
            return True
        if a[].read_high == 0:
            a[].read_low = Int64(start)
            a[].read_high = Int64(start)
            a[].read_thread = Int64(self.thread)
        var own = Int(a[].read_thread) * 4 - Int(a[].read_low)
        var others = Int(a[].write_thread) * 4 - Int(a[].write_low)
        if Int(a[].read_high) != start or own != self.thread * 4 - start:
            return False
        if Int(a[].write_high) > start and others != own:
            return False
        a[].read_high = Int64(start + 4 * W)
        return True

    def enter(self, found: Int):
        """Give the strips of an allocation up for its shadow."""
        var a = at[Allocation](found)
        var key = self.launch | a[].write_thread
        for word in range(Int(a[].write_low) // 4, Int(a[].write_high) // 4):
            at[Int64](Int(a[].shadow) + 8 * word)[] = key
            key += 1
        key = self.launch | a[].read_thread
        for word in range(Int(a[].read_low) // 4, Int(a[].read_high) // 4):
            at[Int64](Int(a[].shadow) + 8 * (Int(a[].words) + word))[] = key
            key += 1
        a[].entered = 1

    @always_inline
    def check_words(
        self,
        shadow: Int,
        count: Int,
        offset: I64x,
        mask: UInt32,
        writes: Bool,
        floor: Int64,
        fresh: Bool,
    ) -> Int:
        """Compare and record lane by lane: writer, reader, earlier reader. `fresh`: it began unwritten.
        """
        var key = (self.stamp << 32) | Int64(self.thread)
        var bad = False
        var rest = mask
        for i in range(W):
            if rest >> UInt32(i) & 1:
                var w = at[Int64](shadow + (Int(offset[i]) >> 2) * 8)
                var r = at[Int64](Int(w) + 8 * count)
                var known = w[]
                var mine = key + Int64(i)
                bad |= known >= floor and ((known ^ mine) & THREAD) != 0
                if writes:
                    var reader = r[]
                    var earlier = at[Int64](Int(r) + 8 * count)[]
                    bad |= reader >= floor and ((reader ^ mine) & THREAD) != 0
                    bad |= earlier >= floor and ((earlier ^ mine) & THREAD) != 0
                    w[] = mine
                else:
                    if fresh:
                        bad |= known < self.block_floor
                    var reader = r[]
                    if ((reader ^ mine) & THREAD) != 0:
                        at[Int64](Int(r) + 8 * count)[] = reader
                    r[] = mine
        return FINDING if bad else DONE

    def check_shared(
        self, address: U32x, mask: UInt32, writes: Bool, run: Bool
    ) -> Int:
        """Look at 4 bytes per lane; `run`: all lanes, side by side."""
        var some = lanes(mask)
        if run:
            if address[0] & 3 or Int(address[0]) + 4 * W > self.shared_bytes:
                return FAULT
        elif (
            some.select(address, U32x(0)).reduce_or() & 3
            or Int(some.select(address, U32x(0)).reduce_max()) + 4
            > self.shared_bytes
        ):
            return FAULT
        if not self.checked:
            return DONE
        if not run:
            return self.check_words(
                Int(self.state[].shadow),
                self.shared_bytes // 4,
                address.cast[DType.int64](),
                mask,
                writes,
                self.floor,
                True,
            )
        var key = (
            I64x((self.stamp << 32) | Int64(self.thread))
            + iota[DType.int64, W]()
        )
        var w = Int(self.state[].shadow) + (Int(address[0]) >> 2) * 8
        var r = w + 2 * self.shared_bytes
        var e = r + 2 * self.shared_bytes
        var known = get[DType.int64](w)
        var bad = known.ge(self.floor) & ((known ^ key) & THREAD).ne(0)
        var reader = get[DType.int64](r)
        if writes:
            var earlier = get[DType.int64](e)
            bad |= reader.ge(self.floor) & ((reader ^ key) & THREAD).ne(0)
            bad |= earlier.ge(self.floor) & ((earlier ^ key) & THREAD).ne(0)
            at[Int64](w).unsafe_store[alignment=8](key)
        else:
            bad |= known.lt(self.block_floor)
            var other = ((reader ^ key) & THREAD).ne(0)
            at[Int64](e).unsafe_store[alignment=8](
                other.select(reader, get[DType.int64](e))
            )
            at[Int64](r).unsafe_store[alignment=8](key)
        return FINDING if bad.reduce_or() else DONE


struct Warp(TrivialRegisterPassable):
    """Lanes that parted run as groups, the one at the earliest step first, until they meet again.
    """

    var mask: UInt32
    var pc: Int
    var waiting: Int  # groups that wait: pairs (pc, mask) of 64 bits
    var count: Int
    var next: Int  # the lowest pc of them

    def __init__(out self, mask: UInt32, waiting: Int):
        self.mask = mask
        self.pc = 0
        self.waiting = waiting
        self.count = 0
        self.next = NEVER

    def look(mut self):
        """Find the lowest place at which a group waits."""
        self.next = NEVER
        for i in range(self.count):
            self.next = min(self.next, Int(at[Int64](self.waiting + 16 * i)[]))

    def put_off(mut self, pc: Int, mask: UInt32):
        """These lanes wait at a step."""
        for i in range(self.count):
            var p = at[Int64](self.waiting + 16 * i)
            if Int(p[]) == pc:
                p[unsafe_offset=1] = p[unsafe_offset=1] | Int64(mask)
                return
        var p = at[Int64](self.waiting + 16 * self.count)
        p[] = Int64(pc)
        p[unsafe_offset=1] = Int64(mask)
        self.count += 1
        self.next = min(self.next, pc)

    def take(mut self) -> Bool:
        """The group with the lowest pc runs."""
        if self.count == 0:
            return False
        for i in range(self.count):
            var p = at[Int64](self.waiting + 16 * i)
            if Int(p[]) == self.next:
                self.pc = self.next
                self.mask = UInt32(p[unsafe_offset=1])
                var last = at[Int64](self.waiting + 16 * (self.count - 1))
                p[] = last[]
                p[unsafe_offset=1] = last[unsafe_offset=1]
                break
        self.count -= 1
        self.look()
        return True


def run_warp(mut m: Machine, mut warp: Warp, registers: Int, steps: Int) -> Int:
    """Run a warp up to a barrier or its end."""
    var total = 0
    var pc = warp.pc
    var mask = warp.mask
    var active = Int(pop_count(mask))
    var result = DONE
    var parked = UInt32(0)
    while True:
        if pc >= warp.next:
            if pc == warp.next:
                var mine = mask
                _ = warp.take()
                mask = warp.mask | mine
            else:
                warp.put_off(pc, mask)
                _ = warp.take()
                pc = warp.pc
                mask = warp.mask
            active = Int(pop_count(mask))
        var step = at[Step](steps).unsafe_offset(pc)
        var op = step[].operation
        var d = registers + Int(step[].target)
        var a = registers + Int(step[].a)
        var b = registers + Int(step[].b)
        var e = registers + Int(step[].c)
        total += active
        pc += 1
        if op == 0:
            put(d, get[DType.uint32](a), mask)
        elif op == 1:
            put(d, get[DType.uint64](a), mask)
        elif op == 2:  # cvt.u64.u32
            put(d, get[DType.uint32](a).cast[DType.uint64](), mask)
        elif op == 3:  # cvt.u32.u64
            put(d, get[DType.uint64](a).cast[DType.uint32](), mask)
        elif op == 4:  # mul.wide.u32
            var other = get[DType.uint32](b).cast[DType.uint64]()
            put(d, get[DType.uint32](a).cast[DType.uint64]() * other, mask)
        elif op == 5:  # add.s64
            put(d, get[DType.uint64](a) + get[DType.uint64](b), mask)
        elif op == 6:  # add.s32
            put(d, get[DType.uint32](a) + get[DType.uint32](b), mask)
        elif op == 7:  # sub.s32
            put(d, get[DType.uint32](a) - get[DType.uint32](b), mask)
        elif op == 8:  # shl.b64
            put(
                d,
                get[DType.uint64](a)
                << get[DType.uint32](b).cast[DType.uint64](),
                mask,
            )
        elif op == 9:  # shl.b32
            put(d, get[DType.uint32](a) << get[DType.uint32](b), mask)
        elif op == 10:  # shr.u64
            put(
                d,
                get[DType.uint64](a)
                >> get[DType.uint32](b).cast[DType.uint64](),
                mask,
            )
        elif op == 11:  # shr.s32
            put(d, get[DType.int32](a) >> get[DType.int32](b), mask)
        elif op == 12:  # shr.u32
            put(d, get[DType.uint32](a) >> get[DType.uint32](b), mask)
        elif op == 13:  # and.b32
            put(d, get[DType.uint32](a) & get[DType.uint32](b), mask)
        elif op == 14:  # mad.lo.s32
            put(
                d,
                get[DType.uint32](a) * get[DType.uint32](b)
                + get[DType.uint32](e),
                mask,
            )
        elif op == 15:  # fma.rn.f32
            var v = fma(
                get[DType.float32](a),
                get[DType.float32](b),
                get[DType.float32](e),
            )
            put(
                d,
                v.ne(v).select(U32x(0x7FFFFFFF), v.to_bits[DType.uint32]()),
                mask,
            )
        elif op == 16:  # add.f32
            var v = get[DType.float32](a) + get[DType.float32](b)
            put(
                d,
                v.ne(v).select(U32x(0x7FFFFFFF), v.to_bits[DType.uint32]()),
                mask,
            )
        elif op >= 20 and op < 40:  # setp
            var held: UInt32
            if op == 20:
                held = bits(get[DType.int64](a).ge(get[DType.int64](b)))
            elif op == 21:
                held = bits(get[DType.uint32](a).ne(get[DType.uint32](b)))
            elif op == 22:
                held = bits(get[DType.uint32](a).eq(get[DType.uint32](b)))
            elif op == 23:
                held = bits(get[DType.uint64](a).ne(get[DType.uint64](b)))
            else:
                held = bits(get[DType.uint64](a).le(get[DType.uint64](b)))
            var p = at[UInt32](d)
            p[] = (p[] & ~mask) | (held & mask)
        elif op == 40:  # selp.b32
            put(
                d,
                lanes(at[UInt32](e)[]).select(
                    get[DType.uint32](a), get[DType.uint32](b)
                ),
                mask,
            )
        elif op == 50 or op == 51:  # ld.global.b32, st.global.b32
            var address = get[DType.uint64](a)
            var run = (
                mask == FULL
                and (address - address[0])
                .eq(iota[DType.uint64, W]() * 4)
                .reduce_and()
            )
            result = m.check_global(address, mask, op == 51, step, run)
            if result != DONE:
                break
            m.stamp += 1
            if op == 50:
                if run:
                    put(d, get[DType.uint32](Int(address[0]) + m.host), mask)
                else:
                    var p = at[UInt32](d)
                    for i in range(W):
                        if mask >> UInt32(i) & 1:
                            p[unsafe_offset=i] = at[UInt32](
                                Int(address[i]) + m.host
                            )[]
            else:
                if run:
                    at[UInt32](Int(address[0]) + m.host).unsafe_store[
                        alignment=4
                    ](get[DType.uint32](b))
                else:
                    var p = at[UInt32](b)
                    for i in range(W):
                        if mask >> UInt32(i) & 1:
                            at[UInt32](Int(address[i]) + m.host)[] = p[
                                unsafe_offset=i
                            ]
        elif op == 52 or op == 53:  # ld.shared.b32, st.shared.b32
            var address = get[DType.uint32](a)
            var run = (
                mask == FULL
                and (address - address[0])
                .eq(iota[DType.uint32, W]() * 4)
                .reduce_and()
            )
            result = m.check_shared(address, mask, op == 53, run)
            if result != DONE:
                break
            m.stamp += 1
            if op == 52:
                if run:
                    put(d, get[DType.uint32](Int(address[0]) + m.shared), mask)
                else:
                    var p = at[UInt32](d)
                    for i in range(W):
                        if mask >> UInt32(i) & 1:
                            p[unsafe_offset=i] = at[UInt32](
                                Int(address[i]) + m.shared
                            )[]
            else:
                if run:
                    at[UInt32](Int(address[0]) + m.shared).unsafe_store[
                        alignment=4
                    ](get[DType.uint32](b))
                else:
                    var p = at[UInt32](b)
                    for i in range(W):
                        if mask >> UInt32(i) & 1:
                            at[UInt32](Int(address[i]) + m.shared)[] = p[
                                unsafe_offset=i
                            ]
        elif op == 60:  # bra
            pc = Int(step[].jump)
        elif op == 61 or op == 62:  # @p bra, @!p bra
            var held = at[UInt32](a)[]
            var taken = (held if op == 61 else ~held) & mask
            if taken == mask:
                pc = Int(step[].jump)
            elif taken != 0:
                warp.put_off(Int(step[].jump), taken)
                mask &= ~taken
                active = Int(pop_count(mask))
        elif op == 63:  # bar.sync
            # Every barrier here is aligned: the warp's other lanes come to the same one.
            parked |= mask
            if not warp.take():
                mask = parked
                result = BARRIER
                break
            pc = warp.pc
            mask = warp.mask
            active = Int(pop_count(mask))
        elif op == 64:  # ret
            if not warp.take():
                mask = 0
                break
            pc = warp.pc
            mask = warp.mask
            active = Int(pop_count(mask))
        else:
            result = FAULT
            break
    warp.pc = pc
    warp.mask = mask
    m.state[].lane_instructions += Int64(total)
    return result


@export("run_blocks")
def run_blocks(state: Int64, count: Int64) abi("C") -> Int64:
    """Run blocks 0 to `count` - 1, one after another.

    Returns:
        0, or why it stopped; `place` is then the number of the step.
    """
    var s = at[State](Int(state))
    var m = Machine(s)
    var threads = Int(s[].threads)
    var warps = (threads + W - 1) // W
    var waiting = Int(s[].registers) + warps * Int(s[].register_bytes)
    var table = waiting + warps * 1024
    for block in range(Int(count)):
        m.block_floor = m.stamp << 32
        m.floor = m.block_floor
        for i in range(m.shared_bytes // (4 * W)):
            put(m.shared + 4 * W * i, U32x(0x7FC0DEAD), FULL)
        for w in range(warps):
            var registers = Int(s[].registers) + w * Int(s[].register_bytes)
            var thread = U32x(UInt32(W * w)) + iota[DType.uint32, W]()
            put(registers + Int(s[].tid_x), thread % UInt32(s[].block_x), FULL)
            put(registers + Int(s[].tid_y), thread / UInt32(s[].block_x), FULL)
            put(
                registers + Int(s[].ctaid_x),
                U32x(UInt32(block % Int(s[].grid_x))),
                FULL,
            )
            put(
                registers + Int(s[].ctaid_y),
                U32x(UInt32(block // Int(s[].grid_x))),
                FULL,
            )
            var rest = min(threads - W * w, W)
            var mask = FULL if rest == W else (UInt32(1) << UInt32(rest)) - 1
            at[Warp](table + 64 * w)[] = Warp(mask, waiting + 1024 * w)
        var running = warps
        while running > 0:
            for w in range(warps):
                var warp = at[Warp](table + 64 * w)
                if warp[].mask == 0:
                    continue
                m.thread = block * threads + W * w
                var registers = Int(s[].registers) + w * Int(s[].register_bytes)
                var result = run_warp(m, warp[], registers, Int(s[].steps))
                if result == DONE:
                    warp[].mask = 0
                    running -= 1
                elif result != BARRIER:
                    s[].place = Int64(warp[].pc - 1)
                    return Int64(result)
            m.floor = m.stamp << 32
    s[].stamp = m.stamp
    return 0
