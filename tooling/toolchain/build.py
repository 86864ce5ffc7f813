"""Builds one Mojo program, or finds it built."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.errors import Location, ToolingError
from tooling.exit_codes import ExitCode
from tooling.processes import run_captured
from tooling.state_file import encoded, read_json
from tooling.toolchain.cache import BuildCache, CacheUnusable, fallback_cache
from tooling.toolchain.dependencies import imported_files
from tooling.toolchain.diagnostics import Diagnostic, parse_diagnostics, render_errors
from tooling.toolchain.linker import linker_path
from tooling.toolchain.mojo import MojoNotFound, Toolchain
from tooling.toolchain.packages import package_stem

_FORMAT = "1"  # raised when the layout of an entry or the meaning of a key changes
_SUFFIX = {"exe": "", "shared-lib": ".so", "object": ".o", "asm": ".s", "package": ".mojoc"}
_ATTEMPTS = 3


class SourceNotFound(ToolingError):
    """The program to build is not there."""


class BuildFailed(ToolingError):
    """The compiler rejected the program."""

    exit_code = ExitCode.BUILD_FAILED

    def __init__(self, source: Path, diagnostics: Sequence[Diagnostic], output: str) -> None:
        errors = [diagnostic for diagnostic in diagnostics if diagnostic.kind == "error"]
        first = next((diagnostic for diagnostic in errors if diagnostic.location), None)
        count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
        package = source.name == "__init__.mojo"
        super().__init__(
            f"{f'the package {source.parent.name}' if package else source.name} does not compile ({count})",
            where=first.location if first else Location(source),
            why=None if errors else output.strip()[-2000:] or "the compiler gave no reason",
        )
        self.diagnostics = tuple(diagnostics)

    @property
    def details(self) -> str:
        """The compiler's messages with source lines, carets and hints."""
        return render_errors(self.diagnostics)


class BuildTimeout(ToolingError):
    """The compiler did not come to an end."""

    exit_code = ExitCode.BUILD_FAILED


class BuildRequest(Struct, frozen=True):
    """Everything that decides what a build produces, besides the toolchain."""

    source: Path
    accelerator: str | None = None  # e.g. sm_90a; None: the program is for the host only
    emit: str = "exe"  # exe, shared-lib, object, asm; package: the source is the package's __init__.mojo
    includes: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()  # NAME or NAME=VALUE
    line_tables: bool = True
    optimization: int | None = None  # 0 to 3; None: the compiler's default
    host_cpu: str | None = None  # None: this machine's; a name such as x86-64-v3 for another machine

    def arguments(self) -> list[str]:
        """The command line of `mojo` without the output path."""
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
        """The name of the file that the build writes."""
        stem = package_stem(self.source.parent) if self.emit == "package" else self.source.stem
        return stem + _SUFFIX.get(self.emit, "")


class Executable(Struct, frozen=True):
    """A built program (or library) in the cache."""

    path: Path
    request: BuildRequest
    key: str
    diagnostics: tuple[Diagnostic, ...] = ()  # warnings and their notes
    fresh: bool = False  # built now, not found
    note: str | None = None  # something the user should know about the build
    interpreter: str | None = None  # what runs `path` where it is a Python program
    package_driver: Path | None = None  # what its graphs get their Mojo packages from

    @property
    def command(self) -> list[str]:
        """The program's command line, without its flags."""
        return [*([self.interpreter] if self.interpreter else []), str(self.path)]


def build_key(request: BuildRequest, toolchain: Toolchain) -> str:
    """The hash of all that goes into the build: bytes of the source and of what it imports, flags, toolchain.

    The source's path is part of it, because the path is in the product: line tables and the messages of
    uncaught errors name it.

    Raises:
        SourceNotFound: the source, or a file that it imports, cannot be read.
    """
    digest = hashlib.sha256()

    def add(*parts: bytes | str) -> None:
        for part in parts:
            data = part.encode() if isinstance(part, str) else part
            digest.update(len(data).to_bytes(8, "little") + data)

    try:
        text = request.source.read_bytes()
        add(_FORMAT, toolchain.version, str(toolchain.library_dir), platform.machine())
        add(request.host_cpu or _host_features())
        add(*request.arguments())
        add(text)
        files = imported_files(request.source, text, request.includes)
        if request.emit == "package":
            add(request.product)  # the module's name
            # Every module of the folder goes in, imported or not.
            files = sorted({*files, *request.source.parent.rglob("*.mojo")})
        for path in files:
            add(str(path), path.read_bytes())
    except OSError as error:
        raise SourceNotFound(
            "a program to build cannot be read",
            where=Location(Path(error.filename or request.source)),
            why=error.strerror,
            hint="run `tooling list` for the programs there are",
        ) from error
    return digest.hexdigest()[:40]


