"""The optional parts of the environment that some programs need: MAX with its graphs, and PyTorch."""

from __future__ import annotations

from msgspec import Struct

from tooling.catalog.model import Extra
from tooling.errors import ToolingError
from tooling.exit_codes import ExitCode
from tooling.pins import MAX_VERSION


class ExtraMissing(ToolingError):
    """A program needs an optional package that this environment does not have."""

    exit_code = ExitCode.NOT_POSSIBLE


class _Package(Struct, frozen=True):
    distribution: str
    name: str
    because: str
    pinned: str = ""  # empty: any version will do


_MAX = _Package(
    "max",
    "MAX",
    "it drives a MAX graph from Python; most puzzles do without, so MAX is the extra `max`",
    MAX_VERSION,
)
_TORCH = _Package(
    "torch",
    "PyTorch",
    "it calls an operation with PyTorch's tensors; PyTorch is large, so it is the extra `torch`",
)
_PACKAGES = {Extra.MAX: (_MAX,), Extra.TORCH: (_MAX, _TORCH)}


def require_extra(program: str, extra: Extra) -> None:
    """Makes sure that what a program needs is installed, MAX in the version that the puzzles are written for.

    Args:
        program: what the user typed after `tooling run`, for the message.

    Raises:
        ExtraMissing: it is not, with the commands that install it.
    """
    import importlib.metadata  # noqa: PLC0415 - slow to import, and few programs ask

    hint = f"uv run --extra {extra.value} poe {program}, or: pixi run -e {extra.value} {program}"
    for package in _PACKAGES[extra]:
        try:
            version = importlib.metadata.version(package.distribution)
        except importlib.metadata.PackageNotFoundError:
            raise ExtraMissing(
                f"`{program}` needs {package.name}, which this environment does not have",
                why=package.because,
                hint=hint,
            ) from None
        if package.pinned and version != package.pinned:
            name = package.name
            raise ExtraMissing(
                f"{name} {version} found, but `{program}` is written for {name} {package.pinned}",
                why="each MAX release goes with one Mojo release",
                hint=hint,
            )
