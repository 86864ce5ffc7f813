"""CUresult: the codes of the CUDA driver API that the simulator returns."""

from enum import IntEnum
from typing import TypeAlias


class CudaResult(IntEnum):
    """Result codes of driver calls (CUDA driver API, "Data types used by CUDA driver": CUresult)."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_PTX = 218
    INVALID_HANDLE = 400
    NOT_FOUND = 500
    LAUNCH_FAILED = 719
    NOT_SUPPORTED = 801
    SYSTEM_DRIVER_MISMATCH = 803
    INVALID_CLUSTER_SIZE = 912
    UNKNOWN = 999


Reply: TypeAlias = tuple[int, bytes]
"""The reply to a request: a CUresult, and the bytes that `protocol.REQUESTS` specifies."""

OK: Reply = (CudaResult.SUCCESS, b"")
INVALID: Reply = (CudaResult.INVALID_VALUE, b"")
