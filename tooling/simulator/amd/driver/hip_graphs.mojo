"""Graphs (HIP runtime API: "Graph Management"), as in the CUDA stand-in; work is not captured from streams."""

from errors import INVALID_VALUE, SUCCESS
from graphs import (
    add_node,
    cuGraphAddEmptyNode,
    cuGraphCreate,
    cuGraphDestroy,
    cuGraphExecDestroy,
    cuGraphInstantiate,
    cuGraphInstantiateWithFlags,
    cuGraphLaunch,
)
from modules import Shape, launch_request, shape_at
from session import Locked
from wire import NULL, Body, at
from work import (
    COPY_DEVICE_TO_DEVICE,
    COPY_DEVICE_TO_HOST,
    COPY_HOST_TO_DEVICE,
    LAUNCH,
    Node,
    copy_node,
    fill_node,
)


@export("hipGraphCreate")
def hipGraphCreate(graph: UInt64, flags: UInt32) abi("C") -> Int32:
    """The hipGraphCreate of the runtime API."""
    return cuGraphCreate(graph, flags)


@export("hipGraphAddEmptyNode")
def hipGraphAddEmptyNode(
    node: UInt64, graph: UInt64, before: UInt64, count: UInt64
) abi("C") -> Int32:
    """The hipGraphAddEmptyNode of the runtime API."""
    return cuGraphAddEmptyNode(node, graph, before, count)


@export("hipGraphAddKernelNode")
def hipGraphAddKernelNode(
    node: UInt64,
    graph: UInt64,
    before: UInt64,
    count: UInt64,
    parameters: UInt64,
) abi("C") -> Int32:
    """The hipGraphAddKernelNode of the runtime API: hipKernelNodeParams; the arguments are copied.
    """
    if parameters == NULL:
        return INVALID_VALUE
    var made = Node(LAUNCH)
    with Locked() as session:
        # block 3 x u32, extra (at 16), function, grid 3 x u32, pointers (at 48), shared bytes u32.
        var body = Body(0)
        var status = launch_request(
            session[],
            body,
            at[UInt64](parameters + 24)[],
            shape_at(parameters + 32),
            shape_at(parameters),
            Shape(1, 1, 1),
            False,
            at[UInt32](parameters + 56)[],
            NULL,
            at[UInt64](parameters + 48)[],
            at[UInt64](parameters + 16)[],
        )
        if status != SUCCESS:
            return status
        made.request = body.bytes.copy()
    return add_node(node, graph, before, count, made)


@export("hipGraphAddMemsetNode")
def hipGraphAddMemsetNode(
    node: UInt64,
    graph: UInt64,
    before: UInt64,
    count: UInt64,
    parameters: UInt64,
) abi("C") -> Int32:
    """The hipGraphAddMemsetNode of the runtime API: hipMemsetParams."""
    if parameters == NULL:
        return INVALID_VALUE
    # address, bytes of an element u32, height (at 16), pitch, value u32, width in elements (at 40).
    var element = UInt64(at[UInt32](parameters + 8)[])
    if element != 1 and element != 2 and element != 4:
        return INVALID_VALUE
    return add_node(
        node,
        graph,
        before,
        count,
        fill_node(
            at[UInt64](parameters)[],
            UInt64(at[UInt32](parameters + 32)[]),
            element,
            at[UInt64](parameters + 40)[],
            at[UInt64](parameters + 16)[],
            at[UInt64](parameters + 24)[],
        ),
    )


@export("hipGraphAddMemcpyNode1D")
def hipGraphAddMemcpyNode1D(
    node: UInt64,
    graph: UInt64,
    before: UInt64,
    count: UInt64,
    destination: UInt64,
    source: UInt64,
    size: UInt64,
    kind: UInt32,
) abi("C") -> Int32:
    """The hipGraphAddMemcpyNode1D of the runtime API: to the device 1, to the host 2, on the device 3.
    """
    if kind < 1 or kind > 3:
        return INVALID_VALUE
    var way = (
        COPY_HOST_TO_DEVICE if kind
        == 1 else COPY_DEVICE_TO_HOST if kind
        == 2 else COPY_DEVICE_TO_DEVICE
    )
    return add_node(
        node, graph, before, count, copy_node(way, destination, source, size)
    )


@export("hipGraphInstantiate")
def hipGraphInstantiate(
    executable: UInt64, graph: UInt64, wrong: UInt64, log: UInt64, size: UInt64
) abi("C") -> Int32:
    """The hipGraphInstantiate of the runtime API: the log is always empty."""
    return cuGraphInstantiate(executable, graph, wrong, log, size)


@export("hipGraphInstantiateWithFlags")
def hipGraphInstantiateWithFlags(
    executable: UInt64, graph: UInt64, flags: UInt64
) abi("C") -> Int32:
    """The hipGraphInstantiateWithFlags of the runtime API; the flags are ignored.
    """
    return cuGraphInstantiateWithFlags(executable, graph, flags)


@export("hipGraphLaunch")
def hipGraphLaunch(executable: UInt64, stream: UInt64) abi("C") -> Int32:
    """The hipGraphLaunch of the runtime API."""
    return cuGraphLaunch(executable, stream)


@export("hipGraphDestroy")
def hipGraphDestroy(graph: UInt64) abi("C") -> Int32:
    """The hipGraphDestroy of the runtime API."""
    return cuGraphDestroy(graph)


@export("hipGraphExecDestroy")
def hipGraphExecDestroy(executable: UInt64) abi("C") -> Int32:
    """The hipGraphExecDestroy of the runtime API."""
    return cuGraphExecDestroy(executable)
