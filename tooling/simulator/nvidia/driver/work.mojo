"""Work that is kept instead of done: the nodes of graphs, and what is captured from streams."""

comptime LAUNCH = 1
comptime MEMSET = 2
comptime COPY_HOST_TO_DEVICE = 3
comptime COPY_DEVICE_TO_HOST = 4
comptime COPY_DEVICE_TO_DEVICE = 5

comptime DO_IT = Int32(-1)
"""What `Session.keep` returns for a stream that is not captured: the call does its work now."""


struct Node(Copyable, Movable):
    """One piece of work.

    LAUNCH: `request` holds the bytes of the request. MEMSET: address, value, bytes of an element, elements of a
    row, rows, bytes from row to row. COPY_HOST_TO_DEVICE, COPY_DEVICE_TO_HOST and COPY_DEVICE_TO_DEVICE: destination, source, bytes.
    """

    var kind: Int
    var request: List[UInt8]
    var numbers: List[UInt64]

    def __init__(out self, kind: Int):
        self.kind = kind
        self.request = []
        self.numbers = []


def copy_node(
    kind: Int, destination: UInt64, source: UInt64, size: UInt64
) -> Node:
    """COPY_HOST_TO_DEVICE, COPY_DEVICE_TO_HOST or COPY_DEVICE_TO_DEVICE."""
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
    """MEMSET."""
    var node = Node(MEMSET)
    node.numbers.append(address)
    node.numbers.append(value)
    node.numbers.append(element)
    node.numbers.append(width)
    node.numbers.append(rows)
    node.numbers.append(pitch)
    return node^


struct Capture(Copyable, Movable):
    """Work captured from streams, in the order of the calls: each piece comes after all it waits for.
    """

    var origin: UInt64
    var broken: Bool
    var nodes: List[Node]

    def __init__(out self, origin: UInt64):
        self.origin = origin
        self.broken = False
        self.nodes = []
