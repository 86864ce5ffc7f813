"""Graphs: work captured from streams or added node by node (CUDA driver API: "Graph Management").

A graph is a list of nodes in the order of their creation. Since a node depends only on earlier nodes, this
order satisfies all dependencies. If the simulator checks the order of operations, each node is performed in
a stream that waits for the node's dependencies alone: what no dependency orders is reported.
"""

from errors import (
    CAPTURE_INVALIDATED,
    CAPTURE_UNMATCHED,
    CAPTURE_UNSUPPORTED,
    ILLEGAL_STATE,
    INVALID_HANDLE,
    INVALID_VALUE,
    SUCCESS,
)
from memory import copy_on_device, download, fill, upload
from modules import Shape, launch_request, relaunch, shape_at
import protocol
from session import Locked, Session, unsupported
from wire import NULL, Body, at
from work import (
    COPY_DEVICE_TO_DEVICE,
    COPY_DEVICE_TO_HOST,
    EMPTY,
    MEMSET,
    LAUNCH,
    COPY_HOST_TO_DEVICE,
    Capture,
    Node,
    copy_node,
    fill_node,
)

comptime _HOST_MEMORY = UInt32(1)


@export("cuStreamBeginCapture")
def cuStreamBeginCapture(stream: UInt64, mode: UInt32) abi("C") -> Int32:
    """The cuStreamBeginCapture of the driver API; every mode behaves as the relaxed one.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if mode > 2:
            return INVALID_VALUE
        if stream < 2:
            return CAPTURE_UNSUPPORTED
        if not session[].valid_stream(stream):
            return INVALID_HANDLE
        if stream in session[].under_capture:
            return ILLEGAL_STATE
        var id = session[].new_handle()
        session[].captures[id] = Capture(stream)
        session[].under_capture[stream] = id
        return SUCCESS


@export("cuStreamEndCapture")
def cuStreamEndCapture(stream: UInt64, graph: UInt64) abi("C") -> Int32:
    """The cuStreamEndCapture of the driver API."""
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var found = session[].under_capture.get(stream)
        if not found:
            return ILLEGAL_STATE
        if graph == NULL:
            return INVALID_VALUE
        var id = found.value()
        try:
            if session[].captures[id].origin != stream:
                return CAPTURE_UNMATCHED
            var capture = session[].captures.pop(id)
            session[].forget_capture(id)
            at[UInt64](graph)[] = NULL
            if capture.invalidated:
                return CAPTURE_INVALIDATED
            var handle = session[].new_handle()
            session[].graphs[handle] = capture.nodes.copy()
            at[UInt64](graph)[] = handle
        except:
            return ILLEGAL_STATE
        return SUCCESS


@export("cuGraphCreate")
def cuGraphCreate(graph: UInt64, flags: UInt32) abi("C") -> Int32:
    """The cuGraphCreate of the driver API."""
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if graph == NULL or flags != 0:
            return INVALID_VALUE
        var handle = session[].new_handle()
        session[].graphs[handle] = List[Node]()
        at[UInt64](graph)[] = handle
        return SUCCESS


def add_node(
    handle: UInt64, graph: UInt64, before: UInt64, count: UInt64, node: Node
) -> Int32:
    """Append a node to a graph, behind `count` others, and write its handle."""
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if handle == NULL or graph not in session[].graphs:
            return INVALID_VALUE
        var added = session[].in_graph(node)
        added.before = _handles(before, count)
        at[UInt64](handle)[] = added.handle
        try:
            session[].graphs[graph].append(added^)
        except:
            return INVALID_VALUE
        return SUCCESS


def _handles(handles: UInt64, count: UInt64) -> List[UInt64]:
    var found = List[UInt64]()
    if handles != NULL:
        for index in range(Int(count)):
            found.append(at[UInt64](handles)[unsafe_offset=index])
    return found^


@export("cuGraphAddEmptyNode")
def cuGraphAddEmptyNode(
    node: UInt64, graph: UInt64, before: UInt64, count: UInt64
) abi("C") -> Int32:
    """The cuGraphAddEmptyNode of the driver API."""
    return add_node(node, graph, before, count, Node(EMPTY))


@export("cuGraphAddKernelNode")
def cuGraphAddKernelNode(
    node: UInt64,
    graph: UInt64,
    before: UInt64,
    count: UInt64,
    parameters: UInt64,
) abi("C") -> Int32:
    """The cuGraphAddKernelNode of the driver API: CUDA_KERNEL_NODE_PARAMS; the arguments are copied.
    """
    if parameters == NULL:
        return INVALID_VALUE
    var made = Node(LAUNCH)
    with Locked() as session:
        # function, grid 3 x u32, block 3 x u32, shared bytes u32, pointers (at 40), extra.
        var body = Body(0)
        var status = launch_request(
            session[],
            body,
            at[UInt64](parameters)[],
            shape_at(parameters + 8),
            shape_at(parameters + 20),
            Shape(1, 1, 1),
            False,
            at[UInt32](parameters + 32)[],
            NULL,
            at[UInt64](parameters + 40)[],
            at[UInt64](parameters + 48)[],
        )
        if status != SUCCESS:
            return status
        made.request = body.bytes.copy()
    return add_node(node, graph, before, count, made)


@export("cuGraphAddMemsetNode")
def cuGraphAddMemsetNode(
    node: UInt64,
    graph: UInt64,
    before: UInt64,
    count: UInt64,
    parameters: UInt64,
    context: UInt64,
) abi("C") -> Int32:
    """The cuGraphAddMemsetNode of the driver API: CUDA_MEMSET_NODE_PARAMS."""
    if parameters == NULL:
        return INVALID_VALUE
    # address, pitch, value u32, bytes of an element u32, width in elements, height.
    var element = UInt64(at[UInt32](parameters + 20)[])
    if element != 1 and element != 2 and element != 4:
        return INVALID_VALUE
    return add_node(
        node,
        graph,
        before,
        count,
        fill_node(
            at[UInt64](parameters)[],
            UInt64(at[UInt32](parameters + 16)[]),
            element,
            at[UInt64](parameters + 24)[],
            at[UInt64](parameters + 32)[],
            at[UInt64](parameters + 8)[],
        ),
    )


@export("cuGraphAddMemcpyNode")
def cuGraphAddMemcpyNode(
    node: UInt64,
    graph: UInt64,
    before: UInt64,
    count: UInt64,
    parameters: UInt64,
    context: UInt64,
) abi("C") -> Int32:
    """The cuGraphAddMemcpyNode of the driver API: CUDA_MEMCPY3D with device memory, without CUDA arrays.
    """
    if parameters == NULL:
        return INVALID_VALUE
    var source = parameters
    var target = parameters + 88
    var from_host = at[UInt32](source + 32)[] == _HOST_MEMORY
    var to_host = at[UInt32](target + 32)[] == _HOST_MEMORY
    if (
        at[UInt64](source + 56)[] != NULL
        or at[UInt64](target + 56)[] != NULL
        or (from_host and to_host)
    ):
        return unsupported(
            "cuGraphAddMemcpyNode",
            "it copies between device memory and the host only",
        )
    var kind = (
        COPY_HOST_TO_DEVICE if from_host else COPY_DEVICE_TO_HOST if to_host else COPY_DEVICE_TO_DEVICE
    )
    var width = at[UInt64](parameters + 176)[]
    var status = SUCCESS
    for layer in range(at[UInt64](parameters + 192)[]):
        for row in range(at[UInt64](parameters + 184)[]):
            if status == SUCCESS:
                # Each row follows the one before; the node is the last of them.
                var first = layer == 0 and row == 0
                status = add_node(
                    node,
                    graph,
                    before if first else node,
                    count if first else 1,
                    copy_node(
                        kind,
                        _row_address(target, to_host, row, layer),
                        _row_address(source, from_host, row, layer),
                        width,
                    ),
                )
    return status


def _row_address(
    side: UInt64, host: Bool, row: UInt64, layer: UInt64
) -> UInt64:
    """The address of a row of one side of a CUDA_MEMCPY3D.

    x, y, z, level of detail, memory type u32, host, device (at 48), array, reserved, pitch (at 72), height.
    """
    var base = at[UInt64](side + (UInt64(40) if host else UInt64(48)))[]
    var pitch = at[UInt64](side + 72)[]
    var height = at[UInt64](side + 80)[]
    var y = at[UInt64](side + 8)[] + row
    var z = at[UInt64](side + 16)[] + layer
    return base + at[UInt64](side)[] + (y + z * height) * pitch


@export("cuGraphAddChildGraphNode")
def cuGraphAddChildGraphNode(
    node: UInt64, graph: UInt64, before: UInt64, count: UInt64, child: UInt64
) abi("C") -> Int32:
    """The cuGraphAddChildGraphNode of the driver API: the child's nodes are copied.

    The node itself is an empty one behind all of them.
    """
    var end = Node(EMPTY)
    var all = _handles(before, count)
    with Locked() as session:
        try:
            for each in session[].graphs[child].copy():
                var copied = each.copy()
                if len(copied.before) == 0:
                    copied.before = _handles(before, count)
                all.append(copied.handle)
                session[].graphs[graph].append(copied^)
        except:
            return INVALID_VALUE
    return add_node(
        node, graph, UInt64(Int(all.unsafe_ptr())), UInt64(len(all)), end
    )


@export("cuGraphInstantiateWithFlags")
def cuGraphInstantiateWithFlags(
    executable: UInt64, graph: UInt64, flags: UInt64
) abi("C") -> Int32:
    """The cuGraphInstantiateWithFlags of the driver API."""
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if executable == NULL:
            return INVALID_VALUE
        try:
            var nodes = session[].graphs[graph].copy()
            var handle = session[].new_handle()
            if session[].reports_order():
                _give_streams(session[], nodes)
            session[].executables[handle] = nodes^
            at[UInt64](executable)[] = handle
        except:
            return INVALID_VALUE
        return SUCCESS


def _give_streams(mut session: Session, mut nodes: List[Node]):
    """Chooses where nodes are performed: behind the first dependency that no other node follows in its stream,
    else in a new stream.
    """
    var streams = Dict[UInt64, UInt64]()  # of each node so far
    var last = Dict[UInt64, UInt64]()  # of each stream, the last node
    for ref node in nodes:
        node.stream = NULL
        for each in node.before:
            var stream = streams.get(each).or_else(NULL)
            if stream != NULL and last.get(stream).or_else(NULL) == each:
                node.stream = stream
                break
        if node.stream == NULL:
            node.stream = session.add_stream(
                protocol.NON_BLOCKING | protocol.OF_GRAPH
            )
        streams[node.handle] = node.stream
        last[node.stream] = node.handle


@export("cuGraphInstantiate")
def cuGraphInstantiate(
    executable: UInt64, graph: UInt64, wrong: UInt64, log: UInt64, size: UInt64
) abi("C") -> Int32:
    """The cuGraphInstantiate of the driver API, in its first version: the log is always empty.
    """
    if log != NULL and size > 0:
        at[UInt8](log)[] = 0
    return cuGraphInstantiateWithFlags(executable, graph, 0)


@export("cuGraphInstantiateWithParams")
def cuGraphInstantiateWithParams(
    executable: UInt64, graph: UInt64, parameters: UInt64
) abi("C") -> Int32:
    """The cuGraphInstantiateWithParams of the driver API."""
    if parameters == NULL:
        return INVALID_VALUE
    var status = cuGraphInstantiateWithFlags(executable, graph, 0)
    # flags u64, upload stream, node in error, result u32: success 0, error 1.
    at[UInt32](parameters + 24)[] = UInt32(status != SUCCESS)
    return status


@export("cuGraphLaunch")
def cuGraphLaunch(executable: UInt64, stream: UInt64) abi("C") -> Int32:
    """The cuGraphLaunch of the driver API: performs the work, or adds it to the capture of the stream.
    """
    var nodes = List[Node]()
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if not session[].valid_stream(stream):
            return INVALID_HANDLE
        try:
            nodes = session[].executables[executable].copy()
        except:
            return INVALID_VALUE
        if stream in session[].under_capture:
            for node in nodes:
                status = session[].capture(stream, node)
                if status != SUCCESS:
                    return status
            return SUCCESS
    # The handle of the executable graph is the event before its nodes, and that of a node the one behind it.
    _order(protocol.RECORD_EVENT, stream, executable)
    for node in nodes:
        var own = stream if node.stream == NULL else node.stream
        _order(protocol.STREAM_WAITS, own, executable)
        for each in node.before:
            _order(protocol.STREAM_WAITS, own, each)
        _set_adders(node.callers)
        var status = _perform(node, own)
        _set_adders([])
        if status != SUCCESS:
            return status
        _order(protocol.RECORD_EVENT, own, node.handle)
    for node in nodes:
        _order(protocol.STREAM_WAITS, stream, node.handle)
    return SUCCESS


def _order(action: UInt32, stream: UInt64, event: UInt64):
    with Locked() as session:
        session[].order(action, stream, event)


def _set_adders(callers: List[UInt64]):
    with Locked() as session:
        session[].pending.adders = callers.copy()


def _perform(node: Node, stream: UInt64) -> Int32:
    """Perform the work of one node."""
    ref numbers = node.numbers
    if node.kind == EMPTY:
        return SUCCESS
    if node.kind == LAUNCH:
        return relaunch(node.request, stream)
    if node.kind == COPY_HOST_TO_DEVICE:
        return upload(numbers[0], numbers[1], numbers[2], True, stream)
    if node.kind == COPY_DEVICE_TO_HOST:
        return download(numbers[0], numbers[1], numbers[2], True, stream)
    if node.kind == COPY_DEVICE_TO_DEVICE:
        return copy_on_device(numbers[0], numbers[1], numbers[2], stream)
    if numbers[2] == 1:
        return fill[DType.uint8](
            numbers[0],
            UInt8(numbers[1] & 255),
            numbers[3],
            numbers[4],
            numbers[5],
            stream,
        )
    if numbers[2] == 2:
        return fill[DType.uint16](
            numbers[0],
            UInt16(numbers[1] & 65535),
            numbers[3],
            numbers[4],
            numbers[5],
            stream,
        )
    return fill[DType.uint32](
        numbers[0],
        UInt32(numbers[1]),
        numbers[3],
        numbers[4],
        numbers[5],
        stream,
    )


@export("cuGraphDestroy")
def cuGraphDestroy(graph: UInt64) abi("C") -> Int32:
    """The cuGraphDestroy of the driver API; executable graphs stay valid."""
    with Locked() as session:
        try:
            _ = session[].graphs.pop(graph)
        except:
            return INVALID_VALUE
        return SUCCESS


@export("cuGraphExecDestroy")
def cuGraphExecDestroy(executable: UInt64) abi("C") -> Int32:
    """The cuGraphExecDestroy of the driver API."""
    with Locked() as session:
        try:
            for node in session[].executables.pop(executable):
                if node.stream in session[].streams:
                    _ = session[].streams.pop(node.stream)
        except:
            return INVALID_VALUE
        return SUCCESS


@export("cuDeviceGetGraphMemAttribute")
def cuDeviceGetGraphMemAttribute(
    device: Int32, attribute: Int32, value: UInt64
) abi("C") -> Int32:
    """The cuDeviceGetGraphMemAttribute of the driver API: 0, since graphs own no memory.
    """
    if device != 0 or attribute < 0 or attribute > 3 or value == NULL:
        return INVALID_VALUE
    at[UInt64](value)[] = 0
    return SUCCESS
