"""The result codes of driver calls that the simulator returns.

CUresult and hipError_t give them the same numbers.
"""

from enum import IntEnum
from typing import TypeAlias


class DriverResult(IntEnum):
    """Result codes of driver calls (CUDA driver API: CUresult; HIP: hipError_t).

    `NOT_SIMULATED` is none of them: the stand-in driver ends the program, whose runtime would otherwise
    report a crash of its own before the tool gives the reason.
    """

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_CODE = 218
    INVALID_HANDLE = 400
    NOT_FOUND = 500
    NOT_READY = 600
    LAUNCH_FAILED = 719
    NOT_SUPPORTED = 801
    SYSTEM_DRIVER_MISMATCH = 803
    INVALID_CLUSTER_SIZE = 912
    UNKNOWN = 999
    NOT_SIMULATED = 10000


Reply: TypeAlias = tuple[int, bytes]
"""The reply to a request: a CUresult, and the bytes that `protocol.REQUESTS` specifies."""

OK: Reply = (DriverResult.SUCCESS, b"")
INVALID: Reply = (DriverResult.INVALID_VALUE, b"")
