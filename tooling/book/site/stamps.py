"""What a folder of the build was made from: made from the same, it is right already."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class Stamp(Struct, frozen=True):
    """A folder and a digest of everything that goes into it, kept in a file beside the folder.

    Attributes:
        folder: what is made.
        key: the digest.
    """

    folder: Path
    key: str

    @property
    def _file(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.made-from")

    def holds(self) -> bool:
        """Is the folder there, made from this and to its end?"""
        try:
            return self._file.read_text(encoding="utf-8") == self.key and self.folder.is_dir()
        except OSError:
            return False

    def begin(self) -> None:
        """From now on the folder is being made; should that not come to an end, it is made again."""
        self._file.unlink(missing_ok=True)

    def finish(self) -> None:
        """The folder is made."""
        self._file.write_text(self.key, encoding="utf-8")
