"""The stand-in libraries, built from `driver/*.mojo` with the local toolchain and cached."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from msgspec import Struct

from tooling.toolchain import BuildCache, BuildRequest, Toolchain, build
from tooling.toolchain.cache import fallback_cache

SOURCE = Path(__file__).parents[1] / "nvidia" / "driver" / "library.mojo"

CUDA = "libcuda.so.1"
NVML = "libnvidia-ml.so.1"
NVPTX = "libNVPTX.so"


class Libraries(Struct, frozen=True):
    """The location of the stand-ins.

    Attributes:
        folder: holds `libcuda.so.1`, `libnvidia-ml.so.1` and `libNVPTX.so`: one file under three names.
        runtime: Mojo's own libraries, which they need.
    """

    folder: Path
    runtime: Path

    @property
    def search_path(self) -> str:
        """The first entries of LD_LIBRARY_PATH."""
        return os.pathsep.join((str(self.folder), str(self.runtime)))

    @property
    def nvptx(self) -> Path:
        """The value of MODULAR_NVPTX_LIBRARY_PATH."""
        return self.folder / NVPTX


def find_libraries(toolchain: Toolchain, cache: BuildCache) -> Libraries:
    """The stand-ins: found in the cache, or built into it (about 5 s).

    Raises:
        BuildFailed: the compiler rejects them, which is a defect of this package.
        NoLinker: this machine has no linker.
        CacheUnusable: no cache folder is writable.
    """
    # Unoptimised: it forwards requests and moves bytes with memcpy, and the first run waits for it.
    request = BuildRequest(SOURCE, emit="shared-lib", line_tables=False, optimization=0)
    library = build(request, toolchain, cache).path
    try:
        folder = _linked_folder(library, library.parents[2])
    except OSError:  # a read-only cache of another user
        folder = _linked_folder(library, fallback_cache().root)
    return Libraries(folder, toolchain.library_dir)


def _linked_folder(library: Path, root: Path) -> Path:
    """A folder under `root` with the three names for the library, each created atomically.

    The names are links: the loader identifies a file by its inode and loads it once, so that all three share
    one connection.
    """
    home = root / "simulator"
    folder = home / hashlib.sha256(str(library).encode()).hexdigest()[:32]
    missing = [name for name in (CUDA, NVML, NVPTX) if not _leads_to(folder / name, library)]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home) as partial:
            for name in missing:
                link = Path(partial) / name
                link.symlink_to(library)
                link.replace(folder / name)
    return folder


def _leads_to(link: Path, library: Path) -> bool:
    return link.exists() and link.samefile(library)
