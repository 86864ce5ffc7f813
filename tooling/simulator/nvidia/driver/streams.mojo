"""Streams, events and host functions (CUDA driver API: "Stream Management", "Event Management").

With one device work is complete when a call returns, so every stream is idle and every event has completed;
with several devices the simulator knows what is. An elapsed
time is always an hour: the time of a simulation says nothing about a GPU.
"""

import protocol
from errors import (
    CAPTURE_UNSUPPORTED,
    CAPTURED_EVENT,
    INVALID_HANDLE,
    INVALID_VALUE,
    SUCCESS,
)
from session import Locked, unsupported
from wire import NULL, at, print_error

comptime _DISABLE_TIMING = UInt32(2)
comptime _RECORDED = UInt32(1 << 16)
comptime _AN_HOUR = Float32(3_600_000)  # milliseconds


def _create_stream(stream: UInt64, flags: UInt32) -> Int32:
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if stream == NULL or flags > 1:
            return INVALID_VALUE
        at[UInt64](stream)[] = session[].add_stream(flags)
        return SUCCESS


@export("cuStreamCreate")
def cuStreamCreate(stream: UInt64, flags: UInt32) abi("C") -> Int32:
    """The cuStreamCreate of the driver API."""
    return _create_stream(stream, flags)


@export("cuStreamCreateWithPriority")
def cuStreamCreateWithPriority(
    stream: UInt64, flags: UInt32, priority: Int32
) abi("C") -> Int32:
    """The cuStreamCreateWithPriority of the driver API; the priority is ignored.
    """
    return _create_stream(stream, flags)


@export("cuStreamDestroy")
def cuStreamDestroy(stream: UInt64) abi("C") -> Int32:
    """The cuStreamDestroy of the driver API."""
    with Locked() as session:
        try:
            _ = session[].streams.pop(stream)
        except:
            return INVALID_HANDLE
        return SUCCESS


@export("cuStreamSynchronize")
def cuStreamSynchronize(stream: UInt64) abi("C") -> Int32:
    """The cuStreamSynchronize of the driver API: reports a failed kernel, and prints the output of kernels.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if not session[].valid_stream(stream):
            return INVALID_HANDLE
        var captured = session[].under_capture.get(stream)
        if captured:
            session[].invalidate(captured.value())
            return CAPTURE_UNSUPPORTED
        session[].order(protocol.WAIT_FOR_STREAM, stream, NULL)
        return session[].synchronise()


def _event_and_stream(event: UInt64, stream: UInt64, flags: UInt32) -> Int32:
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if not session[].valid_stream(stream) or event not in session[].events:
            return INVALID_HANDLE
        try:
            session[].events[event] |= flags
        except:
            return INVALID_HANDLE
        return SUCCESS


@export("cuStreamWaitEvent")
def cuStreamWaitEvent(
    stream: UInt64, event: UInt64, flags: UInt32
) abi("C") -> Int32:
    """The cuStreamWaitEvent of the driver API: the stream joins the capture of an event recorded in one.
    """
    var status = _event_and_stream(event, stream, 0)
    if status == SUCCESS:
        with Locked() as session:
            var id = session[].captured_events.get(event)
            if id:
                session[].under_capture[stream] = id.value()
            else:
                session[].order(protocol.STREAM_WAITS, stream, event)
    return status


@export("cuStreamIsCapturing")
def cuStreamIsCapturing(stream: UInt64, state: UInt64) abi("C") -> Int32:
    """The cuStreamIsCapturing of the driver API: none 0, active 1, invalidated 2.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if state == NULL:
            return INVALID_VALUE
        if not session[].valid_stream(stream):
            return INVALID_HANDLE
        at[UInt32](state)[] = 0
        var id = session[].under_capture.get(stream)
        if id:
            try:
                var invalidated = session[].captures[id.value()].invalidated
                at[UInt32](state)[] = UInt32(2) if invalidated else UInt32(1)
            except:
                return INVALID_HANDLE
        return SUCCESS


@export("cuStreamGetCaptureInfo_v2")
def cuStreamGetCaptureInfo_v2(
    stream: UInt64,
    state: UInt64,
    id: UInt64,
    graph: UInt64,
    dependencies: UInt64,
    count: UInt64,
) abi("C") -> Int32:
    """The cuStreamGetCaptureInfo of the driver API: the state and the capture's id, but no nodes.
    """
    var status = cuStreamIsCapturing(stream, state)
    if status == SUCCESS and at[UInt32](state)[] != 0:
        with Locked() as session:
            if id != NULL:
                at[UInt64](id)[] = (
                    session[].under_capture.get(stream).or_else(NULL)
                )
            if graph != NULL:
                at[UInt64](graph)[] = NULL
            if count != NULL:
                at[UInt64](count)[] = 0
    return status


