"""Streams and events (HIP runtime API: "Stream Management", "Event Management"), as in the CUDA stand-in."""

from errors import SUCCESS
from session import unsupported
from streams import (
    cuEventCreate,
    cuEventDestroy,
    cuEventElapsedTime,
    cuEventQuery,
    cuEventRecord,
    cuEventSynchronize,
    cuLaunchHostFunc,
    cuStreamCreate,
    cuStreamDestroy,
    cuStreamGetCaptureInfo_v2,
    cuStreamIsCapturing,
    cuStreamSynchronize,
    cuStreamWaitEvent,
)


@export("hipStreamCreate")
def hipStreamCreate(stream: UInt64) abi("C") -> Int32:
    """The hipStreamCreate of the runtime API."""
    return cuStreamCreate(stream, 0)


@export("hipStreamCreateWithPriority")
def hipStreamCreateWithPriority(
    stream: UInt64, flags: UInt32, priority: Int32
) abi("C") -> Int32:
    """The hipStreamCreateWithPriority of the runtime API; the priority is ignored.
    """
    return cuStreamCreate(stream, flags)


@export("hipStreamDestroy")
def hipStreamDestroy(stream: UInt64) abi("C") -> Int32:
    """The hipStreamDestroy of the runtime API."""
    return cuStreamDestroy(stream)


@export("hipStreamSynchronize")
def hipStreamSynchronize(stream: UInt64) abi("C") -> Int32:
    """The hipStreamSynchronize of the runtime API."""
    return cuStreamSynchronize(stream)


@export("hipStreamWaitEvent")
def hipStreamWaitEvent(
    stream: UInt64, event: UInt64, flags: UInt32
) abi("C") -> Int32:
    """The hipStreamWaitEvent of the runtime API."""
    return cuStreamWaitEvent(stream, event, flags)


@export("hipStreamIsCapturing")
def hipStreamIsCapturing(stream: UInt64, state: UInt64) abi("C") -> Int32:
    """The hipStreamIsCapturing of the runtime API."""
    return cuStreamIsCapturing(stream, state)


@export("hipStreamGetCaptureInfo_v2")
def hipStreamGetCaptureInfo_v2(
    stream: UInt64,
    state: UInt64,
    id: UInt64,
    graph: UInt64,
    dependencies: UInt64,
    count: UInt64,
) abi("C") -> Int32:
    """The hipStreamGetCaptureInfo_v2 of the runtime API."""
    return cuStreamGetCaptureInfo_v2(
        stream, state, id, graph, dependencies, count
    )


@export("hipLaunchHostFunc")
def hipLaunchHostFunc(
    stream: UInt64, function: def(UInt64) thin abi("C") -> None, data: UInt64
) abi("C") -> Int32:
    """The hipLaunchHostFunc of the runtime API."""
    return cuLaunchHostFunc(stream, function, data)


@export("hipEventCreateWithFlags")
def hipEventCreateWithFlags(event: UInt64, flags: UInt32) abi("C") -> Int32:
    """The hipEventCreateWithFlags of the runtime API; flags for memory visibility have no effect.
    """
    return cuEventCreate(event, flags & 7)


@export("hipEventDestroy")
def hipEventDestroy(event: UInt64) abi("C") -> Int32:
    """The hipEventDestroy of the runtime API."""
    return cuEventDestroy(event)


@export("hipEventRecord")
def hipEventRecord(event: UInt64, stream: UInt64) abi("C") -> Int32:
    """The hipEventRecord of the runtime API."""
    return cuEventRecord(event, stream)


@export("hipEventQuery")
def hipEventQuery(event: UInt64) abi("C") -> Int32:
    """The hipEventQuery of the runtime API."""
    return cuEventQuery(event)


@export("hipEventSynchronize")
def hipEventSynchronize(event: UInt64) abi("C") -> Int32:
    """The hipEventSynchronize of the runtime API."""
    return cuEventSynchronize(event)


@export("hipEventElapsedTime")
def hipEventElapsedTime(
    milliseconds: UInt64, start: UInt64, end: UInt64
) abi("C") -> Int32:
    """The hipEventElapsedTime of the runtime API: a simulation has no times."""
    return cuEventElapsedTime(milliseconds, start, end)
