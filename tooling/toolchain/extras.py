"""The optional packages that some programs need: MAX with its graphs, and PyTorch."""

from __future__ import annotations

from msgspec import Struct

from tooling.catalog.model import Extra
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.pins import MAX_VERSION
from tooling.text import Text


class ExtraMissing(ToolingError):
    """A program needs an optional package that this environment does not have."""

    exit_code = ExitCode.NOT_POSSIBLE


class _Package(Struct, frozen=True):
    distribution: str
    name: str
    because: Text
    pinned: str = ""  # empty: any version


_MAX = _Package(
    "max",
    "MAX",
    Text("it runs a MAX graph from Python; most puzzles do not need MAX, so it is the extra `max`"),
    MAX_VERSION,
)
_TORCH = _Package(
    "torch",
    "PyTorch",
    Text("it calls an operation with PyTorch tensors; PyTorch is large, so it is the extra `torch`"),
)
_PACKAGES = {Extra.MAX: (_MAX,), Extra.TORCH: (_MAX, _TORCH)}


def require_extra(program: str, extra: Extra) -> None:
    """Checks that the packages of an extra are installed, MAX in the pinned version.

    Args:
        program: its name, for the message.

    Raises:
        ExtraMissing: a package is missing or has another version; the hint has the commands that install it.
    """
    import importlib.metadata  # noqa: PLC0415 - slow to import, and rarely needed

    name = extra.value
    hint = Text(
        "uv run --extra {extra} tooling run {program}, or: pixi run -e {extra} tooling run {program}"
    ).of(extra=name, program=program)
    for package in _PACKAGES[extra]:
        try:
            version = importlib.metadata.version(package.distribution)
        except importlib.metadata.PackageNotFoundError:
            raise ExtraMissing(
                Text("`{program}` needs {name}, which this environment does not have").of(
                    program=program, name=package.name
                ),
                why=package.because,
                hint=hint,
            ) from None
        if package.pinned and version != package.pinned:
            wanted = f"{package.name} {package.pinned}"
            raise ExtraMissing(
                Text("{name} {version} found, but `{program}` is written for {wanted}").of(
                    name=package.name, version=version, program=program, wanted=wanted
                ),
                why=Text("each MAX release requires one Mojo release"),
                hint=hint,
            )
