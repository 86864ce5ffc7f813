"""Builds one Mojo program, or finds its build in the cache."""

from __future__ import annotations

import hashlib
import os
import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.execution.program import DEFAULT_OUTPUT_LIMIT, Ending
from tooling.execution.sandbox import SEARCH_PATH, Sandbox, interpreter_files
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.processes import Completed, run_captured
from tooling.platform.state_file import encoded, read_json
from tooling.text import Sentence, Text
from tooling.toolchain.cache import BuildCache, CacheUnusable, fallback_cache
from tooling.toolchain.cache_key import BuildRequest, build_key
from tooling.toolchain.diagnostics import Diagnostic, parse_diagnostics, render_errors
from tooling.toolchain.linker import linker_path
from tooling.toolchain.mojo import MojoNotFound, Toolchain

_NOT_WRITABLE = Text("the build cache {path} cannot be written; {used} is used instead")
_NOT_WRITTEN = Text("the build cache {path} cannot be written ({why}); {used} is used instead")
_ATTEMPTS = 3
_SET = ("PATH", "MODULAR_TELEMETRY_ENABLED", "MODULAR_CACHE_DIR", "TMPDIR")
_LONGEST, _LONGEST_UNTRUSTED = 600.0, 120.0  # seconds of a build
_DISK_FULL = re.compile(r"No space left on device|available space ?\(\d+\) is not enough[^\n\"]*")


_FILE = Text("{name} does not compile ({count} error)", "{name} does not compile ({count} errors)")
_PACKAGE = Text(
    "the package {name} does not compile ({count} error)",
    "the package {name} does not compile ({count} errors)",
)
_TOOK_TOO_MUCH = Text("it took more memory, processes, disk space or output than is allowed")
_NO_REASON = Text("the compiler gave no reason")


class BuildFailed(ToolingError):
    """The compiler rejected the program."""

    exit_code = ExitCode.BUILD_FAILED

    def __init__(self, source: Path, diagnostics: Sequence[Diagnostic], output: str) -> None:
        errors = [diagnostic for diagnostic in diagnostics if diagnostic.kind == "error"]
        first = next((diagnostic for diagnostic in errors if diagnostic.location), None)
        package = source.name == "__init__.mojo"
        what, name = (_PACKAGE, source.parent.name) if package else (_FILE, source.name)
        super().__init__(
            what.of(name=name, count=len(errors)),
            where=first.location if first else Location(source),
            why=None if errors else output.strip()[-2000:] or _NO_REASON,
        )
        self.diagnostics = tuple(diagnostics)

    @property
    def details(self) -> str:
        """The compiler's messages with source lines, carets and hints."""
        return render_errors(self.diagnostics, language=self.language)


class CompilerKilled(ToolingError):
    """Something outside ended the compiler, most often the system for lack of memory."""

    exit_code = ExitCode.NOT_POSSIBLE


class BuildTimeout(ToolingError):
    """The build did not finish."""

    exit_code = ExitCode.BUILD_FAILED


class BuildLimited(ToolingError):
    """The compiler took more than a program that is not trusted may have it take."""

    exit_code = ExitCode.BUILD_FAILED


class Executable(Struct, frozen=True):
    """A built program (or library) in the cache."""

    path: Path
    request: BuildRequest
    key: str
    diagnostics: tuple[Diagnostic, ...] = ()  # warnings and their notes
    fresh: bool = False  # built now, not found in the cache
    note: Sentence | None = None  # a message for the user
    interpreter: str | None = None  # runs `path` if it is a Python program
    package_driver: Path | None = None  # the command that provides Mojo packages to its graphs
    variables: Mapping[str, str] = {}  # environment variables that it needs

    @property
    def command(self) -> list[str]:
        """The program's command line, without its flags."""
        return [*([self.interpreter] if self.interpreter else []), str(self.path)]


