"""Keeping freed memory in the process while kernels run.

The engine makes and drops arrays of some 100 KiB by the thousand. glibc hands each of them back to the system
and gets it again page by page, which costs more than the arithmetic does (measured: up to five times).
"""

from __future__ import annotations

import ctypes
from functools import cache

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


@cache
def keep_freed_memory() -> bool:
    """Tell glibc once to keep freed blocks; returns whether there is a glibc to tell."""
    library = ctypes.CDLL(None)
    mallopt = getattr(library, "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, 1 << 28)) and bool(mallopt(_M_TRIM_THRESHOLD, 1 << 29))
