"""CUresult: the driver's result codes, with names and descriptions (CUDA driver API, "Error Handling")."""

from wire import NULL, at

comptime SUCCESS = Int32(0)
comptime INVALID_VALUE = Int32(1)
comptime OUT_OF_MEMORY = Int32(2)
comptime NOT_INITIALIZED = Int32(3)
comptime DEVICE_UNAVAILABLE = Int32(46)
comptime NO_DEVICE = Int32(100)
comptime INVALID_DEVICE = Int32(101)
comptime INVALID_IMAGE = Int32(200)
comptime INVALID_CONTEXT = Int32(201)
comptime NO_BINARY_FOR_GPU = Int32(209)
comptime PEER_ACCESS_UNSUPPORTED = Int32(217)
comptime PEER_ACCESS_ALREADY_ENABLED = Int32(704)
comptime INVALID_HANDLE = Int32(400)
comptime ILLEGAL_STATE = Int32(401)
comptime NOT_FOUND = Int32(500)
comptime NOT_REGISTERED = Int32(713)
comptime ALREADY_REGISTERED = Int32(712)
comptime NOT_SUPPORTED = Int32(801)
comptime CAPTURE_UNSUPPORTED = Int32(900)
comptime CAPTURE_INVALIDATED = Int32(901)
comptime CAPTURE_UNMATCHED = Int32(903)
comptime CAPTURED_EVENT = Int32(907)
comptime UNKNOWN = Int32(999)

comptime NOT_SIMULATED = Int32(10000)
"""No result code of a driver: the simulator stopped, and reports the reason itself (`DriverResult`).
"""


@fieldwise_init
struct Description(TrivialRegisterPassable):
    """A code's name, `CUDA_ERROR_…`, and its description. Both end with a NUL.
    """

    var name: StaticString
    var phrase: StaticString


