"""Which launches are profiled, or reported: those of some kernels, by their number."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class LaunchSelection(Struct, frozen=True):
    """Launches by the name of their kernel and their number among those of that name.

    Attributes:
        kernel: a part of the kernel's name; empty: all kernels.
        skip: how many of them are left out at the beginning.
        count: how many then count; None: all others.
    """

    kernel: str = ""
    skip: int = 0
    count: int | None = None

    @property
    def everything(self) -> bool:
        return not self.kernel and not self.skip and self.count is None

    def numbers(self, kernels: Sequence[str]) -> list[int]:
        """The selected launches, as indices of the list of the names of all launches."""
        named = [index for index, name in enumerate(kernels) if self.kernel in name]
        return named[self.skip :][: self.count]

    def wants(self, name: str, earlier: int) -> bool:
        """Whether a launch is selected, after `earlier` ones whose kernels have the wanted name."""
        return (
            self.kernel in name
            and earlier >= self.skip
            and (self.count is None or earlier < self.skip + self.count)
        )
