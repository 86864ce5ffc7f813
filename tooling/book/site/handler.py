"""The requests that `tooling book serve` answers: pages, and runs of the puzzle of a page.

Only the browser of the person who started the server may start a run. The terminal shows an address with a
random key, which the server exchanges for a cookie. Pages that are requested with this cookie contain
another random token, which every request for a run must repeat in a header. So other users of the machine
lack the cookie, and pages of other sites can neither read the token nor send the header. `Host` and `Origin`
must name this server, and no answer allows another origin to read it.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from http.cookies import CookieError, SimpleCookie
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlencode, urlsplit

from msgspec import Struct, field

from tooling.book.phrases import PHRASES
from tooling.book.site.icons import sign
from tooling.text import languages

LOOPBACK = "127.0.0.1"
_OWN_NAMES = (LOOPBACK, "localhost", "[::1]")
EVENTS = "/~changes"
RUN = "/~run"
TOKEN_HEADER = "X-Puzzle-Token"
_LONGEST_REQUEST = 2000  # bytes
_LONGEST_REFUSED = 1 << 20  # bytes that are read of a request that is refused
_WAITING_STARTS = 8
_WORDS = (
    "solved", "served-run", "served-again", "served-stop", "served-running", "served-hint", "served-ended",
    "served-locked", "served-progress",
)  # fmt: skip


class Changes(Struct):
    """How often the site was built again; pages reload themselves when the number changes."""

    number: int = 0

    def announce(self) -> None:
        """Notifies every open page, in any language, to reload itself."""
        self.number += 1


class Credentials(Struct, frozen=True):
    """What shows that a request comes from the reader.

    Attributes:
        key: in the address that the terminal shows, and in the cookie.
        token: in the pages that are sent to the holder of the key.
    """

    key: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))


class Runs(Protocol):
    """Runs of `tooling run` that pages ask for, one at a time."""

    def start(self, command: str, language: str) -> None:
        """Starts a run; an earlier one is ended.

        Raises:
            LookupError: there is no such command.
        """

    def stop(self) -> None:
        """Ends the run, if there is one."""

    def state(self) -> dict[str, Any]:
        """The last run, as JSON."""


class Reader(Struct, frozen=True):
    """What the server knows of its reader.

    Attributes:
        solved: the numbers of the solved puzzles, as in `01`.
        total: the number of puzzles.
    """

    solved: Sequence[str]
    total: int


class Server(ThreadingHTTPServer):
    """Answers each request in a thread.

    Attributes:
        starts: of runs, that may wait for the end of an earlier run at a time.
    """

    daemon_threads = True
    request_queue_size = 128  # connections that wait to be accepted; the system resets those beyond

    def __init__(self, address: tuple[str, int], handler: Callable[..., SimpleHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.starts = threading.BoundedSemaphore(_WAITING_STARTS)

    def handle_error(self, request: object, client_address: object) -> None:
        """Reports a defect, but not that a browser has closed its connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Handler(SimpleHTTPRequestHandler):
    """Serves the files of the site; each page gets a script for what belongs to this reader."""

    timeout = 60.0  # seconds for a request to arrive

    def __init__(
        self,
        *arguments: object,
        site: Path,
        changes: Changes,
        reader: Callable[[], Reader],
        access: Credentials,
        runs: Runs | None = None,
    ) -> None:
        self.changes = changes
        self.reader = reader
        self.access = access
        self.runs = runs
        super().__init__(*arguments, directory=str(site))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if not self._names_this_server():
            self.send_error(421, "this server answers as localhost only")
            return
        try:
            address = urlsplit(self.path)
            query = parse_qs(address.query)
            path = Path(self.translate_path(self.path))
            if path.is_dir():
                path /= "index.html"
            is_page = path.suffix == ".html" or not path.exists()
        except (ValueError, OSError):  # half an IPv6 address, a name that is too long, …
            self.send_error(400, "this is not an address of a page")
            return
        if address.path == EVENTS:
            self._send(200, "text/plain", str(self.changes.number).encode())
        elif address.path == RUN:
            if self._may_run():
                self._answer()
        elif "key" in query:
            self._exchange(address.path, query)
        elif is_page:
            self._page(path)
        elif self.command == "HEAD":
            super().do_HEAD()
        else:
            super().do_GET()

    def do_HEAD(self) -> None:
        """Answers as to a GET, without the content."""
        self.do_GET()

    def do_POST(self) -> None:
        """Starts a run (`{"command": "p01", "language": "en"}`) or ends it (`{"command": ""}`)."""
        content = self._content()
        if not self._names_this_server():
            self.send_error(421, "this server answers as localhost only")
            return
        if self.path != RUN or self.runs is None:
            self.send_error(404, "nothing can be sent to this address")
            return
        if not self._may_run() or (request := self._request(content)) is None:
            return
        command, language = request
        starts = self.server.starts  # type: ignore[attr-defined]
        if not command:
            self.runs.stop()
        elif starts.acquire(blocking=False):
            try:
                self.runs.start(command, language)
            except LookupError:
                self.send_error(404, "there is no such run")
                return
            finally:
                starts.release()
        else:
            self.send_error(429, "too many runs were asked for at once")
            return
        self._answer()

    def _content(self) -> bytes:
        """The content of a request; what is not read of it would reset the connection, answer included."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > len(str(_LONGEST_REFUSED)):
            return b""
        return self.rfile.read(min(int(length), _LONGEST_REFUSED))

    def _names_this_server(self) -> bool:
        # A page of another site could otherwise read the answers, after its name was rebound to this address.
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        return host in _OWN_NAMES

    def _may_run(self) -> bool:
        """Whether the request comes from a page of this server in the reader's browser; if not, says so."""
        token = self.headers.get(TOKEN_HEADER, "")
        origin = self.headers.get("Origin")
        own = (
            f"http://{self.headers.get('Host')}"  # which names this server, with the port of a tunnel perhaps
        )
        right_origin = origin == own or (origin is None and self.command == "GET")
        if right_origin and self._has_key() and _same(token, self.access.token) and self.runs is not None:
            return True
        self.send_error(403, "open the address that `tooling book serve` printed")
        return False

    def _has_key(self) -> bool:
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(self._cookie_name())
        except CookieError:
            return False
        return cookie is not None and _same(cookie.value, self.access.key)

    def _cookie_name(self) -> str:
        # Cookies belong to a host, whatever the port: another server here must not replace this one.
        return f"puzzles-{self.server.server_port}"  # type: ignore[attr-defined]

    def _exchange(self, path: str, query: dict[str, list[str]]) -> None:
        """Exchanges the key of the address for a cookie, so that it does not stay in the history."""
        right = _same(query.pop("key")[0], self.access.key)
        rest = urlencode(query, doseq=True)
        self.send_response(303)
        # `//host` would be the address of another server.
        self.send_header("Location", "/" + path.lstrip("/\\") + (f"?{rest}" if rest else ""))
        if right:
            self.send_header(
                "Set-Cookie", f"{self._cookie_name()}={self.access.key}; Path=/; HttpOnly; SameSite=Strict"
            )
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _request(self, content: bytes) -> tuple[str, str] | None:
        """Command and language of a request; None: it was refused."""
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip()
        if kind != "application/json" or not 0 < len(content) <= _LONGEST_REQUEST:
            self.send_error(400, "a request is JSON of at most 2000 bytes")
            return None
        try:
            wanted = json.loads(content)
            command, language = wanted["command"], wanted["language"]
        except (ValueError, KeyError, TypeError, RecursionError):
            command = language = None
        if not isinstance(command, str) or language not in languages():
            self.send_error(400, 'a request looks like {"command": "p01", "language": "en"}')
            return None
        return command, language

    def _answer(self) -> None:
        assert self.runs is not None
        state = {**self.runs.state(), "reader": self._reader()}
        self._send(200, "application/json", json.dumps(state, ensure_ascii=False).encode())

    def _page(self, path: Path) -> None:
        status = 200
        if not path.is_file():
            path, status = Path(self.directory) / "404.html", 404
        served = {
            "reader": self._reader(),
            "signs": {mark: sign(mark) for mark in "✓✅❌"},
            "words": {
                language: {word: PHRASES[word].render(language) for word in _WORDS}
                for language in languages()
            },
            "changes": EVENTS,
            "run": RUN if self.runs is not None else "",
            "header": TOKEN_HEADER,
            "token": self.access.token if self._has_key() else "",
        }
        scripts = _script(json.dumps(served, ensure_ascii=False)).encode()
        content = path.read_bytes().replace(b"</body>", scripts + b"</body>", 1)
        self._send(status, "text/html; charset=utf-8", content)

    def _reader(self) -> dict[str, Any]:
        reader = self.reader()
        return {"solved": list(reader.solved), "total": reader.total}

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def end_headers(self) -> None:
        """Adds the headers that keep pages of other sites from showing or loading these."""
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Does not log requests."""


def _same(given: str, own: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), own.encode())


def _script(served: str) -> str:
    """What is added to a page: the reader's data, and the style and the script that show it."""
    style, script = _assets()
    data = served.replace("<", "\\u003c")  # `</script>` would end it
    return (
        f"<style>\n{style}</style>\n"
        f'<script type="application/json" id="served">{data}</script>\n<script>\n{script}</script>\n'
    )


@cache
def _assets() -> tuple[str, str]:
    folder = Path(__file__).parent
    return tuple((folder / f"served.{kind}").read_text("utf-8") for kind in ("css", "js"))  # type: ignore[return-value]
