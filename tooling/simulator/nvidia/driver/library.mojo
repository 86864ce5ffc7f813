"""The library that replaces libcuda.so.1, libnvidia-ml.so.1 and libNVPTX.so: one file with three names.

The compiler keeps an exported function of another module only if this module refers to it, so it refers to
all of them. A test compares the list with the names that Mojo looks up.
"""

import device
import errors
import graphs
import memory
import modules
import nvml
import nvptx
import streams
import tensors
import unsupported
import virtual


def _refer_to[*Types: AnyType](*functions: *Types):
    """No effect: passing a function as an argument keeps it in the library."""
    pass


@export("simulated_gpu_exports")
def simulated_gpu_exports() abi("C"):
    """Never called: refers to the exported functions."""
    _refer_to(
        device.cuInit,
        device.cuDriverGetVersion,
        device.cuDeviceGet,
        device.cuDeviceGetCount,
        device.cuDeviceGetName,
        device.cuDeviceGetAttribute,
        device.cuDeviceCanAccessPeer,
        device.cuDevicePrimaryCtxRetain,
        device.cuDevicePrimaryCtxRelease_v2,
        device.cuCtxCreate_v2,
        device.cuCtxDestroy,
        device.cuCtxSetCurrent,
        device.cuCtxGetCurrent,
        device.cuCtxPushCurrent,
        device.cuCtxPopCurrent,
        device.cuCtxGetStreamPriorityRange,
        device.cuCtxEnablePeerAccess,
        device.cuDeviceGetP2PAttribute,
    )
    _refer_to(
        errors.cuGetErrorName,
        errors.cuGetErrorString,
    )
    _refer_to(
        graphs.cuStreamBeginCapture,
        graphs.cuStreamEndCapture,
        graphs.cuGraphCreate,
        graphs.cuGraphAddKernelNode,
        graphs.cuGraphAddMemcpyNode,
        graphs.cuGraphAddMemsetNode,
        graphs.cuGraphAddEmptyNode,
        graphs.cuGraphAddChildGraphNode,
        graphs.cuGraphInstantiate,
        graphs.cuGraphInstantiateWithFlags,
        graphs.cuGraphInstantiateWithParams,
        graphs.cuGraphDestroy,
        graphs.cuGraphExecDestroy,
        graphs.cuGraphLaunch,
        graphs.cuDeviceGetGraphMemAttribute,
    )
    _refer_to(
        memory.cuMemAlloc_v2,
        memory.cuMemAllocAsync,
        memory.cuMemAllocHost_v2,
        memory.cuMemHostAlloc,
        memory.cuMemFree_v2,
        memory.cuMemFreeAsync,
        memory.cuMemFreeHost,
        memory.cuMemHostGetDevicePointer_v2,
        memory.cuMemHostRegister_v2,
        memory.cuMemHostUnregister,
        memory.cuMemcpyHtoD_v2,
        memory.cuMemcpyHtoDAsync_v2,
        memory.cuMemcpyDtoH_v2,
        memory.cuMemcpyDtoHAsync_v2,
        memory.cuMemcpyDtoD_v2,
        memory.cuMemcpyDtoDAsync_v2,
        memory.cuMemcpyPeer,
        memory.cuMemcpyPeerAsync,
        memory.cuMemsetD8_v2,
        memory.cuMemsetD16_v2,
        memory.cuMemsetD32_v2,
        memory.cuMemsetD2D32_v2,
        memory.cuMemsetD8Async,
        memory.cuMemsetD16Async,
        memory.cuMemsetD32Async,
        memory.cuMemsetD2D32Async,
        memory.cuMemGetAddressRange_v2,
        memory.cuMemGetInfo_v2,
        memory.cuPointerGetAttributes,
        memory.cuPointerSetAttribute,
        memory.cuDeviceGetMemPool,
        memory.cuMemPoolTrimTo,
        memory.cuMemPoolSetAccess,
    )
    _refer_to(
        modules.cuModuleLoadDataEx,
        modules.cuModuleUnload,
        modules.cuModuleGetFunction,
        modules.cuModuleGetGlobal_v2,
        modules.cuFuncGetAttribute,
        modules.cuFuncSetAttribute,
        modules.cuFuncGetParamInfo,
        modules.cuOccupancyMaxActiveBlocksPerMultiprocessor,
        modules.cuLaunchKernel,
        modules.cuLaunchKernelEx,
    )
    _refer_to(
        nvml.nvmlInit_v2,
        nvml.nvmlShutdown,
        nvml.nvmlErrorString,
        nvml.nvmlDeviceGetCount_v2,
        nvml.nvmlDeviceGetHandleByIndex,
        nvml.nvmlDeviceGetCudaComputeCapability,
        nvml.nvmlSystemGetDriverVersion,
        nvml.nvmlDeviceGetName,
        nvml.nvmlDeviceGetPciInfo_v3,
        nvml.nvmlDeviceGetMemoryInfo,
        nvml.nvmlDeviceGetMigMode,
        nvml.nvmlDeviceGetCurrentClocksThrottleReasons,
        nvml.nvmlDeviceGetTotalEccErrors,
        nvml.nvmlDeviceGetComputeRunningProcesses_v3,
    )
    _refer_to(
        nvptx.nvPTXCompilerGetVersion,
        nvptx.nvPTXCompilerCreate,
        nvptx.nvPTXCompilerDestroy,
        nvptx.nvPTXCompilerCompile,
        nvptx.nvPTXCompilerGetCompiledProgramSize,
        nvptx.nvPTXCompilerGetCompiledProgram,
        nvptx.nvPTXCompilerGetErrorLogSize,
        nvptx.nvPTXCompilerGetErrorLog,
        nvptx.nvPTXCompilerGetInfoLogSize,
        nvptx.nvPTXCompilerGetInfoLog,
    )
    _refer_to(
        streams.cuStreamCreate,
        streams.cuStreamCreateWithPriority,
        streams.cuStreamDestroy,
        streams.cuStreamSynchronize,
        streams.cuStreamWaitEvent,
        streams.cuStreamIsCapturing,
        streams.cuStreamGetCaptureInfo_v2,
        streams.cuLaunchHostFunc,
        streams.cuEventCreate,
        streams.cuEventDestroy,
        streams.cuEventRecord,
        streams.cuEventQuery,
        streams.cuEventSynchronize,
        streams.cuEventElapsedTime,
    )
    _refer_to(
        tensors.cuTensorMapEncodeTiled,
        tensors.cuTensorMapEncodeIm2col,
    )
    _refer_to(
        unsupported.cuStreamWaitValue64_v2,
        unsupported.cuGraphKernelNodeSetAttribute,
        unsupported.cuGraphDebugDotPrint,
        unsupported.cuMemGetHandleForAddressRange,
        unsupported.cuMemExportToShareableHandle,
        unsupported.cuMulticastCreate,
        unsupported.cuMulticastGetGranularity,
        unsupported.cuMulticastAddDevice,
        unsupported.cuMulticastBindMem,
        unsupported.cuMulticastUnbind,
        unsupported.cuMemcpyBatchAsync,
    )
    _refer_to(
        virtual.cuMemGetAllocationGranularity,
        virtual.cuMemAddressReserve,
        virtual.cuMemAddressFree,
        virtual.cuMemCreate,
        virtual.cuMemRelease,
        virtual.cuMemRetainAllocationHandle,
        virtual.cuMemMap,
        virtual.cuMemUnmap,
        virtual.cuMemSetAccess,
        virtual.cuMemGetAccess,
    )
