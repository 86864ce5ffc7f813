"""The driver state of one process: the connection to the simulator, the arena, live handles, a fault.

One lock guards all of it, because MAX calls the driver from several threads. A request holds the lock until
its reply arrives: the simulator handles one request at a time anyway.
"""

from std.ffi import _Global, external_call

import protocol
from errors import (
    CAPTURE_INVALIDATED,
    DEVICE_UNAVAILABLE,
    INVALID_CONTEXT,
    NO_DEVICE,
    NOT_INITIALIZED,
    NOT_SIMULATED,
    NOT_SUPPORTED,
    SUCCESS,
    describe,
)
from pending import Pending
from mapping import (
    MAP_FAILED,
    NO_ACCESS,
    READ_AND_WRITE,
    exists,
    map_file,
    protect,
    reserve,
)
from wire import (
    NULL,
    Body,
    Reply,
    at,
    c_string,
    connect_to,
    errno,
    exchange,
    is_path,
    print_error,
    print_error_bytes,
    receive_descriptor,
    write_all,
)
from work import NOT_CAPTURED, Capture, Node

comptime CONTEXT = UInt64(0x51000000)
"""The handle of the first device's context; the next ones follow. Handles are not addresses, so no program can
dereference them."""

comptime MOST_CONTEXTS = UInt64(16)
"""The contexts that a thread's stack holds: four bits of a 64-bit word each."""

comptime _STREAM_DEVICE = UInt32(8)  # the bit of a stream's word above which its device is


struct Function(Copyable, Movable):
    """A kernel: its module, that module's device, CUfunction_attribute 0 to 15, and the offsets and sizes of its
    parameters.
    """

    var module: UInt64
    var device: Int32
    var attributes: List[Int32]
    var offsets: List[UInt32]
    var sizes: List[UInt32]

    def __init__(out self, module: UInt64, device: Int32):
        self.module = module
        self.device = device
        self.attributes = []
        self.offsets = []
        self.sizes = []

    def parameter_bytes(self) -> Int:
        """Size of the parameter block of a launch."""
        var end = UInt32(0)
        for index in range(len(self.offsets)):
            end = max(end, self.offsets[index] + self.sizes[index])
        return Int(end)


