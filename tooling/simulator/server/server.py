"""The simulator's end of the socket: accepts programs of the same user and answers their requests.

One thread waits for programs; each connection gets a thread of its own. The socket is in the abstract
namespace, so that no file is left behind; programs in a sandbox see neither that namespace nor this process,
so that theirs is a file, and the memory's descriptor is sent to them.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import threading
from pathlib import Path

from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.server.context import Context, Gpu
from tooling.simulator.server.protocol import (
    Opcode,
    PeerGone,
    ProtocolError,
    encode_reply,
    receive_request,
)

SOCKET = "simulated-gpu"
"""The name of the socket's file."""

_CREDENTIALS = struct.Struct("iII")
_GRACE = 5.0  # seconds for a kernel to notice that it was cancelled


class Server:
    """Serves one simulated GPU until it is closed.

    Args:
        folder: where programs in a sandbox find the socket, a file called SOCKET; None: they are in none.

    Attributes:
        name: of the socket, if it is not a file.
    """

    def __init__(self, gpu: Gpu, folder: Path | None = None) -> None:
        self.gpu = gpu
        self.name = f"gpu-puzzle-lab-{os.getpid()}-{os.urandom(8).hex()}"
        self._sends_memory = folder is not None
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if folder is None:
            self._listener.bind(b"\0" + self.name.encode())
        else:
            opened = os.open(folder, os.O_DIRECTORY | os.O_CLOEXEC)
            try:  # the path of a socket has at most 107 bytes
                self._listener.bind(f"/proc/self/fd/{opened}/{SOCKET}")
            finally:
                os.close(opened)
        self._listener.listen(64)
        self._closing = False
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._acceptor = threading.Thread(target=self._accept, name="simulated-gpu", daemon=True)
        self._acceptor.start()

    def close(self) -> None:
        """Stop serving: programs that are still connected see the connection end. Never raises."""
        with self._lock:
            self._closing = True
            connections = dict(self._connections)
        for endpoint in (self._listener, *connections):
            with contextlib.suppress(OSError):  # already shut
                endpoint.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in (self._acceptor, *connections.values()):
            thread.join(_GRACE)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed
                return
            if not _same_user(connection):
                connection.close()
                continue
            thread = threading.Thread(
                target=self._serve, args=(connection,), name="simulated-gpu-program", daemon=True
            )
            with self._lock:
                if self._closing:
                    connection.close()
                    return
                self._connections[connection] = thread
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        """Answer one program until it ends or violates the protocol."""
        peer = _credentials(connection)[0] if self._sends_memory else None
        context = Context(self.gpu, lambda: self._closing or _hung_up(connection), peer)
        with self.gpu.lock:
            self.gpu.contexts.append(context)
        try:
            while True:
                request = receive_request(connection)
                with self.gpu.lock:
                    try:
                        reply = context.answer(request)
                    except ProtocolError:
                        raise
                    except Exception as error:  # noqa: BLE001 - kept, and raised when the simulation ends
                        self.gpu.failures.append(error)
                        context.fault = DriverResult.UNKNOWN
                        reply = (DriverResult.UNKNOWN, b"", b"")
                connection.sendall(encode_reply(*reply))
                if self._sends_memory and request.opcode is Opcode.HELLO and reply[0] == DriverResult.SUCCESS:
                    socket.send_fds(connection, [b"\0"], [context.descriptor])
        except (PeerGone, ProtocolError, OSError):
            pass  # the program ended, or violated the protocol: close the connection
        finally:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            with self.gpu.lock:
                context.close()
            with self._lock:
                self._connections.pop(connection, None)
            connection.close()


def _hung_up(connection: socket.socket) -> bool:
    """Whether the peer is gone, without waiting."""
    poller = select.poll()
    poller.register(connection, select.POLLRDHUP)
    return bool(poller.poll(0))


def _same_user(connection: socket.socket) -> bool:
    """Whether the peer is a process of this user (SO_PEERCRED)."""
    return _credentials(connection)[1] == os.getuid()


def _credentials(connection: socket.socket) -> tuple[int, int]:
    """The process and the user of the peer, as this process knows them."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, _ = _CREDENTIALS.unpack(raw)
    return process, user
