"""Modules, functions and launches (CUDA driver API: "Module Management", "Execution Control")."""

import protocol
from errors import (
    INVALID_HANDLE,
    INVALID_IMAGE,
    INVALID_VALUE,
    NO_BINARY_FOR_GPU,
    NOT_FOUND,
    SUCCESS,
)
from session import Function, Locked, Session
from wire import (
    NULL,
    Body,
    Reply,
    address_of,
    at,
    c_string,
    copy_bytes,
    print_error,
    print_error_bytes,
    put_bytes,
)
from work import LAUNCH, Node

comptime _ELF = UInt32(0x464C457F)
comptime _FATBIN = UInt32(0xBA55ED50)
comptime _JIT_ERROR_LOG_BUFFER = UInt32(5)
comptime _JIT_ERROR_LOG_BUFFER_SIZE_BYTES = UInt32(6)
comptime _JIT_INFO_LOG_BUFFER_SIZE_BYTES = UInt32(4)
comptime _CLUSTER_DIMENSION = UInt32(4)
comptime _COOPERATIVE = UInt32(2)
comptime _ATTRIBUTE_BYTES = UInt64(72)
comptime _WRITABLE_ATTRIBUTES = 16

# CU_LAUNCH_PARAM_END, _BUFFER_POINTER and _BUFFER_SIZE: the keys in the `extra` list of a launch.
comptime _EXTRA_END = UInt64(0)
comptime _EXTRA_POINTER = UInt64(1)
comptime _EXTRA_SIZE = UInt64(2)


@export("cuModuleLoadDataEx")
def cuModuleLoadDataEx(
    module: UInt64,
    image: UInt64,
    option_count: UInt32,
    options: UInt64,
    values: UInt64,
) abi("C") -> Int32:
    """The cuModuleLoadDataEx of the driver API, for PTX text.

    Returns INVALID_PTX if the simulator cannot read the text, with the reason in the caller's error log
    (CU_JIT_ERROR_LOG_BUFFER), if any, and in the tool's report; NO_BINARY_FOR_GPU for compiled code.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if module == NULL or image == NULL:
            return INVALID_VALUE
        var magic = at[UInt32](image).unsafe_load[alignment=1]()
        if magic == _ELF or magic == _FATBIN:
            print_error(
                "the program loads a compiled module instead of PTX;"
                " MODULAR_NVPTX_LIBRARY_PATH must name the simulator's libNVPTX"
            )
            return NO_BINARY_FOR_GPU
        var text = c_string(image)
        if not _looks_like_text(text):
            return INVALID_IMAGE
        var device = session[].device()
        session[].select(device)
        var body = Body(protocol.LOAD_MODULE, len(text))
        body.raw(text)
        var reply = session[].request(body)
        if reply.status == SUCCESS:
            var handle = reply.u64()
            session[].modules[handle] = device
            at[UInt64](module)[] = handle
            _write_log(List[UInt8](), option_count, options, values)
        else:
            _write_log(reply.answer, option_count, options, values)
        return reply.status


def _looks_like_text(text: List[UInt8]) -> Bool:
    if len(text) == 0:
        return False
    for index in range(min(len(text), 64)):
        var byte = text[index]
        if byte < 32 and byte != 9 and byte != 10 and byte != 13:
            return False
    return True


def _write_log(
    log: List[UInt8], count: UInt32, options: UInt64, values: UInt64
):
    """Write the error log of cuModuleLoadDataEx, and its size, if the caller requests them.
    """
    if options == NULL or values == NULL:
        return
    var buffer = NULL
    var capacity = 0
    var size_index = -1
    for index in range(Int(count)):
        var option = at[UInt32](options)[unsafe_offset=index]
        if option == _JIT_ERROR_LOG_BUFFER:
            buffer = at[UInt64](values)[unsafe_offset=index]
        elif option == _JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            capacity = Int(at[UInt64](values)[unsafe_offset=index] & 0xFFFFFFFF)
            size_index = index
        elif option == _JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            at[UInt64](values)[unsafe_offset=index] = 0
    if buffer != NULL and capacity > 0:
        var length = min(len(log), capacity - 1)
        put_bytes(buffer, log, length)
        at[UInt8](buffer + UInt64(length))[] = 0
        at[UInt64](values)[unsafe_offset=size_index] = UInt64(length)


@export("cuModuleUnload")
def cuModuleUnload(module: UInt64) abi("C") -> Int32:
    """The cuModuleUnload of the driver API; the handles of its functions become invalid.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var body = Body(protocol.UNLOAD_MODULE)
        body.u64(module)
        status = session[].request(body).status
        if status == SUCCESS:
            var dropped = List[UInt64]()
            for entry in session[].functions.items():
                if entry.value.module == module:
                    dropped.append(entry.key)
            for function in dropped:
                try:
                    _ = session[].functions.pop(function)
                except:
                    pass  # cannot happen: the key was just read, and the session is locked
        return status


