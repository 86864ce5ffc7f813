"""The lab folder: how the judge hands data to a program and gets its buffers back.

The other side is problems/lab/channel.mojo. All files are the raw little-endian bytes of a buffer:
`in/NAME.bin` replaces what the program filled in, `used/NAME.DTYPE.bin` is what it then worked on,
`out/NAME.DTYPE.bin` is its result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

VARIABLE = "PUZZLE_LAB_DIR"


@dataclass(frozen=True, slots=True)
class Buffer:
    """The bytes of one buffer with the element type that the program gave it."""

    dtype: str  # NumPy name
    content: bytes

    def array(self) -> numpy.ndarray:
        """The elements in one dimension; bfloat16 comes as float32, which holds every one of its values.

        Raises:
            ValueError: the bytes are not a whole number of elements, or the type is unknown.
        """
        import numpy  # noqa: PLC0415 - a tenth of a second that only judging needs

        if self.dtype == "bfloat16":
            halves = numpy.frombuffer(self.content, dtype="<u2")
            return (halves.astype("<u4") << 16).view("<f4")
        return numpy.frombuffer(self.content, dtype=numpy.dtype(self.dtype).newbyteorder("<"))


@dataclass(frozen=True, slots=True)
class LabFolder:
    """One run's folder."""

    root: Path

    def stage(self, arrays: Mapping[str, numpy.ndarray]) -> None:
        """Writes the data that the program is to work on instead of its own."""
        folder = self.root / "in"
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            little_endian = array.astype(array.dtype.newbyteorder("<"), copy=False)
            (folder / f"{name}.bin").write_bytes(little_endian.tobytes())

    def used(self) -> dict[str, Buffer]:
        """What the program worked on, by buffer name."""
        return _buffers(self.root / "used")

    def submitted(self) -> dict[str, Buffer]:
        """What the program handed in, by buffer name."""
        return _buffers(self.root / "out")


def _buffers(folder: Path) -> dict[str, Buffer]:
    found: dict[str, Buffer] = {}
    if folder.is_dir():
        for path in sorted(folder.glob("*.bin")):
            name, _, dtype = path.name.removesuffix(".bin").rpartition(".")
            found[name] = Buffer(dtype, path.read_bytes())
    return found
