"""A sandbox for programs that are not trusted: bubblewrap, whose namespaces the system enforces.

Such a program sees no network, no other process, and no file but the system's programs and libraries, what it
is given, and an empty temporary folder. What it may take of memory, processes and disk is limited.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.execution.program import Ending, Transcript, run_program
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.machine_watch import Allowance
from tooling.text import Text

_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64")  # of the root folder; links into /usr on most systems
_SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/nix/store")
_TEMPORARY = ("/tmp", "/dev/shm")
_TEMPORARY_BYTES = 256 << 20  # of each
_NAMESPACES = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--hostname", "sandbox"),
)
SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
"""The PATH of a sandbox."""
_TRIED_FOR = 30.0  # seconds

_NO_BWRAP = Text("there is no sandbox on this machine: bubblewrap is not installed")
_UNTRUSTED = Text("the programs to judge are not trusted, and run in a sandbox only")
_INSTALL = Text("install the package `bubblewrap` of your system, which has the command `bwrap`")
_REFUSED = Text("the system refuses the sandbox")
_ALLOW = Text(
    "allow user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, and on Ubuntu "
    "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`; a container needs the right to create them"
)
_NEWER = Text("install bubblewrap 0.8 or later")
_ENDED = Text("`bwrap` ended with status {status}")


class NoSandbox(ToolingError):
    """There is no sandbox on this machine."""

    exit_code = ExitCode.NOT_POSSIBLE


class Sandbox(Struct, frozen=True):
    """How programs that are not trusted are run.

    Attributes:
        allowance: what one of them may take.
        hidden: folders of which a program sees nothing, even where they are in one that it may read.
    """

    bwrap: str
    allowance: Allowance
    hidden: tuple[Path, ...] = ()

    def run(
        self,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str],
        time_limit: float,
        output_limit: int,
        readable: Iterable[Path] = (),
        writable: Sequence[Path] = (),
        folder: Path = Path("/tmp"),
    ) -> Transcript:
        """Runs a program to its end, or to one of its limits, and leaves no process behind.

        Args:
            environment: all of its variables; it sees no others.
            time_limit: seconds.
            output_limit: bytes of stdout and stderr together.
            readable: files and folders that it may read, at their own paths.
            writable: folders that it may change; all of their files together are limited.
            folder: the working directory.

        Raises:
            ProgramNotStarted: `bwrap` cannot be started.
        """
        transcript = run_program(
            [*self._options(readable, writable), "--chdir", str(folder), "--", *command],
            environment=environment,
            time_limit=time_limit,
            output_limit=output_limit,
            allowance=replace(self.allowance, folders=tuple(writable)),
        )
        # bwrap ends as a shell does: with 128 and the number of the signal that ended the program.
        number = transcript.status - 128
        if transcript.ending is Ending.EXITED and number in {int(each) for each in signal.Signals}:
            return replace(transcript, ending=Ending.SIGNALLED, status=number)
        return transcript

    def _options(self, readable: Iterable[Path], writable: Iterable[Path]) -> list[str]:
        options = [self.bwrap, *_NAMESPACES, "--ro-bind", "/usr", "/usr"]
        for name in _SYSTEM:
            path = Path("/", name)
            if path.is_symlink():
                options += ["--symlink", str(path.readlink()), str(path)]
            elif path.is_dir():
                options += ["--ro-bind", str(path), str(path)]
        for name in _SETTINGS:
            options += ["--ro-bind-try", name, name]
        options += ["--proc", "/proc", "--dev", "/dev"]
        for name in _TEMPORARY:
            options += ["--size", str(_TEMPORARY_BYTES), "--tmpfs", name]
        for path, option in self._mounts(readable, writable):
            options += [option, str(path)] if option == "--tmpfs" else [option, str(path), str(path)]
        # With the rights of root, settings of the kernel could be changed in /proc.
        return [*options, "--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]

    def _mounts(self, readable: Iterable[Path], writable: Iterable[Path]) -> list[tuple[Path, str]]:
        """What is mounted beside the system, a folder before what is in it."""
        wanted = dict.fromkeys((path.absolute() for path in readable), "--ro-bind")
        wanted |= dict.fromkeys((path.absolute() for path in writable), "--bind")
        outer = (Path("/usr"), *wanted)
        for path in (each.absolute() for each in self.hidden):
            if any(path.is_relative_to(each) for each in outer):
                wanted[path] = "--tmpfs"
        mounts: list[tuple[Path, str]] = []
        for path, option in sorted(wanted.items(), key=lambda each: each[0].parts):
            around = [made for made in mounts if path.is_relative_to(made[0])]
            seen = path.is_relative_to("/usr") if not around else around[-1][1] == "--ro-bind"
            if option != "--ro-bind" or not seen:
                mounts.append((path, option))
        return mounts


def find_sandbox(allowance: Allowance, hidden: Sequence[Path] = ()) -> Sandbox:
    """The sandbox of this machine, which has been tried.

    Args:
        hidden: as in `Sandbox`; the files of this tool are always hidden.

    Raises:
        NoSandbox: there is none, or the system refuses it.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise NoSandbox(_NO_BWRAP, why=_UNTRUSTED, hint=_INSTALL)
    own = Path(__file__).absolute().parents[1]
    sandbox = Sandbox(bwrap, allowance, (own, *hidden))
    command = [*sandbox._options((), ()), "--", "true"]
    try:
        done = subprocess.run(
            command, env={"PATH": os.defpath}, capture_output=True, timeout=_TRIED_FOR, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSandbox(_REFUSED, why=str(error), hint=_ALLOW) from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = said[-1] if said else _ENDED.of(status=done.returncode)
        hint = _NEWER if said and "Unknown option" in said[-1] else _ALLOW
        raise NoSandbox(_REFUSED, why=why, hint=hint)
    return sandbox


def interpreter_files() -> tuple[Path, ...]:
    """What the Python of this process needs to run a script: no package but the standard library's."""
    files = [Path(sys.base_prefix), Path(sys.executable), Path(sys.prefix, "pyvenv.cfg")]
    with contextlib.suppress(OSError):
        files += [Path(sys.executable).resolve()]
    return tuple(path for path in files if path.exists() and path != Path("/usr"))