@export("cuModuleGetFunction")
def cuModuleGetFunction(
    function: UInt64, module: UInt64, name: UInt64
) abi("C") -> Int32:
    """The cuModuleGetFunction of the driver API."""
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if function == NULL or name == NULL:
            return INVALID_VALUE
        var text = c_string(name)
        var body = Body(protocol.FUNCTION, len(text))
        body.u64(module)
        body.raw(text)
        var reply = session[].ask(body, protocol.FUNCTION_REPLY_BYTES)
        if reply.status != SUCCESS:
            return reply.status
        var handle = reply.u64()
        var parameters = Int(reply.u32())
        var description = Function(
            module, session[].modules.get(module, Int32(0))
        )
        for _ in range(_WRITABLE_ATTRIBUTES):
            description.attributes.append(Int32(reply.u32()))
        for _ in range(parameters):
            description.offsets.append(reply.u32())
            description.sizes.append(reply.u32())
        session[].functions[handle] = description^
        at[UInt64](function)[] = handle
        return SUCCESS


@export("cuModuleGetGlobal_v2")
def cuModuleGetGlobal_v2(
    address: UInt64, size: UInt64, module: UInt64, name: UInt64
) abi("C") -> Int32:
    """The cuModuleGetGlobal of the driver API."""
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if name == NULL:
            return INVALID_VALUE
        var text = c_string(name)
        var body = Body(protocol.GLOBAL, len(text))
        body.u64(module)
        body.raw(text)
        var reply = session[].ask(body, protocol.GLOBAL_REPLY_BYTES)
        if reply.status == SUCCESS and address != NULL:
            at[UInt64](address)[] = reply.u64()
        if reply.status == SUCCESS and size != NULL:
            reply.position = 8
            at[UInt64](size)[] = reply.u64()
        return reply.status


@export("cuFuncGetAttribute")
def cuFuncGetAttribute(
    value: UInt64, attribute: Int32, function: UInt64
) abi("C") -> Int32:
    """The cuFuncGetAttribute of the driver API. NUM_REGS is 0: the simulator allocates no registers.
    """
    if (
        value == NULL
        or attribute < 0
        or attribute >= Int32(_WRITABLE_ATTRIBUTES)
    ):
        return INVALID_VALUE
    with Locked() as session:
        var found = session[].functions.get(function)
        if not found:
            return INVALID_HANDLE
        at[Int32](value)[] = found.value().attributes[Int(attribute)]
        return SUCCESS