def build(request: BuildRequest, toolchain: Toolchain, cache: BuildCache) -> Executable:
    """The built program: found in the cache, or built into it.

    Two callers that want the same program at the same time build it once. A build that is killed leaves
    nothing that a later one would take for finished.

    Raises:
        SourceNotFound: the source cannot be read.
        BuildFailed: the compiler rejected the program; `details` shows its messages.
        BuildTimeout: the compiler ran for more than ten minutes.
        NoLinker: this machine can link nothing.
        CacheUnusable: no folder can be written.
    """
    request = replace(request, source=request.source.absolute())
    note = None
    for _ in range(_ATTEMPTS):
        key = build_key(request, toolchain)
        entry = cache.find(key)
        if entry:
            return _load(entry, request, key, note)
        if not cache.writable:
            note = f"the build cache {cache.root} cannot be written; using {fallback_cache().root}"
            cache = fallback_cache()
        try:
            with cache.locked(key):
                entry = cache.find(key)
                if entry:  # somebody else built it while we waited
                    return _load(entry, request, key, note)
                executable = _build_locked(request, toolchain, cache, key)
        except OSError as error:
            fallback = fallback_cache()
            if fallback.root == cache.root:
                raise CacheUnusable(
                    "no folder can hold the build",
                    where=Location(cache.root),
                    why=str(error),
                    hint="make room there, or set PUZZLE_CACHE_DIR to a folder that you can write",
                ) from error
            note = f"the build cache {cache.root} cannot be written ({error.strerror}); using {fallback.root}"
            cache = fallback
            continue
        if executable:
            return replace(executable, note=note)
        # The file was edited while the compiler read it: what was built is neither version for sure.
    raise BuildTimeout(
        f"{request.source.name} changes faster than it can be built",
        where=Location(request.source),
        hint="run again when the editor has finished saving",
    )


def _build_locked(
    request: BuildRequest, toolchain: Toolchain, cache: BuildCache, key: str
) -> Executable | None:
    environment = dict(os.environ)
    environment["MODULAR_TELEMETRY_ENABLED"] = "0"
    if request.emit not in ("asm", "package"):
        environment["PATH"] = linker_path(toolchain, cache.root, environment.get("PATH", os.defpath))
    name = request.product
    cache.sweep()
    with cache.partial() as folder, cache.partial() as scratch:
        # Mojo's own cache goes by the program without its comments and its path: what it finds there has the
        # line numbers and the file name of an older text. Ours goes by every byte, so its is not missed.
        environment["MODULAR_CACHE_DIR"] = str(scratch)
        environment["TMPDIR"] = str(scratch)  # for AMD GPUs it leaves a library there for each kernel
        try:
            result = run_captured(
                [toolchain.mojo, *request.arguments(), "-o", folder / name],
                environment=environment,
                folder=folder,
                time_limit=600.0,
            )
        except OSError as error:
            raise MojoNotFound(
                "the Mojo compiler cannot be started", where=Location(toolchain.mojo), why=str(error)
            ) from error
        if result.timed_out:
            raise BuildTimeout(
                f"the compiler did not finish {request.source.name} within ten minutes",
                where=Location(request.source),
                hint="look for a `comptime` loop that does not end",
            )
        if build_key(request, toolchain) != key:
            return None
        diagnostics = parse_diagnostics(f"{result.stderr}\n{result.stdout}")  # errors may be in either
        if result.status != 0 or not (folder / name).is_file():
            raise BuildFailed(request.source, diagnostics, result.stdout + result.stderr)
        (folder / "build.json").write_bytes(encoded(_Record(name, diagnostics)))
        entry = cache.publish(folder, key)
    return Executable(entry / name, request, key, diagnostics, fresh=True)


class _Record(Struct):
    """build.json: the executable of an entry, and what the compiler said."""

    file: str
    diagnostics: tuple[Diagnostic, ...]


def _load(entry: Path, request: BuildRequest, key: str, note: str | None) -> Executable:
    try:
        record = read_json(entry / "build.json", _Record)
        if os.access(entry, os.W_OK):
            os.utime(entry)  # the mark of the last use, which `sweep` goes by
    except (OSError, ValueError) as error:
        raise ToolingError(
            "an entry of the build cache is damaged",
            where=Location(entry),
            why=str(error),
            hint=f"remove it: rm -r {entry}",
        ) from error
    return Executable(entry / record.file, request, key, record.diagnostics, note=note)


@functools.cache
def _host_features() -> str:
    """What the host's processor can do, as far as it decides which instructions the compiler may use."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as information:  # noqa: PTH123
            head = information.read(8192)
    except OSError:
        return platform.processor()
    return next((line for line in head.splitlines() if line.startswith(("flags", "Features"))), "")
