"""The lab folder: how the judge passes data to a program and reads its buffers back.

The program's side is problems/lab/channel.mojo. All files are the raw little-endian bytes of a buffer:
`in/NAME.bin` replaces the program's own data, `used/NAME.DTYPE.bin` is the data that it used, and
`out/NAME.DTYPE.bin` is its result. The program can write to the folder while it runs, so these files are not
trusted: they may be pipes or links to devices, and of any size.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.platform.regular_files import WrongSize, read_regular

if TYPE_CHECKING:
    import numpy

VARIABLE = "PUZZLE_LAB_DIR"
_WIDEST = 8  # bytes of an element


def element_bytes(dtype: str) -> int:
    """The size in bytes of an element of a type of the manifest."""
    import numpy  # noqa: PLC0415 - as in `BufferContent.array`

    return 2 if dtype == "bfloat16" else numpy.dtype(dtype).itemsize


class Fault(Enum):
    """Why the file of a buffer was not read."""

    IRREGULAR = "irregular"  # a pipe, a symbolic link, a device, a folder, or not readable
    TOO_LARGE = "too large"


class BufferContent(Struct, frozen=True):
    """The bytes of one buffer with the element type that the program gave it.

    Attributes:
        dtype: as in the file's name; a NumPy name if the program used `stage` or `submit`.
        content: empty if the file was not read.
        fault: why it was not read; None if it was.
    """

    dtype: str
    content: bytes
    fault: Fault | None = None

    def array(self) -> numpy.ndarray:
        """The elements in one dimension; bfloat16 is converted to float32, which represents all its values.

        Raises:
            ValueError: the bytes are not a whole number of elements, or the type is unknown.
        """
        import numpy  # noqa: PLC0415 - takes 0.1 s, and only judging needs it

        if self.dtype == "bfloat16":
            halves = numpy.frombuffer(self.content, dtype="<u2")
            return (halves.astype("<u4") << 16).view("<f4")
        return numpy.frombuffer(self.content, dtype=numpy.dtype(self.dtype).newbyteorder("<"))


class LabFolder(Struct, frozen=True):
    """One run's folder."""

    root: Path

    def create(self) -> None:
        """Makes the folder, and those that the program writes to.

        `lab` does not make them: the compiler refuses a program in which two declarations of a C function
        differ, and the standard library declares `mkdir` for whoever opens a file.
        """
        for name in ("used", "out"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def stage(self, arrays: Mapping[str, numpy.ndarray]) -> None:
        """Writes the data that the program uses instead of its own."""
        folder = self.root / "in"
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            little_endian = array.astype(array.dtype.newbyteorder("<"), copy=False)
            (folder / f"{name}.bin").write_bytes(little_endian.tobytes())

    def used(self, elements: Mapping[str, int]) -> dict[str, BufferContent]:
        """The data that the program used, by buffer name.

        Args:
            elements: the number of elements of each buffer; files with other names are not read, nor is a
                file that is larger than this many elements of the widest type.
        """
        return _buffers(self.root / "used", elements)

    def submitted(self, elements: Mapping[str, int]) -> dict[str, BufferContent]:
        """The buffers that the program handed in, by name. The argument is that of `used`."""
        return _buffers(self.root / "out", elements)


def _buffers(folder: Path, elements: Mapping[str, int]) -> dict[str, BufferContent]:
    if folder.is_symlink():
        return {}
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:  # nothing was handed in, or the folder was made unreadable
        return {}
    found: dict[str, BufferContent] = {}
    for name in names:
        buffer, _, dtype = name.removesuffix(".bin").rpartition(".")
        if not name.endswith(".bin") or buffer not in elements:
            continue
        try:
            content = read_regular(folder / name, follow=False, limit=elements[buffer] * _WIDEST)
            found[buffer] = BufferContent(dtype, content)
        except WrongSize:
            found[buffer] = BufferContent(dtype, b"", Fault.TOO_LARGE)
        except OSError:
            found[buffer] = BufferContent(dtype, b"", Fault.IRREGULAR)
    return found
