"""A connection to the machine of a GPU: one `ssh` or `srun`, whose other end is `standalone/agent.py`."""

from __future__ import annotations

import atexit
import base64
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from typing import IO, TypeVar

import msgspec
from msgspec import Struct

from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.processes import forget_process, register_process, temporary_folder
from tooling.remote.slurm import interactive_command, is_slurm
from tooling.standalone import agent, run_bundle
from tooling.text import Sentence, Text

CONTROL_VARIABLE = "PUZZLE_SSH_CONTROL"
"""The socket of a connection that `shared` keeps open for the commands that it starts."""

Answer = TypeVar("Answer", bound=Struct)

_VERSION = 1
_MODULES = (run_bundle, agent)
_BOOTSTRAP = "import sys; i = sys.stdin.buffer; exec(i.read(int(i.readline())))"
"""Without quotes, so that every shell passes it on as it is."""
_LOADER = """\
import sys, types
for name, text in {modules!r}:
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
    module = sys.modules[name]
    module.__file__ = name
    exec(compile(text, name, "exec"), module.__dict__)
module.main()
"""
_ECHOED = b"gpu-puzzle-lab\n"
_KEPT_MESSAGES = 20  # of ssh

_NO_SSH = Text("`ssh` is not installed")
_NEEDS_SSH = Text("the program runs on another machine, which is reached by OpenSSH")
_INSTALL_SSH = Text("install OpenSSH's client, or leave out `--on`")
_NOT_A_HOST = Text("`{host}` cannot be the name of a host")
_NO_CONNECTION = Text("`{host}` cannot be reached")
_TRY_SSH = Text("`ssh {host} true` must work without questions")
_TRY_SLURM = Text("`{command}` must work")
_NO_PYTHON = Text("`{host}` has no Python 3")
_INSTALL_PYTHON = Text("install Python 3.9 or later there")
_TOO_OLD = Text("its Python is {version}")
_NO_ANSWER = Text("`{host}` answers with something else than expected")
_LOST = Text("the connection to `{host}` was lost")
_AGAIN = Text("run it again: what was sent is still there")
_FAILED = Text("`{host}` could not do it")
_ENDED = Text("`ssh` ended with status {status}")


class HostError(ToolingError):
    """The machine cannot be reached, or cannot do what is asked."""

    exit_code = ExitCode.NOT_POSSIBLE


class _Hello(Struct, frozen=True):
    agent: int
    boot: str
    python: tuple[int, int, int]


class _Reply(Struct, frozen=True):
    id: int
    error: str = ""


class _Missing(Struct, frozen=True):
    missing: tuple[str, ...]


class Content(Struct, frozen=True):
    """Bytes that the other machine needs.

    Attributes:
        name: their SHA-256, in hexadecimal.
    """

    name: str
    source: Path | bytes

    @classmethod
    def of(cls, source: Path | bytes) -> Content:
        """Raises OSError where the file cannot be read."""
        return cls(
            _file_hash(source, source.stat().st_mtime_ns) if isinstance(source, Path) else _hash(source),
            source,
        )

    def read(self) -> bytes:
        return self.source.read_bytes() if isinstance(self.source, Path) else self.source


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@cache
def _file_hash(path: Path, _written: int) -> str:
    return _hash(path.read_bytes())


