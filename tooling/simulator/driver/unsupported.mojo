"""The driver functions that the simulated GPU does not have: each names itself and says NOT_SUPPORTED.

MAX looks all of them up when it starts, and aborts if one is missing, but calls none for an ordinary
program. They take no arguments here, which the C calling conventions allow, and touch nothing.
"""

from session import unsupported


@export("cuDeviceGetMemPool")
def cuDeviceGetMemPool() abi("C") -> Int32:
    """The cuDeviceGetMemPool of the driver API ("Stream Ordered Memory Allocator"): not supported."""
    return unsupported("cuDeviceGetMemPool")


@export("cuDeviceGetP2PAttribute")
def cuDeviceGetP2PAttribute() abi("C") -> Int32:
    """The cuDeviceGetP2PAttribute of the driver API ("Peer Context Memory Access"): not supported."""
    return unsupported("cuDeviceGetP2PAttribute")


@export("cuStreamWaitValue64_v2")
def cuStreamWaitValue64_v2() abi("C") -> Int32:
    """The cuStreamWaitValue64_v2 of the driver API ("Stream Memory Operations"): not supported."""
    return unsupported("cuStreamWaitValue64_v2")


@export("cuStreamBeginCapture")
def cuStreamBeginCapture() abi("C") -> Int32:
    """The cuStreamBeginCapture of the driver API ("Graph Management"): not supported."""
    return unsupported("cuStreamBeginCapture")


@export("cuStreamEndCapture")
def cuStreamEndCapture() abi("C") -> Int32:
    """The cuStreamEndCapture of the driver API ("Graph Management"): not supported."""
    return unsupported("cuStreamEndCapture")


@export("cuGraphCreate")
def cuGraphCreate() abi("C") -> Int32:
    """The cuGraphCreate of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphCreate")


@export("cuGraphAddKernelNode")
def cuGraphAddKernelNode() abi("C") -> Int32:
    """The cuGraphAddKernelNode of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphAddKernelNode")


@export("cuGraphAddMemcpyNode")
def cuGraphAddMemcpyNode() abi("C") -> Int32:
    """The cuGraphAddMemcpyNode of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphAddMemcpyNode")


@export("cuGraphAddMemsetNode")
def cuGraphAddMemsetNode() abi("C") -> Int32:
    """The cuGraphAddMemsetNode of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphAddMemsetNode")


@export("cuGraphAddEmptyNode")
def cuGraphAddEmptyNode() abi("C") -> Int32:
    """The cuGraphAddEmptyNode of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphAddEmptyNode")


@export("cuGraphAddChildGraphNode")
def cuGraphAddChildGraphNode() abi("C") -> Int32:
    """The cuGraphAddChildGraphNode of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphAddChildGraphNode")


@export("cuGraphKernelNodeSetAttribute")
def cuGraphKernelNodeSetAttribute() abi("C") -> Int32:
    """The cuGraphKernelNodeSetAttribute of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphKernelNodeSetAttribute")


@export("cuGraphInstantiate")
def cuGraphInstantiate() abi("C") -> Int32:
    """The cuGraphInstantiate of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphInstantiate")


@export("cuGraphInstantiateWithFlags")
def cuGraphInstantiateWithFlags() abi("C") -> Int32:
    """The cuGraphInstantiateWithFlags of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphInstantiateWithFlags")


@export("cuGraphInstantiateWithParams")
def cuGraphInstantiateWithParams() abi("C") -> Int32:
    """The cuGraphInstantiateWithParams of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphInstantiateWithParams")


@export("cuGraphDestroy")
def cuGraphDestroy() abi("C") -> Int32:
    """The cuGraphDestroy of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphDestroy")


@export("cuGraphExecDestroy")
def cuGraphExecDestroy() abi("C") -> Int32:
    """The cuGraphExecDestroy of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphExecDestroy")