def build(
    request: BuildRequest, toolchain: Toolchain, cache: BuildCache, sandbox: Sandbox | None = None
) -> Executable:
    """The built program, from the cache if it is there.

    Concurrent callers with the same request build it once. A killed build leaves no entry in the cache.

    Args:
        sandbox: where the compiler runs if the source is not trusted: it might import any file.

    Raises:
        SourceNotFound: the source cannot be read.
        BuildFailed: the compiler rejected the program; `details` shows its messages.
        BuildTimeout: the compiler ran for more than ten minutes.
        BuildLimited: in a sandbox, it took more than is allowed.
        NoLinker: this machine has no linker.
        CacheUnusable: no folder for builds is writable.
        CompilerKilled: the compiler was killed from outside.
    """
    request = replace(request, source=request.source.absolute())
    note = cache.note
    for _ in range(_ATTEMPTS):
        key = build_key(request, toolchain)
        if executable := _found(cache, request, key, note):
            return executable
        if not cache.writable:
            fallback = fallback_cache(language=cache.language)
            note = _NOT_WRITABLE.of(path=cache.root, used=fallback.root)
            cache = fallback
        try:
            with cache.locked(key):
                if executable := _found(cache, request, key, note):  # another process built it meanwhile
                    return executable
                executable = _build_locked(request, toolchain, cache, key, sandbox)
        except OSError as error:
            fallback = fallback_cache(language=cache.language)
            if fallback.root == cache.root:
                raise CacheUnusable(
                    Text("no folder for builds is writable"),
                    where=Location(cache.root),
                    why=str(error),
                    hint=Text("free space there, or set PUZZLE_CACHE_DIR to a writable folder"),
                ) from error
            why = error.strerror or str(error)
            note = _NOT_WRITTEN.of(path=cache.root, why=why, used=fallback.root)
            cache = fallback
            continue
        if executable:
            return replace(executable, note=note)
        # The file was edited while the compiler read it, so the build may belong to neither version.
    raise BuildTimeout(
        Text("{name} changes faster than it can be built").of(name=request.source.name),
        where=Location(request.source),
        hint=Text("run again when the file no longer changes"),
    )


def _build_locked(
    request: BuildRequest, toolchain: Toolchain, cache: BuildCache, key: str, sandbox: Sandbox | None
) -> Executable | None:
    environment = dict(os.environ)
    environment["MODULAR_TELEMETRY_ENABLED"] = "0"
    if request.emit not in ("asm", "package"):
        search_path = SEARCH_PATH if sandbox else environment.get("PATH", os.defpath)
        environment["PATH"] = linker_path(toolchain, cache.root, search_path)
    name = request.product
    cache.sweep()
    with cache.partial() as folder, cache.partial() as scratch:
        # The key of Mojo's own cache excludes comments and the path: a cached build may have the line numbers
        # and the file name of an older source. Our key includes every byte, so Mojo's cache is not needed.
        environment["MODULAR_CACHE_DIR"] = str(scratch)
        environment["TMPDIR"] = str(scratch)  # the compiler leaves a library there for each AMD kernel
        command: list[str | Path] = [toolchain.mojo, *request.arguments(), "-o", folder / name]
        try:
            if sandbox:
                # Of the variables, only those that are set here.
                environment = {name: environment[name] for name in environment if name in _SET}
                result = _in_sandbox(sandbox, command, environment, request, toolchain)
            else:
                result = run_captured(command, environment=environment, folder=folder, time_limit=_LONGEST)
        except OSError as error:
            raise MojoNotFound(
                Text("the Mojo compiler cannot be started"), where=Location(toolchain.mojo), why=str(error)
            ) from error
        if result.timed_out:
            raise BuildTimeout(
                Text("the compiler did not finish {name} within {minutes} minutes").of(
                    name=request.source.name,
                    minutes=int((_LONGEST_UNTRUSTED if sandbox else _LONGEST) / 60),
                ),
                where=Location(request.source),
                hint=Text("look for a `comptime` loop that does not end"),
            )
        if build_key(request, toolchain) != key:
            return None
        full = _DISK_FULL.search(result.stderr + result.stdout)
        if full and result.status != 0:
            raise CacheUnusable(
                Text("the disk is full: {name} cannot be built").of(name=request.source.name),
                where=Location(cache.root),
                why=full[0],
                hint=Text(
                    "`tooling cache empty` removes earlier builds; or free space there, or set "
                    "PUZZLE_CACHE_DIR to a folder on another disk"
                ),
            )
        if result.status == -signal.SIGXFSZ:
            raise CacheUnusable(
                Text("{name} cannot be built: a file would be too large for this shell").of(
                    name=request.source.name
                ),
                why=Text("a limit on the size of files is set (`ulimit -f`)"),
                hint=Text("`ulimit -f unlimited`, then run it again"),
            )
        diagnostics = parse_diagnostics(f"{result.stderr}\n{result.stdout}")  # errors may be in either
        if result.status == -signal.SIGKILL:  # nothing here did that
            raise CompilerKilled(
                Text("the compiler was killed while it built {name}").of(name=request.source.name),
                where=Location(request.source),
                why=Text("most often the system has run out of memory; it is not a mistake in the program"),
                hint=Text("end other programs, or run fewer builds at a time (`--jobs 1`), and run it again"),
            )
        if result.status != 0 or not (folder / name).is_file():
            raise BuildFailed(request.source, diagnostics, result.stdout + result.stderr)
        (folder / "build.json").write_bytes(encoded(_Record(name, diagnostics, _digest(folder / name))))
        entry = cache.publish(folder, key)
    return Executable(entry / name, request, key, diagnostics, fresh=True)


