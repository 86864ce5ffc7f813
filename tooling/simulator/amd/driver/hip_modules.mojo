"""Code objects, functions and launches (HIP runtime API: "Module Management")."""

import protocol
from errors import INVALID_IMAGE, INVALID_VALUE, SUCCESS
from modules import (
    cuFuncGetAttribute,
    cuLaunchKernel,
    cuModuleGetFunction,
    cuModuleGetGlobal_v2,
    cuModuleUnload,
    cuOccupancyMaxActiveBlocksPerMultiprocessor,
)
from session import Locked, end_program
from wire import NULL, Body, at, print_error_bytes

comptime _ELF = UInt32(0x464C457F)
comptime _INVALID_KERNEL_FILE = Int32(218)


@export("hipModuleLoadData")
def hipModuleLoadData(module: UInt64, image: UInt64) abi("C") -> Int32:
    """The hipModuleLoadData of the runtime API, for a code object (ELF); the reason of a failure goes to stderr.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if module == NULL or image == NULL:
            return INVALID_VALUE
        if at[UInt32](image).unsafe_load[alignment=1]() != _ELF:
            return INVALID_IMAGE
        # The section headers are at the end of the file: their offset, and the size and number of entries.
        var end = at[UInt64](image + 0x28)[] + UInt64(
            at[UInt16](image + 0x3A)[]
        ) * UInt64(at[UInt16](image + 0x3C)[])
        if end > UInt64(protocol.MAX_PAYLOAD):
            return INVALID_IMAGE
        var content = List[UInt8](capacity=Int(end))
        for index in range(Int(end)):
            content.append(at[UInt8](image)[unsafe_offset=index])
        var body = Body(protocol.LOAD_MODULE, len(content))
        body.raw(content)
        var reply = session[].request(body)
        if reply.status == SUCCESS:
            at[UInt64](module)[] = reply.u64()
        elif reply.status == _INVALID_KERNEL_FILE:
            end_program()  # the simulator reports what is wrong with it
        return reply.status


@export("hipModuleLoadDataEx")
def hipModuleLoadDataEx(
    module: UInt64,
    image: UInt64,
    option_count: UInt32,
    options: UInt64,
    values: UInt64,
) abi("C") -> Int32:
    """The hipModuleLoadDataEx of the runtime API; the options are ignored."""
    return hipModuleLoadData(module, image)


@export("hipModuleUnload")
def hipModuleUnload(module: UInt64) abi("C") -> Int32:
    """The hipModuleUnload of the runtime API."""
    return cuModuleUnload(module)


@export("hipModuleGetFunction")
def hipModuleGetFunction(
    function: UInt64, module: UInt64, name: UInt64
) abi("C") -> Int32:
    """The hipModuleGetFunction of the runtime API."""
    return cuModuleGetFunction(function, module, name)


@export("hipModuleGetGlobal")
def hipModuleGetGlobal(
    address: UInt64, size: UInt64, module: UInt64, name: UInt64
) abi("C") -> Int32:
    """The hipModuleGetGlobal of the runtime API."""
    return cuModuleGetGlobal_v2(address, size, module, name)


@export("hipFuncGetAttribute")
def hipFuncGetAttribute(
    value: UInt64, attribute: Int32, function: UInt64
) abi("C") -> Int32:
    """The hipFuncGetAttribute of the runtime API (hipFunction_attribute)."""
    return cuFuncGetAttribute(value, attribute, function)


@export("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor")
def hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: UInt64, function: UInt64, threads: Int32, shared_bytes: UInt64
) abi("C") -> Int32:
    """The function of this name of the runtime API."""
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, function, threads, shared_bytes
    )


@export("hipModuleLaunchKernel")
def hipModuleLaunchKernel(
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
    """The hipModuleLaunchKernel of the runtime API."""
    return cuLaunchKernel(
        function,
        grid_x,
        grid_y,
        grid_z,
        block_x,
        block_y,
        block_z,
        shared_bytes,
        stream,
        pointers,
        extra,
    )
