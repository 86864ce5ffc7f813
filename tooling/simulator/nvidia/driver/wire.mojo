"""The connection to the simulator: requests and replies in the format of `protocol.mojo`."""

from std.ffi import external_call

from protocol import MAX_PAYLOAD, REPLY_HEADER_BYTES, REQUEST_HEADER_BYTES

comptime NULL = UInt64(0)

comptime _AF_UNIX = Int32(1)
comptime _SOCK_STREAM_CLOEXEC = Int32(0x80001)
comptime _MSG_NOSIGNAL = Int32(0x4000)
comptime _MSG_CMSG_CLOEXEC = Int32(0x40000000)
comptime _SOL_SOCKET = Int32(1)
comptime _SCM_RIGHTS = Int32(1)
comptime _EINTR = Int32(4)
comptime _ADDRESS_BYTES = 110  # sizeof(struct sockaddr_un)


def at[T: AnyType](address: UInt64) -> Pointer[T, MutUntrackedOrigin]:
    """The `T` at an address from a caller of the C interface. The address must not be 0.
    """
    return Pointer[T, MutUntrackedOrigin](unsafe_from_address=Int(address))


def address_of(bytes: List[UInt8]) -> UInt64:
    """The address of a list's bytes.

    Mojo destroys a value after its last use, not at the end of the scope: the address is valid only until
    the last use of the list. Pass the list itself where a function takes one.
    """
    return UInt64(Int(bytes.unsafe_ptr()))


def put_bytes(destination: UInt64, bytes: List[UInt8], size: Int):
    """Write the first `size` bytes of a list to an address."""
    copy_bytes(destination, address_of(bytes), size)


def copy_bytes(destination: UInt64, source: UInt64, size: Int):
    """Move bytes between two addresses; the ranges may overlap."""
    if size > 0:
        _ = external_call["memmove", UInt64](destination, source, UInt64(size))


def c_string(address: UInt64) -> List[UInt8]:
    """The bytes of a C string, without the NUL."""
    var size = Int(external_call["strlen", UInt64](address))
    return bytes_at(address, size)


def bytes_at(address: UInt64, size: Int) -> List[UInt8]:
    """A copy of bytes."""
    var copy = List[UInt8](capacity=size)
    copy.resize(size, 0)
    copy_bytes(address_of(copy), address, size)
    return copy^


def write_all(descriptor: Int32, bytes: List[UInt8]):
    """Write bytes to a descriptor; errors are ignored."""
    var size = len(bytes)
    var address = address_of(bytes)
    var done = 0
    while done < size:
        # These types must match the standard library's own declaration of `write`.
        var rest = Pointer[UInt8, MutUntrackedOrigin](
            unsafe_from_address=Int(address) + done
        )
        var written = external_call["write", Int](descriptor, rest, size - done)
        if written < 0 and errno() == _EINTR:
            continue
        if written <= 0:
            return
        done += written


def print_error(message: String):
    """Write one line to standard error, with the prefix `simulated GPU:`."""
    var text = List[UInt8]()
    text.extend(message.as_bytes())
    print_error_bytes(text)


def print_error_bytes(text: List[UInt8]):
    """The same for the bytes of a message from the simulator."""
    var line = List[UInt8]()
    line.extend("simulated GPU: ".as_bytes())
    line.extend(Span(text))
    line.append(10)
    write_all(2, line)


def errno() -> Int32:
    """The value of errno in this thread."""
    return external_call[
        "__errno_location", Pointer[Int32, MutUntrackedOrigin]
    ]()[]


struct Body(Movable):
    """The bytes of a request under construction, header first."""

    var bytes: List[UInt8]

    def __init__(out self, opcode: UInt32, capacity: Int = 96):
        self.bytes = List[UInt8](capacity=capacity + REQUEST_HEADER_BYTES)
        self.u32(opcode)
        self.u32(0)

    def u32(mut self, value: UInt32):
        """Append a 32-bit number."""
        for shift in range(0, 32, 8):
            self.bytes.append(UInt8((value >> UInt32(shift)) & 255))

    def u64(mut self, value: UInt64):
        """Append a 64-bit number."""
        self.u32(UInt32(value & 0xFFFFFFFF))
        self.u32(UInt32(value >> 32))

    def raw(mut self, bytes: List[UInt8]):
        """Append bytes."""
        self.bytes.extend(Span(bytes))

    def seal(mut self):
        """Write the length of the completed request into its header."""
        at[UInt32](address_of(self.bytes) + 4)[] = UInt32(
            len(self.bytes) - REQUEST_HEADER_BYTES
        )


struct Reply(Movable):
    """A reply: the CUresult, the answer with a read position, and the output of kernels.
    """

    var status: Int32
    var answer: List[UInt8]
    var output: List[UInt8]
    var position: Int

    def __init__(out self, status: Int32):
        self.status = status
        self.answer = List[UInt8]()
        self.output = List[UInt8]()
        self.position = 0

    def u32(mut self) -> UInt32:
        """The next 32-bit number of the answer; 0 past its end."""
        if self.position + 4 > len(self.answer):
            return 0
        var value = at[UInt32](
            address_of(self.answer) + UInt64(self.position)
        ).unsafe_load[alignment=1]()
        self.position += 4
        return value

    def u64(mut self) -> UInt64:
        """The next 64-bit number of the answer; 0 past its end."""
        var low = UInt64(self.u32())
        return low | UInt64(self.u32()) << 32

    def rest(self) -> List[UInt8]:
        """A copy of the unread rest of the answer."""
        return bytes_at(
            address_of(self.answer) + UInt64(self.position),
            len(self.answer) - self.position,
        )