def describe(code: Int32) -> Description:
    """The description of a code, as recorded on an H200; empty strings for an unknown code.
    """
    if code == 0:
        return Description("CUDA_SUCCESS", "no error")
    if code == 1:
        return Description("CUDA_ERROR_INVALID_VALUE", "invalid argument")
    if code == 2:
        return Description("CUDA_ERROR_OUT_OF_MEMORY", "out of memory")
    if code == 3:
        return Description("CUDA_ERROR_NOT_INITIALIZED", "initialization error")
    if code == 4:
        return Description("CUDA_ERROR_DEINITIALIZED", "driver shutting down")
    if code == 5:
        return Description(
            "CUDA_ERROR_PROFILER_DISABLED",
            "profiler disabled while using external profiling tool",
        )
    if code == 6:
        return Description(
            "CUDA_ERROR_PROFILER_NOT_INITIALIZED",
            "profiler not initialized: call cudaProfilerInitialize()",
        )
    if code == 7:
        return Description(
            "CUDA_ERROR_PROFILER_ALREADY_STARTED", "profiler already started"
        )
    if code == 8:
        return Description(
            "CUDA_ERROR_PROFILER_ALREADY_STOPPED", "profiler already stopped"
        )
    if code == 34:
        return Description(
            "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"
        )
    if code == 36:
        return Description(
            "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
            "API call is not supported in the installed CUDA driver",
        )
    if code == 46:
        return Description(
            "CUDA_ERROR_DEVICE_UNAVAILABLE",
            "CUDA-capable device(s) is/are busy or unavailable",
        )
    if code == 100:
        return Description(
            "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"
        )
    if code == 101:
        return Description(
            "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"
        )
    if code == 102:
        return Description(
            "CUDA_ERROR_DEVICE_NOT_LICENSED",
            "device doesn't have valid Grid license",
        )
    if code == 200:
        return Description(
            "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"
        )
    if code == 201:
        return Description(
            "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"
        )
    if code == 202:
        return Description(
            "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", "context already current"
        )
    if code == 205:
        return Description(
            "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"
        )
    if code == 206:
        return Description(
            "CUDA_ERROR_UNMAP_FAILED", "unmapping of buffer object failed"
        )
    if code == 207:
        return Description("CUDA_ERROR_ARRAY_IS_MAPPED", "array is mapped")
    if code == 208:
        return Description(
            "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"
        )
    if code == 209:
        return Description(
            "CUDA_ERROR_NO_BINARY_FOR_GPU",
            "no kernel image is available for execution on the device",
        )
    if code == 210:
        return Description(
            "CUDA_ERROR_ALREADY_ACQUIRED", "resource already acquired"
        )
    if code == 211:
        return Description("CUDA_ERROR_NOT_MAPPED", "resource not mapped")
    if code == 212:
        return Description(
            "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", "resource not mapped as array"
        )
    if code == 213:
        return Description(
            "CUDA_ERROR_NOT_MAPPED_AS_POINTER", "resource not mapped as pointer"
        )
    if code == 214:
        return Description(
            "CUDA_ERROR_ECC_UNCORRECTABLE",
            "uncorrectable ECC error encountered",
        )
    if code == 215:
        return Description(
            "CUDA_ERROR_UNSUPPORTED_LIMIT",
            "limit is not supported on this architecture",
        )
    if code == 216:
        return Description(
            "CUDA_ERROR_CONTEXT_ALREADY_IN_USE",
            "exclusive-thread device already in use by a different thread",
        )
    if code == 217:
        return Description(
            "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
            "peer access is not supported between these two devices",
        )
    if code == 218:
        return Description(
            "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"
        )
    if code == 219:
        return Description(
            "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT",
            "invalid OpenGL or DirectX context",
        )
    if code == 220:
        return Description(
            "CUDA_ERROR_NVLINK_UNCORRECTABLE",
            "uncorrectable NVLink error detected during the execution",
        )
    if code == 221:
        return Description(
            "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
            "PTX JIT compiler library not found",
        )
    if code == 222:
        return Description(
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            "the provided PTX was compiled with an unsupported toolchain.",
        )
    if code == 223:
        return Description(
            "CUDA_ERROR_JIT_COMPILATION_DISABLED",
            "PTX JIT compilation was disabled",
        )
    if code == 224:
        return Description(
            "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY",
            "the provided execution affinity is not supported",
        )
    if code == 225:
        return Description(
            "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC",
            (
                "the provided PTX contains unsupported call to"
                " cudaDeviceSynchronize"
            ),
        )
    if code == 226:
        return Description(
            "CUDA_ERROR_CONTAINED",
            "Invalid access of peer GPU memory over nvlink or a hardware error",
        )
    if code == 300:
        return Description(
            "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"
        )
    if code == 301:
        return Description("CUDA_ERROR_FILE_NOT_FOUND", "file not found")
    if code == 302:
        return Description(
            "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND",
            "shared object symbol not found",
        )
    if code == 303:
        return Description(
            "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
            "shared object initialization failed",
        )
    if code == 304:
        return Description(
            "CUDA_ERROR_OPERATING_SYSTEM",
            "OS call failed or operation not supported on this OS",
        )
    if code == 400:
        return Description(
            "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"
        )
    if code == 401:
        return Description(
            "CUDA_ERROR_ILLEGAL_STATE",
            "the operation cannot be performed in the present state",
        )
    if code == 402:
        return Description(
            "CUDA_ERROR_LOSSY_QUERY",
            "attempted introspection would be semantically lossy",
        )
    if code == 500:
        return Description("CUDA_ERROR_NOT_FOUND", "named symbol not found")
    if code == 600:
        return Description("CUDA_ERROR_NOT_READY", "device not ready")
    if code == 700:
        return Description(
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "an illegal memory access was encountered",
        )
    if code == 701:
        return Description(
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
            "too many resources requested for launch",
        )
    if code == 702:
        return Description(
            "CUDA_ERROR_LAUNCH_TIMEOUT",
            "the launch timed out and was terminated",
        )
    if code == 703:
        return Description(
            "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING",
            "launch uses incompatible texturing mode",
        )
    if code == 704:
        return Description(
            "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
            "peer access is already enabled",
        )
    if code == 705:
        return Description(
            "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
            "peer access has not been enabled",
        )
    if code == 708:
        return Description(
            "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
            "cannot set while device is active in this process",
        )
    if code == 709:
        return Description(
            "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"
        )
    if code == 710:
        return Description("CUDA_ERROR_ASSERT", "device-side assert triggered")
    if code == 711:
        return Description(
            "CUDA_ERROR_TOO_MANY_PEERS", "peer mapping resources exhausted"
        )
    if code == 712:
        return Description(
            "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
            "part or all of the requested memory range is already mapped",
        )
    if code == 713:
        return Description(
            "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
            "pointer does not correspond to a registered memory region",
        )
    if code == 714:
        return Description(
            "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"
        )
    if code == 715:
        return Description(
            "CUDA_ERROR_ILLEGAL_INSTRUCTION",
            "an illegal instruction was encountered",
        )
    if code == 716:
        return Description(
            "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"
        )
    if code == 717:
        return Description(
            "CUDA_ERROR_INVALID_ADDRESS_SPACE",
            "operation not supported on global/shared address space",
        )
    if code == 718:
        return Description("CUDA_ERROR_INVALID_PC", "invalid program counter")
    if code == 719:
        return Description(
            "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"
        )
    if code == 720:
        return Description(
            "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
            "too many blocks in cooperative launch",
        )
    if code == 721:
        return Description(
            "CUDA_ERROR_TENSOR_MEMORY_LEAK",
            "tensor memory not completely freed",
        )
    if code == 800:
        return Description(
            "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"
        )
    if code == 801:
        return Description(
            "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"
        )
    if code == 802:
        return Description(
            "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"
        )
    if code == 803:
        return Description(
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            "system has unsupported display driver / cuda driver combination",
        )
    if code == 804:
        return Description(
            "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
            "forward compatibility was attempted on non supported HW",
        )
    if code == 805:
        return Description(
            "CUDA_ERROR_MPS_CONNECTION_FAILED",
            (
                "MPS client failed to connect to the MPS control daemon or the"
                " MPS server"
            ),
        )
    if code == 806:
        return Description(
            "CUDA_ERROR_MPS_RPC_FAILURE",
            (
                "the remote procedural call between the MPS server and the MPS"
                " client failed"
            ),
        )
    if code == 807:
        return Description(
            "CUDA_ERROR_MPS_SERVER_NOT_READY",
            "MPS server is not ready to accept new MPS client requests",
        )
    if code == 808:
        return Description(
            "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
            (
                "the hardware resources required to create MPS client have been"
                " exhausted"
            ),
        )
    if code == 809:
        return Description(
            "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
            (
                "the hardware resources required to support device connections"
                " have been exhausted"
            ),
        )
    if code == 810:
        return Description(
            "CUDA_ERROR_MPS_CLIENT_TERMINATED",
            "the MPS client has been terminated by the server",
        )
    if code == 811:
        return Description(
            "CUDA_ERROR_CDP_NOT_SUPPORTED",
            (
                "is using CUDA Dynamic Parallelism, but the current"
                " configuration, like MPS, does not support it"
            ),
        )
    if code == 812:
        return Description(
            "CUDA_ERROR_CDP_VERSION_MISMATCH",
            (
                "unsupported interaction between different versions of CUDA"
                " Dynamic Parallelism"
            ),
        )
    if code == 900:
        return Description(
            "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
            "operation not permitted when stream is capturing",
        )
    if code == 901:
        return Description(
            "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
            "operation failed due to a previous error during capture",
        )
    if code == 902:
        return Description(
            "CUDA_ERROR_STREAM_CAPTURE_MERGE",
            "operation would result in a merge of separate capture sequences",
        )
    if code == 903:
        return Description(
            "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
            "capture was not ended in the same stream as it began",
        )
    if code == 904:
        return Description(
            "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
            "capturing stream has unjoined work",
        )
    if code == 905:
        return Description(
            "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
            "dependency created on uncaptured work in another stream",
        )
    if code == 906:
        return Description(
            "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
            (
                "operation would make the legacy stream depend on a capturing"
                " blocking stream"
            ),
        )
    if code == 907:
        return Description(
            "CUDA_ERROR_CAPTURED_EVENT",
            (
                "operation not permitted on an event last recorded in a"
                " capturing stream"
            ),
        )
    if code == 908:
        return Description(
            "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
            (
                "attempt to terminate a thread-local capture sequence from"
                " another thread"
            ),
        )
    if code == 909:
        return Description("CUDA_ERROR_TIMEOUT", "wait operation timed out")
    if code == 910:
        return Description(
            "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
            (
                "the graph update was not performed because it included changes"
                " which violated constraints specific to instantiated graph"
                " update"
            ),
        )
    if code == 911:
        return Description(
            "CUDA_ERROR_EXTERNAL_DEVICE",
            "an async error has occured in external entity outside of CUDA",
        )
    if code == 912:
        return Description(
            "CUDA_ERROR_INVALID_CLUSTER_SIZE",
            (
                "a kernel launch error has occurred due to cluster"
                " misconfiguration"
            ),
        )
    if code == 913:
        return Description(
            "CUDA_ERROR_FUNCTION_NOT_LOADED",
            (
                "the function handle is not loaded when calling an API that"
                " requires a loaded function"
            ),
        )
    if code == 914:
        return Description(
            "CUDA_ERROR_INVALID_RESOURCE_TYPE",
            (
                "one or more resources passed in are not valid resource types"
                " for the operation"
            ),
        )
    if code == 915:
        return Description(
            "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION",
            (
                "one or more resources are insufficient or non-applicable for"
                " the operation"
            ),
        )
    if code == 916:
        return Description(
            "CUDA_ERROR_KEY_ROTATION",
            "an error happened during the key rotation sequence",
        )
    if code == 999:
        return Description("CUDA_ERROR_UNKNOWN", "unknown error")
    return Description("", "")


def _put_text(code: Int32, target: UInt64, name: Bool) -> Int32:
    if target == NULL:
        return INVALID_VALUE
    var description = describe(code)
    if description.name.byte_length() == 0:
        at[UInt64](target)[] = NULL
        return INVALID_VALUE
    var text = description.name if name else description.phrase
    at[UInt64](target)[] = UInt64(Int(text.unsafe_ptr()))
    return SUCCESS


@export("cuGetErrorName")
def cuGetErrorName(code: Int32, name: UInt64) abi("C") -> Int32:
    """The cuGetErrorName of the driver API: the name as a C string."""
    return _put_text(code, name, True)


@export("cuGetErrorString")
def cuGetErrorString(code: Int32, text: UInt64) abi("C") -> Int32:
    """The cuGetErrorString of the driver API: the description as a C string."""
    return _put_text(code, text, False)
