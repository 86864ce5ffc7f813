"""The simulator's end of the socket: accepts programs of the same user and answers their requests.

One thread waits for programs; each connection gets a thread of its own. The socket is in the abstract
namespace, so that no file is left behind.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import threading

from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.server.context import Context, Gpu
from tooling.simulator.server.protocol import PeerGone, ProtocolError, encode_reply, receive_request

_CREDENTIALS = struct.Struct("iII")
_GRACE = 5.0  # seconds for a kernel to notice that it was cancelled


class Server:
    """Serves one simulated GPU until it is closed."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.name = f"gpu-puzzle-lab-{os.getpid()}-{os.urandom(8).hex()}"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(b"\0" + self.name.encode())
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
        context = Context(self.gpu, lambda: self._closing or _hung_up(connection))
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
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(raw)[1]) == os.getuid()