@export("cuFuncSetAttribute")
def cuFuncSetAttribute(
    function: UInt64, attribute: Int32, value: Int32
) abi("C") -> Int32:
    """The cuFuncSetAttribute of the driver API, e.g. MAX_DYNAMIC_SHARED_SIZE_BYTES up to 227 KiB.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if function not in session[].functions:
            return INVALID_HANDLE
        var body = Body(protocol.SET_ATTRIBUTE)
        body.u64(function)
        body.u32(UInt32(attribute))
        body.u32(UInt32(value))
        var reply = session[].request(body)
        status = reply.status
        if status != SUCCESS and len(reply.answer) > 0:
            print_error_bytes(reply.answer)
        if status == SUCCESS:
            try:
                session[].functions[function].attributes[Int(attribute)] = value
            except:
                return INVALID_HANDLE
        return status


@export("cuFuncGetParamInfo")
def cuFuncGetParamInfo(
    function: UInt64, index: UInt64, offset: UInt64, size: UInt64
) abi("C") -> Int32:
    """The cuFuncGetParamInfo of the driver API: offset and size of a parameter, in bytes.
    """
    with Locked() as session:
        var found = session[].functions.get(function)
        if not found:
            return INVALID_HANDLE
        ref description = found.value()
        if Int(index) >= len(description.offsets) or offset == NULL:
            return INVALID_VALUE
        at[UInt64](offset)[] = UInt64(description.offsets[Int(index)])
        if size != NULL:
            at[UInt64](size)[] = UInt64(description.sizes[Int(index)])
        return SUCCESS


@export("cuOccupancyMaxActiveBlocksPerMultiprocessor")
def cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: UInt64, function: UInt64, threads: Int32, shared_bytes: UInt64
) abi("C") -> Int32:
    """The cuOccupancyMaxActiveBlocksPerMultiprocessor of the driver API; registers are not considered.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if blocks == NULL:
            return INVALID_VALUE
        var body = Body(protocol.OCCUPANCY)
        body.u64(function)
        body.u32(UInt32(threads))
        body.u64(shared_bytes)
        var reply = session[].ask(body, protocol.OCCUPANCY_REPLY_BYTES)
        if reply.status == SUCCESS:
            at[Int32](blocks)[] = Int32(reply.u32())
        return reply.status


@fieldwise_init
struct Shape(TrivialRegisterPassable):
    """Three extents."""

    var x: UInt32
    var y: UInt32
    var z: UInt32


def shape_at(address: UInt64) -> Shape:
    """Three 32-bit numbers at an address."""
    var numbers = at[UInt32](address)
    return Shape(
        numbers[unsafe_offset=0],
        numbers[unsafe_offset=1],
        numbers[unsafe_offset=2],
    )


def _parameters(
    mut body: Body, function: Function, pointers: UInt64, extra: UInt64
) -> Int32:
    """Append the parameter block: from one pointer per parameter, or from the buffer in `extra`.
    """
    var size = function.parameter_bytes()
    var block = List[UInt8]()
    block.resize(size, 0)
    if pointers != NULL:
        for index in range(len(function.offsets)):
            var source = at[UInt64](pointers)[unsafe_offset=index]
            if source == NULL:
                return INVALID_VALUE
            var target = address_of(block) + UInt64(function.offsets[index])
            copy_bytes(target, source, Int(function.sizes[index]))
    elif extra != NULL:
        var source = NULL
        var given = 0
        var index = 0
        while at[UInt64](extra)[unsafe_offset=index] != _EXTRA_END:
            var key = at[UInt64](extra)[unsafe_offset=index]
            var value = at[UInt64](extra)[unsafe_offset=index + 1]
            if key == _EXTRA_POINTER:
                source = value
            elif key == _EXTRA_SIZE and value != NULL:
                given = Int(at[UInt64](value)[])
            else:
                return INVALID_VALUE
            index += 2
        if source == NULL or given < size:
            return INVALID_VALUE
        copy_bytes(address_of(block), source, size)
    elif size > 0:
        return INVALID_VALUE
    body.raw(block)
    return SUCCESS


def launch_request(
    mut session: Session,
    mut body: Body,
    function: UInt64,
    grid: Shape,
    block: Shape,
    cluster: Shape,
    clustered: Bool,
    shared_bytes: UInt32,
    stream: UInt64,
    pointers: UInt64,
    extra: UInt64,
) -> Int32:
    """Write the request of a launch, with the current values of its arguments.
    """
    var status = session.ready()
    if status != SUCCESS:
        return status
    if not session.valid_stream(stream):
        return INVALID_HANDLE
    var found = session.functions.get(function)
    if not found or found.value().device != session.stream_device(stream):
        return INVALID_HANDLE
    body = Body(protocol.LAUNCH, 256)
    body.u64(function)
    for shape in [grid, block, cluster]:
        body.u32(shape.x)
        body.u32(shape.y)
        body.u32(shape.z)
    body.u32(UInt32(1) if clustered else UInt32(0))
    body.u32(shared_bytes)
    body.u64(session.stream_number(stream))
    return _parameters(body, found.value(), pointers, extra)


