"""Keeping freed memory in the process while kernels run.

The engine allocates and frees thousands of arrays of about 100 KiB. By default glibc returns each to the
system and gets it again page by page, which costs more than the arithmetic (measured: up to five times).
"""

from __future__ import annotations

import ctypes
from functools import cache

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


@cache
def keep_freed_memory() -> bool:
    """Make glibc keep freed blocks, once; returns False without glibc."""
    library = ctypes.CDLL(None)
    mallopt = getattr(library, "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, 1 << 28)) and bool(mallopt(_M_TRIM_THRESHOLD, 1 << 29))
