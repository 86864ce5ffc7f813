"""Deferred work: the nodes of graphs, and work captured from streams."""

comptime LAUNCH = 1
comptime MEMSET = 2
comptime COPY_HOST_TO_DEVICE = 3
comptime COPY_DEVICE_TO_HOST = 4
comptime COPY_DEVICE_TO_DEVICE = 5
comptime EMPTY = 6

comptime NOT_CAPTURED = Int32(-1)
"""What `Session.capture` returns for a stream that is not captured: the call does its work now."""


struct Node(Copyable, Movable):
    """One operation, with its arguments in `request` or `numbers`, in a graph.

    A node of a graph begins when the nodes `before` are done; `handle` is its own. `callers` are the return
    addresses of the call that added it, and `stream` is where an executable graph performs it, if the order
    of operations is reported.

    - LAUNCH: the bytes of the request.
    - MEMSET: address, value, bytes of an element, elements of a row, rows, bytes from row to row.
    - COPY_HOST_TO_DEVICE, COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_DEVICE: destination, source, bytes.
    - EMPTY: nothing.
    """

    var kind: Int
    var request: List[UInt8]
    var numbers: List[UInt64]
    var handle: UInt64
    var before: List[UInt64]
    var callers: List[UInt64]
    var stream: UInt64

    def __init__(out self, kind: Int):
        self.kind = kind
        self.request = []
        self.numbers = []
        self.handle = 0
        self.before = []
        self.callers = []
        self.stream = 0


def copy_node(
    kind: Int, destination: UInt64, source: UInt64, size: UInt64
) -> Node:
    """A copy; `kind` is one of the COPY constants."""
    var node = Node(kind)
    node.numbers.append(destination)
    node.numbers.append(source)
    node.numbers.append(size)
    return node^


def fill_node(
    address: UInt64,
    value: UInt64,
    element: UInt64,
    width: UInt64,
    rows: UInt64,
    pitch: UInt64,
) -> Node:
    """A MEMSET of `rows` rows of `width` elements, `pitch` bytes apart."""
    var node = Node(MEMSET)
    node.numbers.append(address)
    node.numbers.append(value)
    node.numbers.append(element)
    node.numbers.append(width)
    node.numbers.append(rows)
    node.numbers.append(pitch)
    return node^


struct Capture(Copyable, Movable):
    """Work captured from streams: each node follows the one of the call before.
    """

    var origin: UInt64
    var invalidated: Bool
    var nodes: List[Node]

    def __init__(out self, origin: UInt64):
        self.origin = origin
        self.invalidated = False
        self.nodes = []