@export("cuLaunchHostFunc")
def cuLaunchHostFunc(
    stream: UInt64, function: def(UInt64) thin abi("C") -> None, data: UInt64
) abi("C") -> Int32:
    """The cuLaunchHostFunc of the driver API: calls it at once, since all preceding work is complete.
    """
    with Locked() as session:
        if stream in session[].under_capture:
            return unsupported(
                "cuLaunchHostFunc", "it cannot be captured into a graph"
            )
    var status = cuStreamSynchronize(stream)
    if status == SUCCESS:
        # Outside the lock: the function may call the driver (which CUDA does not permit).
        function(data)
    return status


@export("cuEventCreate")
def cuEventCreate(event: UInt64, flags: UInt32) abi("C") -> Int32:
    """The cuEventCreate of the driver API. Flags: blocking sync 1, no timing 2, interprocess 4.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if event == NULL or flags > 7:
            return INVALID_VALUE
        var handle = session[].new_handle()
        session[].events[handle] = flags
        at[UInt64](event)[] = handle
        return SUCCESS


@export("cuEventDestroy")
def cuEventDestroy(event: UInt64) abi("C") -> Int32:
    """The cuEventDestroy of the driver API."""
    with Locked() as session:
        try:
            _ = session[].events.pop(event)
        except:
            return INVALID_HANDLE
        return SUCCESS


@export("cuEventRecord")
def cuEventRecord(event: UInt64, stream: UInt64) abi("C") -> Int32:
    """The cuEventRecord of the driver API; in a captured stream the event joins the capture.
    """
    var status = _event_and_stream(event, stream, _RECORDED)
    if status == SUCCESS:
        with Locked() as session:
            var id = session[].under_capture.get(stream)
            if not id:
                session[].order(protocol.RECORD_EVENT, stream, event)
            if id:
                session[].captured_events[event] = id.value()
            elif event in session[].captured_events:
                try:
                    _ = session[].captured_events.pop(event)
                except:
                    return INVALID_HANDLE
    return status


def _kernel_result() -> Int32:
    with Locked() as session:
        return session[].synchronise()


@export("cuEventQuery")
def cuEventQuery(event: UInt64) abi("C") -> Int32:
    """The cuEventQuery of the driver API: NOT_READY only with several devices; reports a failed kernel.
    """
    var status = _event_and_stream(event, 0, 0)
    if status == SUCCESS:
        with Locked() as session:
            var id = session[].captured_events.get(event)
            if id:
                session[].invalidate(id.value())
                return CAPTURED_EVENT
            status = session[].happened(event)
    return status if status != SUCCESS else _kernel_result()


@export("cuEventSynchronize")
def cuEventSynchronize(event: UInt64) abi("C") -> Int32:
    """The cuEventSynchronize of the driver API."""
    var status = _event_and_stream(event, 0, 0)
    if status != SUCCESS:
        return status
    with Locked() as session:
        var id = session[].captured_events.get(event)
        if id:
            session[].invalidate(id.value())
            return CAPTURED_EVENT
        session[].order(protocol.WAIT_FOR_EVENT, NULL, event)
        return session[].synchronise()


@export("cuEventElapsedTime")
def cuEventElapsedTime(
    milliseconds: UInt64, start: UInt64, end: UInt64
) abi("C") -> Int32:
    """The cuEventElapsedTime of the driver API: always an hour, since a simulation has no times.

    A benchmark that gets 0 repeats forever; one that gets an hour ends after its first measurement. With
    its defaults, `Bench` of std.benchmark then makes 10 launches before that measurement and 100 in it: it
    has chosen these numbers before it asks, and an answer can only change the 100 (`_run_impl` takes 11
    if the first launches took no time, by which other programs would divide). `tooling simulate` does not
    repeat the work (`tooling/simulator/server/repeats.py`). The line on standard error lets the tool say that no time was measured.
    """
    if milliseconds == NULL:
        return INVALID_VALUE
    for event in [start, end]:
        with Locked() as session:
            var state = session[].events.get(event)
            if (
                not state
                or not state.value() & _RECORDED
                or state.value() & _DISABLE_TIMING
            ):
                return INVALID_HANDLE
    with Locked() as session:
        if not session[].asked_for_times:
            session[].asked_for_times = True
            print_error(
                "the program asks for times: a simulation has none, and"
                " answers with an hour"
            )
    at[Float32](milliseconds)[] = _AN_HOUR
    return SUCCESS