class Connection:
    """One `ssh` to a host. Its methods can be called by several threads.

    The configuration, keys, agents, jump hosts and host keys of the user's OpenSSH apply. When it is closed,
    or this process ends, all that runs there is ended.

    Attributes:
        host: a name for `ssh`, such as an alias of `~/.ssh/config`.
        boot: names the machine and its start.

    Raises:
        HostError: there is no `ssh` here, no connection, or no usable Python there.
    """

    def __init__(self, host: str) -> None:
        command = _command(host)
        self.host = host
        self._write = threading.Lock()
        self._waiting: dict[int, Future[bytes]] = {}
        self._last = 0
        self._ended = False
        self._messages: list[str] = []
        # In the session and the process group of this process: it asks for passwords at the terminal.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        register_process(self._process.pid)
        try:
            self._errors = threading.Thread(target=self._read_errors, daemon=True)
            self._errors.start()
            self.boot = self._greet()
        except BaseException:
            self.close()
            raise
        self._reader = threading.Thread(target=self._read_answers, daemon=True)
        self._reader.start()

    def close(self) -> None:
        """Ends the connection, and with it all that runs there. Requests that wait for an answer fail."""
        self._ended = True
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()
        try:
            self._process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        forget_process(self._process.pid)
        self._errors.join()
        for pipe in (self._process.stdout, self._process.stderr):
            _pipe(pipe).close()

    def provide(self, contents: Sequence[Content]) -> None:
        """Sends what is not there yet.

        Raises:
            HostError: the connection was lost, or it cannot be kept there.
        """
        by_name = {each.name: each for each in contents}
        wanted = self.ask(_Missing, "have", names=list(by_name)).missing
        for name in wanted:
            content = base64.b64encode(by_name[name].read()).decode("ascii")
            self.ask(_Reply, "put", name=name, content=content)

    def ask(self, answer: type[Answer], operation: str, **arguments: object) -> Answer:
        """The answer to a request.

        Raises:
            HostError: the connection was lost, or the other machine could not do it.
        """
        future: Future[bytes] = Future()
        with self._write:
            self._last += 1
            request = {"id": self._last, "op": operation, **arguments}
            self._waiting[self._last] = future
            try:
                _pipe(self._process.stdin).write(json.dumps(request).encode() + b"\n")
                _pipe(self._process.stdin).flush()
            except (OSError, ValueError):
                self._ended = True
            if self._ended:
                future.cancel()
        try:
            line = future.result()
        except BaseException as error:
            if isinstance(error, Exception):
                raise self._lost() from error
            raise
        if said := msgspec.json.decode(line, type=_Reply).error:
            raise HostError(_FAILED.of(host=self.host), why=said)
        return msgspec.json.decode(line, type=answer)

    def _greet(self) -> str:
        modules = [(each.__name__, Path(str(each.__file__)).read_text("utf-8")) for each in _MODULES]
        loader = _LOADER.format(modules=modules).encode()
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).write(f"{len(loader)}\n".encode() + loader)
            _pipe(self._process.stdin).flush()
        while line := _pipe(self._process.stdout).readline():
            with contextlib.suppress(msgspec.MsgspecError):  # what the shell's start-up files print
                hello = msgspec.json.decode(line, type=_Hello)
                if hello.python < (3, 9, 0):
                    version = ".".join(map(str, hello.python))
                    why = _TOO_OLD.of(version=version)
                    raise HostError(_NO_PYTHON.of(host=self.host), why=why, hint=_INSTALL_PYTHON)
                return hello.boot
        status = self._process.wait()
        self._errors.join()
        if status in (126, 127):
            raise HostError(_NO_PYTHON.of(host=self.host), why=self._why(status), hint=_INSTALL_PYTHON)
        what = _NO_CONNECTION if status else _NO_ANSWER
        hint = _TRY_SSH.of(host=self.host)
        if is_slurm(self.host):
            hint = _TRY_SLURM.of(command=" ".join((*interactive_command(self.host), "true")))
        raise HostError(what.of(host=self.host), why=self._why(status), hint=hint)

    def _lost(self) -> HostError:
        status = self._process.poll()
        return HostError(_LOST.of(host=self.host), why=self._why(status), hint=_AGAIN)

    def _why(self, status: int | None) -> Sentence | str | None:
        """What ssh said last."""
        if self._messages:
            return self._messages[-1]
        return None if status is None else _ENDED.of(status=status)

    def _read_errors(self) -> None:
        for line in _pipe(self._process.stderr):
            text = line.decode("utf-8", "replace").strip()
            if text:
                self._messages = [*self._messages, text][-_KEPT_MESSAGES:]

    def _read_answers(self) -> None:
        for line in _pipe(self._process.stdout):
            with contextlib.suppress(msgspec.MsgspecError):
                future = self._waiting.pop(msgspec.json.decode(line, type=_Reply).id, None)
                if future is not None:
                    future.set_result(line)
        with self._write:
            self._ended = True
            for future in self._waiting.values():
                future.cancel()


_open: dict[str, Connection] = {}
_refused: dict[str, HostError] = {}
_opening = threading.Lock()


def connection(host: str) -> Connection:
    """The connection of this process to a host, opened once and closed at its end.

    Raises: as `Connection`; after a failure the same error again, without another attempt.
    """
    with _opening:
        if host in _refused:
            raise _refused[host]
        if host not in _open:
            try:
                _open[host] = Connection(host)
            except HostError as error:
                _refused[host] = error
                raise
            atexit.register(_open[host].close)
        return _open[host]


@contextlib.contextmanager
def kept_open(host: str) -> Iterator[None]:
    """Keeps a connection open for the commands that are started in the block, which connect through it.

    Where that fails, each of them connects itself, or says why it cannot.
    """
    if is_slurm(host):  # each command is a job of its own
        yield
        return
    with temporary_folder("gpu-puzzle-ssh-") as folder:
        socket = folder / "control"
        process = subprocess.Popen(
            ["ssh", "-T", "-M", "-S", str(socket), "-o", "ControlPersist=no", "--", host, "exec cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        register_process(process.pid)
        try:
            with contextlib.suppress(OSError):
                _pipe(process.stdin).write(_ECHOED)
                _pipe(process.stdin).flush()
            while (line := _pipe(process.stdout).readline()) and line != _ECHOED:
                pass  # what the shell's start-up files print
            if line and socket.exists():
                os.environ[CONTROL_VARIABLE] = str(socket)
            yield
        finally:
            os.environ.pop(CONTROL_VARIABLE, None)
            process.kill()
            process.communicate()
            forget_process(process.pid)


def _command(host: str) -> list[str]:
    """What starts the agent there: `srun` on a node of a cluster; otherwise `ssh`, without a terminal there.

    It goes through the connection that `kept_open` opened, if any.

    Raises:
        HostError: there is no `ssh`, or the host has no possible name.
        SlurmError: as `interactive_command`.
    """
    if is_slurm(host):
        return [*interactive_command(host), "python3", "-u", "-c", _BOOTSTRAP]
    if shutil.which("ssh") is None:
        raise HostError(_NO_SSH, why=_NEEDS_SSH, hint=_INSTALL_SSH)
    if not host or host.startswith("-") or any(character.isspace() for character in host):
        raise HostError(_NOT_A_HOST.of(host=host))
    control = os.environ.get(CONTROL_VARIABLE)
    options = ["-o", f"ControlPath={control}", "-o", "ControlMaster=no"] if control else []
    return ["ssh", "-T", *options, "--", host, f"exec python3 -u -c '{_BOOTSTRAP}'"]


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