def _in_sandbox(
    sandbox: Sandbox,
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    request: BuildRequest,
    toolchain: Toolchain,
) -> Completed:
    """Runs the compiler in a sandbox, where the folders of its result and of its own files can be changed.

    Raises:
        BuildLimited: it took more than is allowed.
    """
    substitute = environment["PATH"].removesuffix(SEARCH_PATH).rstrip(os.pathsep)
    result = Path(command[-1]).parent
    transcript = sandbox.run(
        command,
        environment={**environment, "HOME": environment["TMPDIR"]},
        time_limit=_LONGEST_UNTRUSTED,
        output_limit=DEFAULT_OUTPUT_LIMIT,
        readable=(
            *interpreter_files(),
            *toolchain.files,
            *((Path(substitute),) if substitute else ()),  # for a linker
            request.source.parent,
            *(path.parent for include in request.includes for path in include.glob("*/__init__.mojo")),
        ),
        writable=(result, Path(environment["TMPDIR"])),
        folder=result,
    )
    if transcript.limited and transcript.ending is not Ending.TIME_LIMIT:
        raise BuildLimited(
            Text("the compiler was ended while it built {name}").of(name=request.source.name),
            where=Location(request.source),
            why=_TOOK_TOO_MUCH,
            hint=Text("look for a `comptime` loop that does not end"),
        )
    status = -transcript.status if transcript.ending is Ending.SIGNALLED else transcript.status
    return Completed(
        status, transcript.stdout, transcript.stderr, timed_out=transcript.ending is Ending.TIME_LIMIT
    )


class _Record(Struct):
    """build.json: the executable of an entry, the compiler's messages, and the executable's SHA-256."""

    file: str
    diagnostics: tuple[Diagnostic, ...]
    sha256: str = ""  # of entries from before it was recorded


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _found(cache: BuildCache, request: BuildRequest, key: str, note: Sentence | None) -> Executable | None:
    """The finished build with this key; a damaged one is removed, as if it had never been."""
    entry = cache.find(key)
    if entry is None:
        return None
    try:
        record = read_json(entry / "build.json", _Record)
        product = entry / record.file
        if record.file != request.product or product.is_symlink() or not product.is_file():
            raise ValueError("the executable is missing")
        if record.sha256 not in ("", _digest(product)):
            raise ValueError("the executable is not the one that was built")
        if os.access(entry, os.W_OK):
            os.utime(entry)  # the time of the last use, for `sweep`
    except (OSError, ValueError) as error:
        if not cache.writable:
            raise ToolingError(
                Text("an entry of the build cache is damaged"),
                where=Location(entry),
                why=str(error),
                hint=Text("remove it: rm -r {entry}").of(entry=entry),
            ) from error
        cache.discard(entry)
        return None
    return Executable(product, request, key, record.diagnostics, note=note)
