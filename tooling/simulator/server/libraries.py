"""The stand-in libraries, built from a back end's `driver/*.mojo` with the local toolchain and cached."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tooling.simulator.backends import default_backend
from tooling.simulator.program.backend import StandIns
from tooling.toolchain import BuildCache, BuildRequest, Toolchain, build
from tooling.toolchain.cache import fallback_cache


class Libraries(Struct, frozen=True):
    """The location of the stand-ins.

    Attributes:
        folder: holds one file under the names of the libraries that it replaces (`Backend.stand_ins`).
        runtime: Mojo's own libraries, which they need.
    """

    folder: Path
    runtime: Path

    @property
    def search_path(self) -> str:
        """The first entries of LD_LIBRARY_PATH."""
        return os.pathsep.join((str(self.folder), str(self.runtime)))


def find_libraries(toolchain: Toolchain, cache: BuildCache, stand_ins: StandIns | None = None) -> Libraries:
    """The stand-ins: found in the cache, or built into it (about 5 s).

    Args:
        stand_ins: of the back end; None: of the default one.

    Raises:
        BuildFailed: the compiler rejects them, which is a defect of this package.
        NoLinker: this machine has no linker.
        CacheUnusable: no cache folder is writable.
    """
    wanted = stand_ins or default_backend().stand_ins
    # Unoptimised: it forwards requests and moves bytes with memcpy, and the first run waits for it.
    request = BuildRequest(
        wanted.source, emit="shared-lib", line_tables=False, optimization=0, includes=wanted.includes
    )
    library = build(request, toolchain, cache).path
    try:
        folder = _linked_folder(library, library.parents[2], wanted.names)
    except OSError:  # a read-only cache of another user
        folder = _linked_folder(library, fallback_cache().root, wanted.names)
    return Libraries(folder, toolchain.library_dir)


def _linked_folder(library: Path, root: Path, names: Sequence[str]) -> Path:
    """A folder under `root` with these names for the library, each created atomically.

    The names are links: the loader identifies a file by its inode and loads it once, so that all share one
    connection.
    """
    parent = root / "simulator"
    folder = parent / hashlib.sha256(str(library).encode()).hexdigest()[:32]
    missing = [name for name in names if not _leads_to(folder / name, library)]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent) as partial:
            for name in missing:
                link = Path(partial) / name
                link.symlink_to(library)
                link.replace(folder / name)
    return folder


def _leads_to(link: Path, library: Path) -> bool:
    return link.exists() and link.samefile(library)
