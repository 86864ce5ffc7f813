"""Builds Mojo programs: finds the pinned compiler, builds, caches, explains the compiler's messages."""

from tooling.toolchain.build import BuildFailed, Executable, build
from tooling.toolchain.cache import BuildCache, open_cache
from tooling.toolchain.cache_key import BuildRequest
from tooling.toolchain.mojo import MojoNotFound, MojoVersionMismatch, Toolchain, find_toolchain

__all__ = [
    "BuildCache",
    "BuildFailed",
    "BuildRequest",
    "Executable",
    "MojoNotFound",
    "MojoVersionMismatch",
    "Toolchain",
    "build",
    "find_toolchain",
    "open_cache",
]