struct Session(Movable):
    """The driver state. `fault` is the error that every call returns after a kernel has failed.

    The arena's file is mapped twice. At `arena`, whose addresses are those of the device, the program can access
    pinned memory alone; at `window` the driver accesses all of it.

    With `implicit_context` (HIP) threads need not make a context current.

    Each device has one context, the primary one. `selected` is the device that the simulator was last sent.
    """

    var socket: Int32
    var pending: Pending
    var previous_action: UInt64
    var disconnected: Bool
    var initialised: Bool
    var implicit_context: Bool
    var mutex: UInt64
    var current_key: UInt32
    var devices: Int32
    var selected: Int32
    var peers: Dict[UInt32, Bool]
    var retained: Dict[Int32, Int]
    var fault: Int32
    var unsynchronised: Bool
    var asked_for_times: Bool
    var attributes: Dict[UInt32, Int32]
    var name: List[UInt8]
    var memory_bytes: UInt64
    var arena: UInt64
    var window: UInt64
    var arena_file: String
    var simulator: String  # a path that exists while the simulator's process runs
    var next_handle: UInt64
    var streams: Dict[UInt64, UInt32]
    var events: Dict[UInt64, UInt32]
    var modules: Dict[UInt64, Int32]  # the device of each
    var functions: Dict[UInt64, Function]
    var registered: Dict[UInt64, UInt64]
    var captures: Dict[UInt64, Capture]
    var under_capture: Dict[UInt64, UInt64]
    var captured_events: Dict[UInt64, UInt64]
    var graphs: Dict[UInt64, List[Node]]
    var executables: Dict[UInt64, List[Node]]

    def __init__(out self):
        self.socket = -1
        self.pending = Pending()
        self.previous_action = NULL
        self.disconnected = False
        self.initialised = False
        self.implicit_context = False
        # Zeros are PTHREAD_MUTEX_INITIALIZER.
        self.mutex = external_call["calloc", UInt64](UInt64(1), UInt64(64))
        self.current_key = 0
        var key = external_call["calloc", UInt64](UInt64(1), UInt64(8))
        if external_call["pthread_key_create", Int32](key, NULL) == 0:
            self.current_key = at[UInt32](key)[]
        external_call["free", NoneType](key)
        self.devices = 1
        self.selected = 0
        self.peers = {}
        self.retained = {}
        self.fault = SUCCESS
        self.unsynchronised = False
        self.asked_for_times = False
        self.attributes = {}
        self.name = []
        self.memory_bytes = 0
        self.arena = 0
        self.window = 0
        self.arena_file = ""
        self.simulator = ""
        self.next_handle = CONTEXT + 16
        self.streams = {}
        self.events = {}
        self.modules = {}
        self.functions = {}
        self.registered = {}
        self.captures = {}
        self.under_capture = {}
        self.captured_events = {}
        self.graphs = {}
        self.executables = {}

    # Contexts: each thread has a stack of them, of which the top is current.

    def contexts(self) -> UInt64:
        """This thread's stack: four bits for each context, the lowest for the top; 1 is that of device 0.
        """
        return external_call["pthread_getspecific", UInt64](self.current_key)

    def set_contexts(self, stack: UInt64):
        """Set this thread's stack of contexts."""
        _ = external_call["pthread_setspecific", Int32](self.current_key, stack)

    def push_context(self, device: Int32) -> Bool:
        """Push the context of a device; False if the stack is full."""
        var stack = self.contexts()
        if stack >> (4 * (MOST_CONTEXTS - 1)) != 0:
            return False
        self.set_contexts(stack << 4 | UInt64(device + 1))
        return True

    def device(self) -> Int32:
        """The device of this thread's current context; 0 without one."""
        var top = self.contexts() & 15
        return Int32(top) - 1 if top != 0 else 0

    def device_of(self, context: UInt64) -> Int32:
        """The device of a context, or -1 if it is not the handle of one."""
        var valid = CONTEXT <= context < CONTEXT + UInt64(self.devices)
        return Int32(context - CONTEXT) if valid else -1

    def current_context(self) -> UInt64:
        """The current context of this thread, or 0."""
        if self.contexts() == 0:
            return NULL
        return CONTEXT + UInt64(self.device())

    def is_device(self, number: Int32) -> Bool:
        """Whether there is a device with this number."""
        return number >= 0 and number < self.devices

    def lack_device(self, number: Int32):
        """Report that the program asks for a device that there is not."""
        print_error(
            String(
                "the program asks for GPU ",
                number,
                ", and there are ",
                self.devices,
                " (counted from 0)",
            )
        )

    def select(mut self, device: Int32):
        """Send the device to which the modules and the memory of the next requests belong.
        """
        if device != self.selected:
            self.selected = device
            var body = Body(protocol.SELECT_DEVICE)
            body.u32(UInt32(device))
            _ = self.request(body)

    def stream_device(self, stream: UInt64) -> Int32:
        """The device of a stream; a default stream is that of the current context.
        """
        if stream <= 2:
            return self.device()
        return Int32(self.streams.get(stream, 0) >> _STREAM_DEVICE)

    def stream_number(self, stream: UInt64) -> UInt64:
        """The stream's number for the simulator: each device has its own default streams.
        """
        if stream > 2:
            return stream
        return stream | UInt64(self.device()) << protocol.DEVICE_SHIFT

    def add_stream(mut self, flags: UInt32) -> UInt64:
        """A new stream of the current device, with the flags of cuStreamCreate.
        """
        var handle = self.new_handle()
        var device = self.device()
        self.streams[handle] = flags | UInt32(device) << _STREAM_DEVICE
        self.order(
            protocol.CREATE_STREAM, handle, UInt64(flags) | UInt64(device) << 32
        )
        return handle

    def ready(self) -> Int32:
        """SUCCESS if a call that needs a context may proceed, otherwise the code to return.
        """
        if self.disconnected:
            return DEVICE_UNAVAILABLE
        if not self.initialised:
            return NOT_INITIALIZED
        if not self.implicit_context and self.contexts() == 0:
            return INVALID_CONTEXT
        return self.fault

    def new_handle(mut self) -> UInt64:
        """A new handle."""
        self.next_handle += 16
        return self.next_handle

    def valid_stream(self, stream: UInt64) -> Bool:
        """Whether a CUstream is the default (0), legacy (1) or per-thread (2) stream, or one that was created.
        """
        return stream <= 2 or stream in self.streams

    # Captures. A stream, and an event recorded in it, may belong to one.

    def capture(mut self, stream: UInt64, node: Node) -> Int32:
        """Add work to the graph that a stream is captured into; NOT_CAPTURED if there is none.
        """
        var found = self.under_capture.get(stream)
        if not found:
            return NOT_CAPTURED
        try:
            if self.captures[found.value()].invalidated:
                return CAPTURE_INVALIDATED
            var added = self.in_graph(node)
            ref nodes = self.captures[found.value()].nodes
            if len(nodes) > 0:
                added.before.append(nodes[len(nodes) - 1].handle)
            nodes.append(added^)
        except:
            return CAPTURE_INVALIDATED
        return SUCCESS

    def in_graph(mut self, node: Node) -> Node:
        """The node with a handle and with the callers that add it, without dependencies.
        """
        var added = node.copy()
        added.handle = self.new_handle()
        added.before = []
        if self.reports_order():
            added.callers = self.pending.callers()
        return added^

    def invalidate(mut self, id: UInt64):
        """Invalidate a capture, because of a call that synchronises: it ends without a graph.
        """
        try:
            self.captures[id].invalidated = True
        except:
            pass  # the capture has ended

    def forget_capture(mut self, id: UInt64):
        """Remove the streams and events of a capture that has ended."""
        var streams = List[UInt64]()
        for entry in self.under_capture.items():
            if entry.value == id:
                streams.append(entry.key)
        var events = List[UInt64]()
        for entry in self.captured_events.items():
            if entry.value == id:
                events.append(entry.key)
        try:
            for stream in streams:
                _ = self.under_capture.pop(stream)
            for event in events:
                _ = self.captured_events.pop(event)
        except:
            pass  # cannot happen: the keys were just read, and the session is locked

    # The connection.

    def start(mut self) -> Int32:
        """Connect and map the arena; SUCCESS, or the result of cuInit, with the reason on stderr.
        """
        if self.socket >= 0:
            return SUCCESS
        var socket_name = external_call["getenv", UInt64](
            "GPU_SIM_SOCKET".ptr()
        )
        if socket_name == NULL:
            print_error(
                "this libcuda.so.1 belongs to the simulated GPU; start the"
                " program through `tooling run`"
            )
            return NO_DEVICE
        var address = c_string(socket_name)
        self.socket = connect_to(address)
        if self.socket < 0:
            print_error(
                "the simulator is not running: cannot connect to the socket"
                " that GPU_SIM_SOCKET names"
            )
            return NO_DEVICE
        self.arena = reserve(protocol.ARENA_BASE, protocol.ARENA_BYTES)
        if self.arena == MAP_FAILED:
            return self.fail_to_map(errno())
        self.window = reserve(
            self.arena + protocol.ARENA_BYTES, protocol.ARENA_BYTES
        )
        if self.window == MAP_FAILED:
            return self.fail_to_map(errno())
        var body = Body(protocol.HELLO)
        body.u64(protocol.MAGIC)
        body.u32(protocol.VERSION)
        body.u32(UInt32(external_call["getpid", Int32]()))
        body.u64(self.arena)
        var reply = self.request(body)
        var version = reply.u32()
        if reply.status != SUCCESS or version != protocol.VERSION:
            if not self.disconnected:
                print_error(
                    String(
                        "the simulator uses protocol version ",
                        version,
                        ", but this driver version ",
                        protocol.VERSION,
                    )
                    + "; they are from different versions of the tool: start"
                    " again with one of them"
                )
            self.disconnect()
            return NO_DEVICE
        var process = reply.u32()
        var descriptor = reply.u32()
        var count = reply.u32()
        self.memory_bytes = reply.u64()
        var code_low = reply.u64()
        var code_high = reply.u64()
        self.pending.start(code_low, code_high, reply.u32() != 0)
        self.devices = Int32(reply.u32())
        for _ in range(Int(count)):
            var number = reply.u32()
            self.attributes[number] = Int32(reply.u32())
        self.name = reply.rest()
        if is_path(address):  # of a sandbox, in which the simulator's process is not visible
            var own = receive_descriptor(self.socket)
            self.arena_file = String("/proc/self/fd/", own)
        else:
            self.arena_file = String("/proc/", process, "/fd/", descriptor)
            self.simulator = String("/proc/", process, "/exe")
        var failed = map_file(
            self.arena_file, self.arena, protocol.ARENA_BYTES, 0, NO_ACCESS
        )
        if failed == 0:
            failed = map_file(
                self.arena_file, self.window, protocol.ARENA_BYTES, 0
            )
        return SUCCESS if failed == 0 else self.fail_to_map(failed)

    def fail_to_map(mut self, reason: Int32) -> Int32:
        """Report that the arena cannot be mapped, and disconnect."""
        print_error(
            String(
                "the simulator's memory cannot be mapped (errno ", reason, ");"
            )
            + " is there a limit on the process's address space (ulimit -v)?"
        )
        self.disconnect()
        return NO_DEVICE

    def disconnect(mut self):
        """Close the connection."""
        if self.socket >= 0:
            _ = external_call["close", Int32](self.socket)
        self.socket = -1

    def request(mut self, mut body: Body) -> Reply:
        """Send a request and return its reply; without a connection its status is DEVICE_UNAVAILABLE.
        """
        var reply = Reply(DEVICE_UNAVAILABLE)
        if self.disconnected or self.socket < 0:
            return reply^
        if not exchange(self.socket, body, reply):
            self.disconnected = True
            self.disconnect()
            if self.simulator and not exists(self.simulator):
                # An error would make the program write a stack trace to temporary files while the tool's guard
                # kills it.
                end_program()
            print_error(
                "the connection to the simulator was closed; it was stopped,"
                " or it failed (see the output of `tooling`)"
            )
            return Reply(DEVICE_UNAVAILABLE)
        write_all(1, reply.output)
        if reply.status == NOT_SIMULATED:
            end_program()
        return reply^

    def ask(mut self, mut body: Body, expected: Int) -> Reply:
        """Send a request whose reply has at least `expected` bytes if it succeeds.
        """
        var reply = self.request(body)
        if reply.status == SUCCESS and len(reply.answer) < expected:
            print_error("the simulator's reply is too short; start again")
            self.disconnected = True
            self.disconnect()
            reply.status = DEVICE_UNAVAILABLE
        return reply^

    def reports_order(self) -> Bool:
        """Whether the simulator checks the order of streams and the host, or, with several devices, needs it.
        """
        return self.pending.enabled or self.devices > 1

    def moves_bytes(self) -> Bool:
        """Whether this library moves the bytes of copies; with several devices the simulator does, later.
        """
        return self.devices == 1

    def happened(mut self, event: UInt64) -> Int32:
        """SUCCESS if an event has happened, or NOT_READY; with one device it always has.
        """
        if self.devices == 1:
            return SUCCESS
        var body = Body(protocol.ORDER)
        body.u32(protocol.QUERY_EVENT)
        body.u64(NULL)
        body.u64(event)
        return self.request(body).status

    def announce(mut self, stream: UInt64, waits: Bool, host: UInt64):
        """Send the stream of the next request's work, whether the call waits for it, the host's side of a copy,
        and the program's own callers; only if the simulator checks the order.
        """
        if not self.reports_order():
            return
        var body = Body(protocol.CALL)
        body.u64(self.stream_number(stream))
        body.u32(UInt32(waits))
        body.u64(host)
        for caller in self.pending.callers():
            body.u64(caller)
        self._send_order(body)

    def order(mut self, action: UInt32, stream: UInt64, event: UInt64):
        """Send what orders streams and the host."""
        if not self.reports_order():
            return
        var body = Body(protocol.ORDER)
        body.u32(action)
        body.u64(self.stream_number(stream))
        body.u64(event)
        self._send_order(body)

    def _send_order(mut self, mut body: Body):
        var reply = self.request(body)
        while reply.position < len(reply.answer):
            var address = reply.u64()
            self.pending.remove(address, reply.u64())

    def in_arena(self, address: UInt64) -> Bool:
        """Whether an address is of device memory or pinned memory; for pinned memory a copy does not wait.
        """
        return self.arena <= address < self.arena + protocol.ARENA_BYTES

    def accessible(self, address: UInt64) -> UInt64:
        """Where the driver itself accesses the byte at an address of the program or the device.
        """
        if self.in_arena(address):
            return address - self.arena + self.window
        return address

    def let_access(self, address: UInt64, size: UInt64):
        """Let the program access new pinned memory, which has pages of its own.
        """
        var page = self.pending.page
        protect(address, (size + page - 1) & ~(page - 1), READ_AND_WRITE)

    def launch(mut self, mut body: Body, stream: UInt64) -> Int32:
        """Send the request of a launch; the reason for a rejected launch goes to stderr.
        """
        self.announce(stream, False, NULL)
        self.unsynchronised = True
        var reply = self.request(body)
        if reply.status != SUCCESS and len(reply.answer) > 0:
            print_error_bytes(reply.answer)
        while reply.status == SUCCESS and reply.position < len(reply.answer):
            var address = reply.u64()
            var size = reply.u64()
            self.pending.add(address, size, Int32(reply.u32()))
        return reply.status

    def synchronise(mut self) -> Int32:
        """Return the result of the launches since the last call; their output appears now, as on hardware.
        """
        if self.unsynchronised or self.devices > 1:
            self.unsynchronised = False
            var body = Body(protocol.SYNCHRONISE)
            self.fault = self.request(body).status
        return self.fault