@export("cuGraphLaunch")
def cuGraphLaunch() abi("C") -> Int32:
    """The cuGraphLaunch of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphLaunch")


@export("cuGraphDebugDotPrint")
def cuGraphDebugDotPrint() abi("C") -> Int32:
    """The cuGraphDebugDotPrint of the driver API ("Graph Management"): not supported."""
    return unsupported("cuGraphDebugDotPrint")


@export("cuDeviceGetGraphMemAttribute")
def cuDeviceGetGraphMemAttribute() abi("C") -> Int32:
    """The cuDeviceGetGraphMemAttribute of the driver API ("Graph Management"): not supported."""
    return unsupported("cuDeviceGetGraphMemAttribute")


@export("cuMemGetHandleForAddressRange")
def cuMemGetHandleForAddressRange() abi("C") -> Int32:
    """The cuMemGetHandleForAddressRange of the driver API ("Memory Management"): not supported."""
    return unsupported("cuMemGetHandleForAddressRange")


@export("cuMemPoolSetAccess")
def cuMemPoolSetAccess() abi("C") -> Int32:
    """The cuMemPoolSetAccess of the driver API ("Stream Ordered Memory Allocator"): not supported."""
    return unsupported("cuMemPoolSetAccess")


@export("cuMemPoolTrimTo")
def cuMemPoolTrimTo() abi("C") -> Int32:
    """The cuMemPoolTrimTo of the driver API ("Stream Ordered Memory Allocator"): not supported."""
    return unsupported("cuMemPoolTrimTo")


@export("cuMemGetAllocationGranularity")
def cuMemGetAllocationGranularity() abi("C") -> Int32:
    """The cuMemGetAllocationGranularity of the driver API ("Virtual Memory Management"): not supported."""
    return unsupported("cuMemGetAllocationGranularity")


@export("cuMemCreate")
def cuMemCreate() abi("C") -> Int32:
    """The cuMemCreate of the driver API ("Virtual Memory Management"): not supported."""
    return unsupported("cuMemCreate")


@export("cuMemExportToShareableHandle")
def cuMemExportToShareableHandle() abi("C") -> Int32:
    """The cuMemExportToShareableHandle of the driver API ("Virtual Memory Management"): not supported."""
    return unsupported("cuMemExportToShareableHandle")


@export("cuMemRelease")
def cuMemRelease() abi("C") -> Int32:
    """The cuMemRelease of the driver API ("Virtual Memory Management"): not supported."""
    return unsupported("cuMemRelease")


@export("cuMemAddressReserve")
def cuMemAddressReserve() abi("C") -> Int32:
    """The cuMemAddressReserve of the driver API ("Virtual Memory Management"): not supported."""
    return unsupported("cuMemAddressReserve")


@export("cuMemAddressFree")
def cuMemAddressFree() abi("C") -> Int32:
    """The cuMemAddressFree of the driver API ("Virtual Memory Management"): not supported."""
    return unsupported("cuMemAddressFree")


@export("cuMemMap")
def cuMemMap() abi("C") -> Int32:
    """The cuMemMap of the driver API ("Virtual Memory Management"): not supported."""
    return unsupported("cuMemMap")


@export("cuMemUnmap")
def cuMemUnmap() abi("C") -> Int32:
    """The cuMemUnmap of the driver API ("Virtual Memory Management"): not supported."""
    return unsupported("cuMemUnmap")


@export("cuMemSetAccess")
def cuMemSetAccess() abi("C") -> Int32:
    """The cuMemSetAccess of the driver API ("Virtual Memory Management"): not supported."""
    return unsupported("cuMemSetAccess")


@export("cuMulticastCreate")
def cuMulticastCreate() abi("C") -> Int32:
    """The cuMulticastCreate of the driver API ("Multicast Object Management"): not supported."""
    return unsupported("cuMulticastCreate")


@export("cuMulticastGetGranularity")
def cuMulticastGetGranularity() abi("C") -> Int32:
    """The cuMulticastGetGranularity of the driver API ("Multicast Object Management"): not supported."""
    return unsupported("cuMulticastGetGranularity")


@export("cuMulticastAddDevice")
def cuMulticastAddDevice() abi("C") -> Int32:
    """The cuMulticastAddDevice of the driver API ("Multicast Object Management"): not supported."""
    return unsupported("cuMulticastAddDevice")


@export("cuMulticastBindMem")
def cuMulticastBindMem() abi("C") -> Int32:
    """The cuMulticastBindMem of the driver API ("Multicast Object Management"): not supported."""
    return unsupported("cuMulticastBindMem")


@export("cuMulticastUnbind")
def cuMulticastUnbind() abi("C") -> Int32:
    """The cuMulticastUnbind of the driver API ("Multicast Object Management"): not supported."""
    return unsupported("cuMulticastUnbind")



@export("cuTensorMapEncodeIm2col")
def cuTensorMapEncodeIm2col() abi("C") -> Int32:
    """The cuTensorMapEncodeIm2col of the driver API ("Tensor Map Object Management"): not supported."""
    return unsupported("cuTensorMapEncodeIm2col")


@export("cuMemcpyBatchAsync")
def cuMemcpyBatchAsync() abi("C") -> Int32:
    """The cuMemcpyBatchAsync of the driver API ("Memory Management"): not supported."""
    return unsupported("cuMemcpyBatchAsync")
