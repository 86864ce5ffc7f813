"""Functions that Mojo looks up and the simulated GPU does not support: each names itself and fails.

Their parameters are not read, so that they need no declaration.
"""

from session import unsupported


@export("hipCallKernelDirect")
def hipCallKernelDirect() abi("C") -> Int32:
    """The hipCallKernelDirect of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipCallKernelDirect")


@export("hipGraphAddBatchMemOpNode")
def hipGraphAddBatchMemOpNode() abi("C") -> Int32:
    """The hipGraphAddBatchMemOpNode of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipGraphAddBatchMemOpNode")


@export("hipGraphDebugDotPrint")
def hipGraphDebugDotPrint() abi("C") -> Int32:
    """The hipGraphDebugDotPrint of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipGraphDebugDotPrint")


@export("hipMemAddressFree")
def hipMemAddressFree() abi("C") -> Int32:
    """The hipMemAddressFree of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipMemAddressFree")


@export("hipMemAddressReserve")
def hipMemAddressReserve() abi("C") -> Int32:
    """The hipMemAddressReserve of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipMemAddressReserve")


@export("hipMemCreate")
def hipMemCreate() abi("C") -> Int32:
    """The hipMemCreate of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipMemCreate")


@export("hipMemGetAllocationGranularity")
def hipMemGetAllocationGranularity() abi("C") -> Int32:
    """The hipMemGetAllocationGranularity of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipMemGetAllocationGranularity")


@export("hipMemMap")
def hipMemMap() abi("C") -> Int32:
    """The hipMemMap of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipMemMap")


@export("hipMemRelease")
def hipMemRelease() abi("C") -> Int32:
    """The hipMemRelease of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipMemRelease")


@export("hipMemSetAccess")
def hipMemSetAccess() abi("C") -> Int32:
    """The hipMemSetAccess of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipMemSetAccess")


@export("hipMemUnmap")
def hipMemUnmap() abi("C") -> Int32:
    """The hipMemUnmap of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipMemUnmap")


@export("hipMemcpyBatch")
def hipMemcpyBatch() abi("C") -> Int32:
    """The hipMemcpyBatch of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipMemcpyBatch")


@export("hipMemcpyBatchAsync")
def hipMemcpyBatchAsync() abi("C") -> Int32:
    """The hipMemcpyBatchAsync of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipMemcpyBatchAsync")


@export("hipPointerGetAttributes")
def hipPointerGetAttributes() abi("C") -> Int32:
    """The hipPointerGetAttributes of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipPointerGetAttributes")


@export("hipStreamBeginCapture")
def hipStreamBeginCapture() abi("C") -> Int32:
    """The hipStreamBeginCapture of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipStreamBeginCapture")


@export("hipStreamEndCapture")
def hipStreamEndCapture() abi("C") -> Int32:
    """The hipStreamEndCapture of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipStreamEndCapture")


@export("hipStreamUpdateCaptureDependencies")
def hipStreamUpdateCaptureDependencies() abi("C") -> Int32:
    """The hipStreamUpdateCaptureDependencies of the runtime API: NOT_SUPPORTED.
    """
    return unsupported("hipStreamUpdateCaptureDependencies")


@export("hipStreamWaitValue64")
def hipStreamWaitValue64() abi("C") -> Int32:
    """The hipStreamWaitValue64 of the runtime API: NOT_SUPPORTED."""
    return unsupported("hipStreamWaitValue64")
