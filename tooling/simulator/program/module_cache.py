"""A cache of properties of a kernel's text, computed once for all its launches."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Found = TypeVar("Found")


class ModuleCache(Generic[Found]):
    """Values by what they depend on; the oldest are evicted.

    Args:
        most: the maximum number of values.
    """

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, Found] = OrderedDict()

    def get(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """The value for a key, which must contain everything it depends on; `find` computes it if missing."""
        if key not in self._known:
            self._known[key] = find()
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return self._known[key]