comptime _STREAM = protocol.REQUEST_HEADER_BYTES + 52
"""Where a launch's request has its stream: after the function, three shapes and two more numbers."""


def relaunch(request: List[UInt8], stream: UInt64) -> Int32:
    """Send the request of a graph's launch, in this stream."""
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var body = Body(protocol.LAUNCH)
        body.bytes = request.copy()
        var number = session[].stream_number(stream)
        for byte in range(8):
            body.bytes[_STREAM + byte] = UInt8(number >> UInt64(8 * byte) & 255)
        return session[].launch(body, stream)


def _launch(
    function: UInt64,
    grid: Shape,
    block: Shape,
    cluster: Shape,
    clustered: Bool,
    shared_bytes: UInt32,
    stream: UInt64,
    pointers: UInt64,
    extra: UInt64,
) -> Int32:
    with Locked() as session:
        var body = Body(protocol.LAUNCH)
        var status = launch_request(
            session[],
            body,
            function,
            grid,
            block,
            cluster,
            clustered,
            shared_bytes,
            stream,
            pointers,
            extra,
        )
        if status != SUCCESS:
            return status
        if stream in session[].under_capture:
            var node = Node(LAUNCH)
            node.request = body.bytes.copy()
            return session[].capture(stream, node)
        return session[].launch(body, stream)


@export("cuLaunchKernel")
def cuLaunchKernel(
    function: UInt64,
    grid_x: UInt32,
    grid_y: UInt32,
    grid_z: UInt32,
    block_x: UInt32,
    block_y: UInt32,
    block_z: UInt32,
    shared_bytes: UInt32,
    stream: UInt64,
    pointers: UInt64,
    extra: UInt64,
) abi("C") -> Int32:
    """The cuLaunchKernel of the driver API. The next synchronising call reports a kernel's failure.
    """
    var grid = Shape(grid_x, grid_y, grid_z)
    var block = Shape(block_x, block_y, block_z)
    return _launch(
        function,
        grid,
        block,
        Shape(1, 1, 1),
        False,
        shared_bytes,
        stream,
        pointers,
        extra,
    )


@export("cuLaunchKernelEx")
def cuLaunchKernelEx(
    config: UInt64, function: UInt64, pointers: UInt64, extra: UInt64
) abi("C") -> Int32:
    """The cuLaunchKernelEx of the driver API.

    Of the launch attributes only the cluster dimension is used. The others (access policy, priority, memory
    domains, programmatic serialization: griddepcontrol) affect performance only.
    """
    if config == NULL:
        return INVALID_VALUE
    # CUlaunchConfig: grid 3 x u32, block 3 x u32, shared bytes u32, stream (at 32), attributes, their count.
    var attributes = at[UInt64](config + 40)[]
    var count = Int(at[UInt32](config + 48)[])
    if count > 0 and attributes == NULL:
        return INVALID_VALUE
    var cluster = Shape(1, 1, 1)
    var clustered = False
    for index in range(count):
        # CUlaunchAttribute: an id u32, padding to 8 bytes, a union of 64 bytes.
        var attribute = attributes + UInt64(index) * _ATTRIBUTE_BYTES
        if at[UInt32](attribute)[] == _CLUSTER_DIMENSION:
            cluster = shape_at(attribute + 8)
            clustered = True
    return _launch(
        function,
        shape_at(config),
        shape_at(config + 12),
        cluster,
        clustered,
        at[UInt32](config + 24)[],
        at[UInt64](config + 32)[],
        pointers,
        extra,
    )
