"""What one process knows of its simulated GPU: the connection, the arena, live handles, a fault.

Everything here is guarded by one lock, because MAX calls the driver from several threads. A request holds
it until its reply is here: the simulator answers one request at a time anyway.
"""

from std.ffi import _Global, external_call

import protocol
from errors import (
    CAPTURE_INVALIDATED,
    DEVICE_UNAVAILABLE,
    INVALID_CONTEXT,
    NO_DEVICE,
    NOT_INITIALIZED,
    NOT_SUPPORTED,
    SUCCESS,
    describe,
)
from mapping import NO_PLACE, reserve, show
from wire import (
    NULL,
    Body,
    Reply,
    at,
    c_string,
    connect_to,
    errno,
    exchange,
    say,
    say_text,
    write_all,
)
from work import DO_IT, Capture, Node

comptime CONTEXT = UInt64(0x51000000)
"""The one context's handle. Handles are numbers that are no addresses, so that nobody can follow them."""


struct Function(Copyable, Movable):
    """A kernel: its number in the simulator, CUfunction_attribute 0 to 15, and where parameters lie.
    """

    var module: UInt64
    var attributes: List[Int32]
    var offsets: List[UInt32]
    var sizes: List[UInt32]

    def __init__(out self, module: UInt64):
        self.module = module
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
    """The process's state. `fault` is the error that every call returns once a kernel has failed.
    """

    var socket: Int32
    var gone: Bool
    var initialised: Bool
    var mutex: UInt64
    var current_key: UInt32
    var retained: Int
    var fault: Int32
    var unsynchronised: Bool
    var attributes: Dict[UInt32, Int32]
    var name: List[UInt8]
    var memory_bytes: UInt64
    var arena: UInt64
    var arena_file: String
    var next_handle: UInt64
    var streams: Dict[UInt64, UInt32]
    var events: Dict[UInt64, UInt32]
    var functions: Dict[UInt64, Function]
    var registered: Dict[UInt64, UInt64]
    var captures: Dict[UInt64, Capture]
    var under_capture: Dict[UInt64, UInt64]
    var captured_events: Dict[UInt64, UInt64]
    var graphs: Dict[UInt64, List[Node]]
    var executables: Dict[UInt64, List[Node]]

    def __init__(out self):
        self.socket = -1
        self.gone = False
        self.initialised = False
        # Zeros are PTHREAD_MUTEX_INITIALIZER.
        self.mutex = external_call["calloc", UInt64](UInt64(1), UInt64(64))
        self.current_key = 0
        var key = external_call["calloc", UInt64](UInt64(1), UInt64(8))
        if external_call["pthread_key_create", Int32](key, NULL) == 0:
            self.current_key = at[UInt32](key)[]
        external_call["free", NoneType](key)
        self.retained = 0
        self.fault = SUCCESS
        self.unsynchronised = False
        self.attributes = {}
        self.name = []
        self.memory_bytes = 0
        self.arena = 0
        self.arena_file = ""
        self.next_handle = CONTEXT + 16
        self.streams = {}
        self.events = {}
        self.functions = {}
        self.registered = {}
        self.captures = {}
        self.under_capture = {}
        self.captured_events = {}
        self.graphs = {}
        self.executables = {}

    # Contexts. There is one; each thread counts how often it pushed it.

    def context_depth(self) -> UInt64:
        """How many times this thread has the context on its stack."""
        return external_call["pthread_getspecific", UInt64](self.current_key)

    def set_context_depth(self, depth: UInt64):
        """Change this thread's context stack."""
        _ = external_call["pthread_setspecific", Int32](self.current_key, depth)

    def ready(self) -> Int32:
        """Whether a call that needs a context may go on: SUCCESS, or what it must return.
        """
        if self.gone:
            return DEVICE_UNAVAILABLE
        if not self.initialised:
            return NOT_INITIALIZED
        if self.context_depth() == 0:
            return INVALID_CONTEXT
        return self.fault

    def new_handle(mut self) -> UInt64:
        """A handle that was never given out."""
        self.next_handle += 16
        return self.next_handle

    def valid_stream(self, stream: UInt64) -> Bool:
        """Whether a CUstream is the default (0), legacy (1) or per-thread (2) one, or was created.
        """
        return stream <= 2 or stream in self.streams

    # Captures. A stream, and an event recorded in it, may belong to one.

    def keep(mut self, stream: UInt64, node: Node) -> Int32:
        """Keep work for the graph that a stream is captured into; DO_IT where it is not captured.
        """
        var found = self.under_capture.get(stream)
        if not found:
            return DO_IT
        try:
            if self.captures[found.value()].broken:
                return CAPTURE_INVALIDATED
            self.captures[found.value()].nodes.append(node.copy())
        except:
            return CAPTURE_INVALIDATED
        return SUCCESS

    def spoil(mut self, id: UInt64):
        """A call that waits came in the middle of a capture, which ends without a graph.
        """
        try:
            self.captures[id].broken = True
        except:
            pass  # it has ended, and left nothing to spoil

    def forget_capture(mut self, id: UInt64):
        """A capture ended: its streams and events are like others again."""
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
            pass  # they were there a moment ago, and the session is locked

    # The connection.

    def start(mut self) -> Int32:
        """Connect and map the arena; SUCCESS, or what cuInit must return. The reason goes to stderr.
        """
        if self.socket >= 0:
            return SUCCESS
        var socket_name = external_call["getenv", UInt64](
            "GPU_SIM_SOCKET".ptr()
        )
        if socket_name == NULL:
            say(
                "this libcuda.so.1 belongs to the simulated GPU; start the"
                " program through `tooling run`"
            )
            return NO_DEVICE
        self.socket = connect_to(c_string(socket_name))
        if self.socket < 0:
            say(
                "the simulator is not there any more (GPU_SIM_SOCKET names"
                " nobody who listens)"
            )
            return NO_DEVICE
        self.arena = reserve(protocol.ARENA_BASE, protocol.ARENA_BYTES)
        if self.arena == NO_PLACE:
            return self.refuse_memory(errno())
        var body = Body(protocol.HELLO)
        body.u64(protocol.MAGIC)
        body.u32(protocol.VERSION)
        body.u32(UInt32(external_call["getpid", Int32]()))
        body.u64(self.arena)
        var reply = self.request(body)
        var version = reply.u32()
        if reply.status != SUCCESS or version != protocol.VERSION:
            if not self.gone:
                say(
                    String(
                        "the simulator speaks protocol ",
                        version,
                        " and this driver ",
                        protocol.VERSION,
                    )
                    + "; they come from different versions of the tool: start"
                    " again with one of them"
                )
            self.hang_up()
            return NO_DEVICE
        var process = reply.u32()
        var descriptor = reply.u32()
        var count = reply.u32()
        self.memory_bytes = reply.u64()
        for _ in range(Int(count)):
            var number = reply.u32()
            self.attributes[number] = Int32(reply.u32())
        self.name = reply.rest()
        self.arena_file = String("/proc/", process, "/fd/", descriptor)
        var failed = show(self.arena_file, self.arena, protocol.ARENA_BYTES, 0)
        return SUCCESS if failed == 0 else self.refuse_memory(failed)

    def refuse_memory(mut self, reason: Int32) -> Int32:
        """Say that the arena has no place in this process, and hang up."""
        say(
            String(
                "the simulator's memory cannot be mapped (errno ", reason, ");"
            )
            + " is there a limit on the process's address space (ulimit -v)?"
        )
        self.hang_up()
        return NO_DEVICE

    def hang_up(mut self):
        """Close the connection."""
        if self.socket >= 0:
            _ = external_call["close", Int32](self.socket)
        self.socket = -1

    def request(mut self, mut body: Body) -> Reply:
        """One request and its reply. When the simulator is gone, every request says so by its status.
        """
        var reply = Reply(DEVICE_UNAVAILABLE)
        if self.gone or self.socket < 0:
            return reply^
        if not exchange(self.socket, body, reply):
            self.gone = True
            self.hang_up()
            say(
                "the simulator has gone away; it was stopped, or it failed (see"
                " what `tooling` printed)"
            )
            return Reply(DEVICE_UNAVAILABLE)
        write_all(1, reply.output)
        return reply^

    def ask(mut self, mut body: Body, expected: Int) -> Reply:
        """A request whose successful answer has at least `expected` bytes."""
        var reply = self.request(body)
        if reply.status == SUCCESS and len(reply.answer) < expected:
            say("the simulator's answer is too short; start again")
            self.gone = True
            self.hang_up()
            reply.status = DEVICE_UNAVAILABLE
        return reply^

    def launch(mut self, mut body: Body) -> Int32:
        """Send the request of a launch; why one was refused goes to stderr, as its status tells little.
        """
        self.unsynchronised = True
        var reply = self.request(body)
        if reply.status != SUCCESS and len(reply.answer) > 0:
            say_text(reply.answer)
        return reply.status

    def synchronise(mut self) -> Int32:
        """Learn how the launches since the last call ended; their output appears now, as on hardware.
        """
        if self.unsynchronised:
            self.unsynchronised = False
            var body = Body(protocol.SYNCHRONISE)
            self.fault = self.request(body).status
        return self.fault


def _new_session() -> Session:
    return Session()


comptime _SESSION = _Global["gpu_puzzle_lab_simulated_gpu", _new_session]


struct Locked:
    """`with Locked() as session:` gives this thread the session to itself until the block ends.

    It is no value that unlocks when it dies: Mojo ends a value's life at its last use, which would be before
    the request that the lock is for.
    """

    var session: Pointer[Session, MutUntrackedOrigin]

    def __init__(out self):
        try:
            self.session = at[Session](
                UInt64(Int(_SESSION.get_or_create_ptr()))
            )
        except:
            say("out of memory")
            external_call["abort", NoneType]()
            self.session = at[Session](16)

    def __enter__(self) -> Pointer[Session, MutUntrackedOrigin]:
        _ = external_call["pthread_mutex_lock", Int32](self.session[].mutex)
        return self.session

    def __exit__(self):
        _ = external_call["pthread_mutex_unlock", Int32](self.session[].mutex)


def unsupported(name: StaticString, why: StaticString = "") -> Int32:
    """Name a driver function that a program called and the simulated GPU does not have.
    """
    var reason = String(": ") + why if why.byte_length() else String("")
    say(String(name, " is not supported", reason))
    return NOT_SUPPORTED