def end_program():
    """End the program at once, with what it has written: an error would make its runtime report a crash.
    """
    _ = external_call["fflush", Int32](NULL)
    external_call["_exit", NoneType](Int32(1))


def _new_session() -> Session:
    return Session()


comptime _SESSION = _Global["gpu_puzzle_lab_simulated_gpu", _new_session]


def the_session() -> Pointer[Session, MutUntrackedOrigin]:
    """The session, without its lock."""
    try:
        return at[Session](UInt64(Int(_SESSION.get_or_create_ptr())))
    except:
        print_error("out of memory")
        external_call["abort", NoneType]()
        return at[Session](16)


struct Locked:
    """`with Locked() as session:` locks the session until the block ends.

    A value that unlocks in its destructor would not do: Mojo destroys a value after its last use, before the
    request that the lock is for.
    """

    var session: Pointer[Session, MutUntrackedOrigin]

    def __init__(out self):
        self.session = the_session()

    def __enter__(self) -> Pointer[Session, MutUntrackedOrigin]:
        _ = external_call["pthread_mutex_lock", Int32](self.session[].mutex)
        return self.session

    def __exit__(self):
        _ = external_call["pthread_mutex_unlock", Int32](self.session[].mutex)


def unsupported(name: StaticString, why: StaticString = "") -> Int32:
    """Report a call of an unsupported driver function, and return NOT_SUPPORTED.
    """
    var reason = String(": ") + why if why.byte_length() else String("")
    print_error(String(name, " is not supported", reason))
    return NOT_SUPPORTED
