"""Pinned memory that enqueued work uses: its pages are protected, so that an access by the host is seen.

The work itself, a copy or a kernel, is complete when the call returns. The pages stay protected until the host
waits for the work, as the simulator reports (`protocol.ORDER`): not accessible if the work writes them,
read-only if it reads them.
"""

from std.ffi import external_call

from mapping import NO_ACCESS, READ_AND_WRITE, READ_ONLY, protect
from wire import NULL, at

comptime MOST_CALLERS = 4
comptime _MOST_FRAMES = 64


@fieldwise_init
struct _Range(TrivialRegisterPassable):
    """Bytes from `low` up to `high` (exclusive), and the access that the host has.
    """

    var low: UInt64
    var high: UInt64
    var access: Int32

    def overlaps(self, low: UInt64, high: UInt64) -> Bool:
        """Whether it has a byte in a range."""
        return self.low < high and low < self.high


struct Pending(Movable):
    """The memory that enqueued work uses, and the program's code, from whose calls return addresses are reported.

    `enabled` if the simulator checks the order of the host and the GPU. `code_low` to `code_high` is the
    program's own code. While a node of a graph is performed, `adders` are the callers that added it.
    """

    var enabled: Bool
    var code_low: UInt64
    var code_high: UInt64
    var page: UInt64
    var frames: UInt64
    var ranges: List[_Range]
    var adders: List[UInt64]

    def __init__(out self):
        self.enabled = False
        self.code_low = 0
        self.code_high = 0
        self.page = UInt64(external_call["getpagesize", Int32]())
        self.frames = external_call["calloc", UInt64](
            UInt64(_MOST_FRAMES), UInt64(8)
        )
        self.ranges = []
        self.adders = []

    def start(mut self, code_low: UInt64, code_high: UInt64, enabled: Bool):
        """Learn the program's code, and whether to check the order; `backtrace` is called once, since its first
        call is not safe in a signal handler.
        """
        self.enabled = enabled
        self.code_low = code_low
        self.code_high = code_high
        _ = external_call["backtrace", Int32](self.frames, Int32(_MOST_FRAMES))

    def callers(self) -> List[UInt64]:
        """Up to `MOST_CALLERS` return addresses in the program's own code, innermost first; then zeros.
        """
        if len(self.adders) > 0:
            return self.adders.copy()
        var found = List[UInt64]()
        var count = external_call["backtrace", Int32](
            self.frames, Int32(_MOST_FRAMES)
        )
        for index in range(Int(count)):
            var frame = at[UInt64](self.frames)[unsafe_offset=index]
            if self.code_low <= frame < self.code_high:
                found.append(frame)
            if len(found) == MOST_CALLERS:
                break
        while len(found) < MOST_CALLERS:
            found.append(NULL)
        return found^

    def add(mut self, address: UInt64, size: UInt64, access: Int32):
        """Work that the host has not waited for uses this pinned memory."""
        if size > 0:
            self.ranges.append(_Range(address, address + size, access))
            self._apply(address, address + size)

    def remove(mut self, address: UInt64, size: UInt64):
        """The host has waited for the work, has accessed the memory, or has freed it.
        """
        var kept = List[_Range]()
        for each in self.ranges:
            if each.overlaps(address, address + size):
                self._protect(each.low, each.high, READ_AND_WRITE)
            else:
                kept.append(each)
        self.ranges = kept^
        self._apply(self.page, UInt64.MAX - self.page)

    def touched(self, address: UInt64, size: UInt64) -> Bool:
        """Whether any of these bytes is in a page that may be protected."""
        for each in self.ranges:
            if each.overlaps(
                address & ~(self.page - 1),
                (address + size + self.page - 1) & ~(self.page - 1),
            ):
                return True
        return False

    def holds(self, address: UInt64) -> Bool:
        """Whether enqueued work uses this byte."""
        for each in self.ranges:
            if each.overlaps(address, address + 1):
                return True
        return False

    def unprotect(self, address: UInt64):
        """Make the page of an address accessible; for the signal handler, without any other change.
        """
        self._protect(address, address + 1, READ_AND_WRITE)

    def _apply(self, low: UInt64, high: UInt64):
        """Protect the pages of these bytes as the work that uses them requires.
        """
        for access in [READ_ONLY, NO_ACCESS]:
            for each in self.ranges:
                if each.access == access and each.overlaps(
                    low & ~(self.page - 1), high + self.page
                ):
                    self._protect(each.low, each.high, access)

    def _protect(self, low: UInt64, high: UInt64, access: Int32):
        var first = low & ~(self.page - 1)
        var size = (high - first + self.page - 1) & ~(self.page - 1)
        protect(first, size, access)
