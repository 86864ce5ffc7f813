"""The library that replaces libamdhip64.so and libhsa-runtime64.so: one file with two names.

The compiler keeps an exported function of another module only if this module refers to it, so it refers to
all of them. A test compares the list with the names that Mojo looks up.
"""

import hip_device
import hip_graphs
import hip_memory
import hip_modules
import hip_streams
import hip_unsupported
import hsa


def _refer_to[*Types: AnyType](*functions: *Types):
    """No effect: passing a function as an argument keeps it in the library."""
    pass


@export("simulated_gpu_exports")
def simulated_gpu_exports() abi("C"):
    """Never called: refers to the exported functions."""
    _refer_to(
        hip_device.hipInit,
        hip_device.hipDriverGetVersion,
        hip_device.hipGetDeviceCount,
        hip_device.hipGetDevice,
        hip_device.hipSetDevice,
        hip_device.hipDeviceGetName,
        hip_device.hipDeviceGetAttribute,
        hip_device.hipDeviceCanAccessPeer,
        hip_device.hipDeviceEnablePeerAccess,
        hip_device.hipCtxGetCurrent,
        hip_device.hipDeviceGetStreamPriorityRange,
        hip_device.hipDeviceGetDefaultMemPool,
        hip_device.hipMemPoolSetAccess,
        hip_device.hipGetLastError,
        hip_device.hipDrvGetErrorName,
        hip_device.hipDrvGetErrorString,
    )
    _refer_to(
        hip_memory.hipMalloc,
        hip_memory.hipMallocAsync,
        hip_memory.hipFree,
        hip_memory.hipFreeAsync,
        hip_memory.hipHostMalloc,
        hip_memory.hipHostFree,
        hip_memory.hipHostGetDevicePointer,
        hip_memory.hipHostRegister,
        hip_memory.hipHostUnregister,
        hip_memory.hipMemGetInfo,
        hip_memory.hipMemcpy,
        hip_memory.hipMemcpyHtoD,
        hip_memory.hipMemcpyHtoDAsync,
        hip_memory.hipMemcpyDtoH,
        hip_memory.hipMemcpyDtoHAsync,
        hip_memory.hipMemcpyDtoD,
        hip_memory.hipMemcpyDtoDAsync,
        hip_memory.hipMemset,
        hip_memory.hipMemset2D,
        hip_memory.hipMemset2DAsync,
        hip_memory.hipMemsetD8,
        hip_memory.hipMemsetD8Async,
        hip_memory.hipMemsetD16,
        hip_memory.hipMemsetD16Async,
        hip_memory.hipMemsetD32,
        hip_memory.hipMemsetD32Async,
    )
    _refer_to(
        hip_modules.hipModuleLoadData,
        hip_modules.hipModuleLoadDataEx,
        hip_modules.hipModuleUnload,
        hip_modules.hipModuleGetFunction,
        hip_modules.hipModuleGetGlobal,
        hip_modules.hipFuncGetAttribute,
        hip_modules.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
        hip_modules.hipModuleLaunchKernel,
    )
    _refer_to(
        hip_streams.hipStreamCreate,
        hip_streams.hipStreamCreateWithPriority,
        hip_streams.hipStreamDestroy,
        hip_streams.hipStreamSynchronize,
        hip_streams.hipStreamWaitEvent,
        hip_streams.hipStreamIsCapturing,
        hip_streams.hipStreamGetCaptureInfo_v2,
        hip_streams.hipLaunchHostFunc,
        hip_streams.hipEventCreateWithFlags,
        hip_streams.hipEventDestroy,
        hip_streams.hipEventRecord,
        hip_streams.hipEventQuery,
        hip_streams.hipEventSynchronize,
        hip_streams.hipEventElapsedTime,
    )
    _refer_to(
        hip_graphs.hipGraphCreate,
        hip_graphs.hipGraphAddEmptyNode,
        hip_graphs.hipGraphAddKernelNode,
        hip_graphs.hipGraphAddMemsetNode,
        hip_graphs.hipGraphAddMemcpyNode1D,
        hip_graphs.hipGraphInstantiate,
        hip_graphs.hipGraphInstantiateWithFlags,
        hip_graphs.hipGraphLaunch,
        hip_graphs.hipGraphDestroy,
        hip_graphs.hipGraphExecDestroy,
    )
    _refer_to(
        hip_unsupported.hipCallKernelDirect,
        hip_unsupported.hipGraphAddBatchMemOpNode,
        hip_unsupported.hipGraphDebugDotPrint,
        hip_unsupported.hipMemAddressFree,
        hip_unsupported.hipMemAddressReserve,
        hip_unsupported.hipMemCreate,
        hip_unsupported.hipMemGetAllocationGranularity,
        hip_unsupported.hipMemMap,
        hip_unsupported.hipMemRelease,
        hip_unsupported.hipMemSetAccess,
        hip_unsupported.hipMemUnmap,
        hip_unsupported.hipMemcpyBatch,
        hip_unsupported.hipMemcpyBatchAsync,
        hip_unsupported.hipPointerGetAttributes,
        hip_unsupported.hipStreamBeginCapture,
        hip_unsupported.hipStreamEndCapture,
        hip_unsupported.hipStreamUpdateCaptureDependencies,
        hip_unsupported.hipStreamWaitValue64,
    )
    _refer_to(
        hsa.hsa_init,
        hsa.hsa_shut_down,
        hsa.hsa_iterate_agents,
        hsa.hsa_agent_get_info,
        hsa.hsa_agent_iterate_isas,
        hsa.hsa_isa_get_info_alt,
    )
