"""What a build is made from, and the key of the cache for it."""

from __future__ import annotations

import functools
import hashlib
import platform
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.text import Text
from tooling.toolchain.dependencies import imported_files
from tooling.toolchain.mojo import Toolchain
from tooling.toolchain.packages import package_stem

_FORMAT = "1"  # incremented when the layout of an entry or the meaning of a key changes
_SUFFIX = {"exe": "", "shared-lib": ".so", "object": ".o", "asm": ".s", "package": ".mojoc"}
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")  # UTF-8, UTF-16


class SourceNotFound(ToolingError):
    """The program to build cannot be read."""


class ByteOrderMark(ToolingError):
    """The source begins with bytes that the compiler refuses, and that no editor shows."""

    exit_code = ExitCode.BUILD_FAILED

    def __init__(self, source: Path) -> None:
        super().__init__(
            Text("{name} begins with a byte-order mark").of(name=source.name),
            where=Location(source, 1, 1),
            why=Text("the Mojo compiler reads UTF-8 without a byte-order mark"),
            hint=Text("save the file as `UTF-8`, not as `UTF-8 with BOM` or UTF-16"),
        )


class BuildRequest(Struct, frozen=True):
    """The inputs of a build, except the toolchain."""

    source: Path
    accelerator: str | None = None  # e.g. sm_90a; None: the program is for the host only
    emit: str = "exe"  # exe, shared-lib, object, asm; package: the source is the package's __init__.mojo
    includes: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()  # NAME or NAME=VALUE
    line_tables: bool = True
    optimization: int | None = None  # 0 to 3; None: the compiler's default
    host_cpu: str | None = None  # such as x86-64-v3; None: this machine's

    def arguments(self) -> list[str]:
        """The arguments of `mojo`, without the output path."""
        if self.emit == "package":
            return ["precompile", str(self.source.parent), "--diagnostic-format", "json"]
        arguments = ["build", str(self.source), "--emit", self.emit, "--diagnostic-format", "json"]
        if self.accelerator:
            arguments += ["--target-accelerator", self.accelerator]
        if self.optimization is not None:
            arguments += ["--optimization-level", str(self.optimization)]
        if self.host_cpu:
            arguments += ["--target-cpu", self.host_cpu]
        if self.line_tables:
            arguments += ["--debug-level", "line-tables"]
        for folder in self.includes:
            arguments += ["-I", str(folder)]
        for define in self.defines:
            arguments += ["-D", define]
        return arguments

    @property
    def product(self) -> str:
        """The name of the output file."""
        stem = package_stem(self.source.parent) if self.emit == "package" else self.source.stem
        return stem + _SUFFIX.get(self.emit, "")


def build_key(request: BuildRequest, toolchain: Toolchain) -> str:
    """The hash of all inputs of a build: the bytes of the source and of its imports, flags, toolchain.

    It includes the source's path, because line tables and the messages of uncaught errors contain the path.

    Raises:
        SourceNotFound: the source, or a file that it imports, cannot be read.
    """
    digest = hashlib.sha256()

    def add(*fields: bytes | str) -> None:
        for field in fields:
            data = field.encode() if isinstance(field, str) else field
            digest.update(len(data).to_bytes(8, "little") + data)

    try:
        text = read_regular(request.source, limit=TEXT_LIMIT)
        if text.startswith(_BYTE_ORDER_MARKS):
            raise ByteOrderMark(request.source)
        add(_FORMAT, toolchain.version, str(toolchain.library_dir), platform.machine())
        add(request.host_cpu or _host_features())
        add(*request.arguments())
        add(text)
        files = imported_files(request.source, text, request.includes)
        if request.emit == "package":
            add(request.product)  # the module's name
            # A package contains every module of the folder, imported or not.
            files = sorted({*files, *request.source.parent.rglob("*.mojo")})
        for path in files:
            add(str(path), read_regular(path, limit=TEXT_LIMIT))
    except OSError as error:
        raise SourceNotFound(
            Text("a program to build cannot be read"),
            where=Location(Path(error.filename or request.source)),
            why=error.strerror,
            hint=Text("run `tooling list` for a list of the programs"),
        ) from error
    return digest.hexdigest()[:40]


@functools.cache
def _host_features() -> str:
    """The features of the host's processor, which decide the instructions that the compiler may use."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as information:  # noqa: PTH123
            head = information.read(8192)
    except OSError:
        return platform.processor()
    return next((line for line in head.splitlines() if line.startswith(("flags", "Features"))), "")