def is_path(name: List[UInt8]) -> Bool:
    """Whether the name of a socket is the path of a file, as in a sandbox."""
    return len(name) > 0 and name[0] == UInt8(ord("/"))


def connect_to(name: List[UInt8]) -> Int32:
    """A socket connected to the path or the abstract address `name`, or -1."""
    if len(name) == 0 or len(name) > _ADDRESS_BYTES - 3:
        return -1
    var address = List[UInt8](capacity=_ADDRESS_BYTES)
    address.append(UInt8(_AF_UNIX))
    address.append(0)
    if not is_path(name):
        # A leading NUL: the abstract namespace, which needs no file.
        address.append(0)
    address.extend(Span(name))
    if is_path(name):
        address.append(0)
    var descriptor = external_call["socket", Int32](
        _AF_UNIX, _SOCK_STREAM_CLOEXEC, Int32(0)
    )
    if descriptor < 0:
        return -1
    if not _connect(descriptor, address):
        _ = external_call["close", Int32](descriptor)
        return -1
    return descriptor


def _connect(descriptor: Int32, address: List[UInt8]) -> Bool:
    while (
        external_call["connect", Int32](
            descriptor, address_of(address), UInt32(len(address))
        )
        < 0
    ):
        if errno() != _EINTR:
            return False
    return True


def send_all(descriptor: Int32, bytes: List[UInt8]) -> Bool:
    """Send bytes; False if the connection is closed."""
    var done = 0
    while done < len(bytes):
        var sent = Int(
            external_call["send", Int64](
                descriptor,
                address_of(bytes) + UInt64(done),
                UInt64(len(bytes) - done),
                _MSG_NOSIGNAL,
            )
        )
        if sent < 0 and errno() == _EINTR:
            continue
        if sent <= 0:
            return False
        done += sent
    return True


def receive_into(descriptor: Int32, mut bytes: List[UInt8], size: Int) -> Bool:
    """Receive exactly `size` bytes; False if the connection is closed."""
    bytes.resize(size, 0)
    var done = 0
    while done < size:
        var received = Int(
            external_call["recv", Int64](
                descriptor,
                address_of(bytes) + UInt64(done),
                UInt64(size - done),
                Int32(0),
            )
        )
        if received < 0 and errno() == _EINTR:
            continue
        if received <= 0:
            return False
        done += received
    return True


def receive_descriptor(socket: Int32) -> Int32:
    """A file descriptor that the other side sends with one byte, or -1."""
    var byte = List[UInt8](length=8, fill=0)
    # struct iovec: address, length.
    var part = List[UInt8](length=16, fill=0)
    at[UInt64](address_of(part))[] = address_of(byte)
    at[UInt64](address_of(part) + 8)[] = 1
    # CMSG_SPACE(sizeof(int)): length, level, type, descriptor, padding.
    var control = List[UInt8](length=24, fill=0)
    # struct msghdr: name, its length, parts, their number, control data, its length, flags.
    var message = List[UInt8](length=56, fill=0)
    at[UInt64](address_of(message) + 16)[] = address_of(part)
    at[UInt64](address_of(message) + 24)[] = 1
    at[UInt64](address_of(message) + 32)[] = address_of(control)
    at[UInt64](address_of(message) + 40)[] = 24
    var received = Int64(-1)
    while True:
        received = external_call["recvmsg", Int64](
            socket, address_of(message), _MSG_CMSG_CLOEXEC
        )
        if received >= 0 or errno() != _EINTR:
            break
    var is_there = (
        received == 1
        and at[UInt64](address_of(message) + 40)[] >= 20
        and at[Int32](address_of(control) + 8)[] == _SOL_SOCKET
        and at[Int32](address_of(control) + 12)[] == _SCM_RIGHTS
    )
    var descriptor = at[Int32](address_of(control) + 16)[]
    # The kernel writes through the addresses above: the lists must live until here.
    _ = byte^
    _ = part^
    _ = control^
    _ = message^
    return descriptor if is_there else -1


def exchange(descriptor: Int32, mut body: Body, mut reply: Reply) -> Bool:
    """Send a request and receive its reply; False if the connection is closed or the reply is invalid.
    """
    body.seal()
    if not send_all(descriptor, body.bytes):
        return False
    var header = Reply(0)
    if not receive_into(descriptor, header.answer, REPLY_HEADER_BYTES):
        return False
    reply.status = Int32(header.u32())
    var answer = Int(header.u32())
    var output = Int(header.u32())
    if answer > MAX_PAYLOAD or output > MAX_PAYLOAD:
        return False
    return receive_into(descriptor, reply.answer, answer) and receive_into(
        descriptor, reply.output, output
    )
