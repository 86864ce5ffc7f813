"""The simulated device: its attributes, as the driver reports them, and its launch limits.

The attributes are those of an H200 (recorded in `tests/simulator/data/driver_answers.json`), except for
features that the simulator does not support.
"""

from __future__ import annotations

NAME = "Simulated NVIDIA H200"

MEMORY_BYTES = 16 << 30
"""Device memory reported. MAX derives the size of its staging pools from it; unused memory costs nothing."""

WARP_SIZE = 32
MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MULTIPROCESSORS = 132
MAX_SHARED_PER_BLOCK = 49152
MAX_SHARED_PER_BLOCK_OPT_IN = 232448
SHARED_PER_MULTIPROCESSOR = 233472
RESERVED_SHARED_PER_BLOCK = 1024
MAX_THREADS_PER_MULTIPROCESSOR = 2048
MAX_BLOCKS_PER_MULTIPROCESSOR = 32
PORTABLE_CLUSTER = 8
MAX_CLUSTER = 16
COMPUTE_CAPABILITY = (9, 0)

# fmt: off
ATTRIBUTES: dict[int, int] = {
    1: MAX_THREADS_PER_BLOCK, 2: MAX_BLOCK[0], 3: MAX_BLOCK[1], 4: MAX_BLOCK[2],
    5: MAX_GRID[0], 6: MAX_GRID[1], 7: MAX_GRID[2],
    8: MAX_SHARED_PER_BLOCK, 9: 65536, 10: WARP_SIZE, 11: 2147483647, 12: 65536, 13: 1980000, 14: 512, 15: 1,
    16: MULTIPROCESSORS, 17: 0, 18: 0, 19: 1, 20: 0, 21: 131072, 22: 131072, 23: 65536, 24: 16384, 25: 16384,
    26: 16384, 27: 32768, 28: 32768, 29: 2048, 30: 512, 31: 1, 32: 1, 33: 0, 34: 6, 35: 0, 36: 3201000,
    37: 6016, 38: 62914560, 39: MAX_THREADS_PER_MULTIPROCESSOR, 40: 3, 41: 1, 42: 32768, 43: 2048, 44: 1,
    45: 32768, 46: 32768, 47: 8192, 48: 8192, 49: 32768, 50: 0, 51: 32, 52: 32768, 53: 32768, 54: 2046,
    55: 32768, 56: 131072, 57: 65536, 58: 16384, 59: 16384, 60: 16384, 61: 32768, 62: 2048, 63: 32768,
    64: 32768, 65: 2048, 66: 32768, 67: 32768, 68: 2046, 69: 268435456, 70: 131072, 71: 65000, 72: 2097120,
    73: 32768, 74: 32768, 75: COMPUTE_CAPABILITY[0], 76: COMPUTE_CAPABILITY[1], 77: 32768, 78: 1, 79: 1,
    80: 1, 81: SHARED_PER_MULTIPROCESSOR, 82: 65536, 84: 0, 85: 0, 86: 0, 87: 2, 88: 0, 90: 1,
    92: 0, 93: 0, 94: 0, 95: 1, 96: 1, 97: MAX_SHARED_PER_BLOCK_OPT_IN, 98: 0, 100: 0, 101: 0, 104: 0, 105: 0,
    106: MAX_BLOCKS_PER_MULTIPROCESSOR, 108: 39321600, 109: 134217728, 111: RESERVED_SHARED_PER_BLOCK,
    102: 1, 120: 1, 126: 4, 127: 1, 129: 1, 130: 0, 131: -1, 132: 0, 133: 0, 134: 0, 135: 0, 136: 0, 137: 0,
    138: 0, 139: 590680286, 140: 415174878, 143: 0, 146: 0, 147: 0,
    # Not supported: managed memory, registered host memory at its own address, shareable handles,
    # compression, pools, GPUDirect, stream memory operations, interop.
    83: 0, 89: 0, 91: 0, 99: 1, 103: 0, 107: 0, 110: 0, 112: 0, 113: 0, 114: 0, 115: 0, 116: 0,
    117: 0, 118: 0, 119: 0, 121: 0, 122: 0, 123: 0, 124: 0, 125: 0, 128: 0, 141: 0, 142: 0, 144: 0,
    145: 0,
}
# fmt: on
"""CUdevice_attribute number to value."""
