"""Unsupported driver functions: each reports its name on stderr and returns NOT_SUPPORTED.

MAX looks all of them up when it starts, and aborts if one is missing, but calls none for an ordinary
program. They are declared without arguments, which the C calling conventions allow.
"""

from session import unsupported


@export("cuStreamWaitValue64_v2")
def cuStreamWaitValue64_v2() abi("C") -> Int32:
    """The cuStreamWaitValue64_v2 of the driver API ("Stream Memory Operations"): not supported.
    """
    return unsupported("cuStreamWaitValue64_v2")


@export("cuGraphKernelNodeSetAttribute")
def cuGraphKernelNodeSetAttribute() abi("C") -> Int32:
    """The cuGraphKernelNodeSetAttribute of the driver API ("Graph Management"): not supported.
    """
    return unsupported("cuGraphKernelNodeSetAttribute")


@export("cuGraphDebugDotPrint")
def cuGraphDebugDotPrint() abi("C") -> Int32:
    """The cuGraphDebugDotPrint of the driver API ("Graph Management"): not supported.
    """
    return unsupported("cuGraphDebugDotPrint")


@export("cuMemGetHandleForAddressRange")
def cuMemGetHandleForAddressRange() abi("C") -> Int32:
    """The cuMemGetHandleForAddressRange of the driver API ("Memory Management"): not supported.
    """
    return unsupported("cuMemGetHandleForAddressRange")


@export("cuMemExportToShareableHandle")
def cuMemExportToShareableHandle() abi("C") -> Int32:
    """The cuMemExportToShareableHandle of the driver API ("Virtual Memory Management"): not supported.
    """
    return unsupported("cuMemExportToShareableHandle")


@export("cuMulticastCreate")
def cuMulticastCreate() abi("C") -> Int32:
    """The cuMulticastCreate of the driver API ("Multicast Object Management"): not supported.
    """
    return unsupported("cuMulticastCreate")


@export("cuMulticastGetGranularity")
def cuMulticastGetGranularity() abi("C") -> Int32:
    """The cuMulticastGetGranularity of the driver API ("Multicast Object Management"): not supported.
    """
    return unsupported("cuMulticastGetGranularity")


@export("cuMulticastAddDevice")
def cuMulticastAddDevice() abi("C") -> Int32:
    """The cuMulticastAddDevice of the driver API ("Multicast Object Management"): not supported.
    """
    return unsupported("cuMulticastAddDevice")


@export("cuMulticastBindMem")
def cuMulticastBindMem() abi("C") -> Int32:
    """The cuMulticastBindMem of the driver API ("Multicast Object Management"): not supported.
    """
    return unsupported("cuMulticastBindMem")


@export("cuMulticastUnbind")
def cuMulticastUnbind() abi("C") -> Int32:
    """The cuMulticastUnbind of the driver API ("Multicast Object Management"): not supported.
    """
    return unsupported("cuMulticastUnbind")


@export("cuMemcpyBatchAsync")
def cuMemcpyBatchAsync() abi("C") -> Int32:
    """The cuMemcpyBatchAsync of the driver API ("Memory Management"): not supported.
    """
    return unsupported("cuMemcpyBatchAsync")
