"""Stamps record the inputs of a folder of the build, so that it is made again only after a change."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class Stamp(Struct, frozen=True):
    """A folder and the digest of its inputs, stored in a file next to the folder.

    Attributes:
        folder: the output.
        key: the digest.
    """

    folder: Path
    key: str

    @property
    def _file(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.made-from")

    def holds(self) -> bool:
        """Whether the folder is complete and was made from these inputs."""
        try:
            return self._file.read_text(encoding="utf-8") == self.key and self.folder.is_dir()
        except OSError:
            return False

    def begin(self) -> None:
        """Marks the folder as incomplete: if the work is interrupted, it is made again."""
        self._file.unlink(missing_ok=True)

    def finish(self) -> None:
        """Marks the folder as complete."""
        self._file.write_text(self.key, encoding="utf-8")
