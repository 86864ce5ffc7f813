"""Shows the site on this machine, and builds it again after every change to either edition."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from msgspec import Struct

from tooling.book.errors import BookError
from tooling.book.site.build import build
from tooling.book.site.icons import sign
from tooling.catalog.catalogue import load_catalogue, manifest_paths
from tooling.catalog.model import Puzzle
from tooling.errors import ToolingError
from tooling.exit_codes import ExitCode
from tooling.progress import read_progress
from tooling.project import Project

Say = Callable[[str], None]
LOOPBACK = "127.0.0.1"
_OWN_NAMES = (LOOPBACK, "localhost", "[::1]")
EVENTS = "/~changes"
POLL_SECONDS = 0.5
_WATCHED = ("book", "i18n", "problems", "solutions", "tests/data/outputs")
_PROGRESS = """<script>
(() => {
  const word = document.documentElement.dataset.solved;
  const sign = `<span class="solved" role="img" aria-label="${word}">TICK</span>`;
  for (const number of SOLVED) {
    for (const selector of [
      `.sidebar > ol > li > a[href*="puzzle_${number}/"]`,
      `.puzzle-card[data-puzzle="p${number}"] .puzzle-facts`,
      `.map [data-puzzle="p${number}"] > a`,
    ]) document.querySelectorAll(selector).forEach((box) => box.insertAdjacentHTML("beforeend", sign));
  }
})();
</script>
"""
_RELOAD = f"""<script>
(() => {{
  let first;
  setInterval(async () => {{
    if (document.hidden) return;
    try {{
      const number = await (await fetch("{EVENTS}")).text();
      first ??= number;
      if (number !== first) location.reload();
    }} catch {{}} // the server has ended
  }}, 1000);
}})();
</script>
""".encode()
# Pages ask every second: a browser opens at most six connections to a server, and one that stays open for
# each page would let the seventh page wait forever.


class PortTaken(BookError):
    """The port is in use."""

    exit_code = ExitCode.NOT_POSSIBLE


class Changes(Struct):
    """How often the site was built again; pages reload themselves when the number changes."""

    number: int = 0

    def announce(self) -> None:
        """Notifies every open page, in any language, to reload itself."""
        self.number += 1


class Handler(SimpleHTTPRequestHandler):
    """Serves the files of the site; each page gets a script that waits for changes."""

    def __init__(
        self, *arguments: object, site: Path, changes: Changes, solved: Callable[[], Sequence[str]]
    ) -> None:
        self.changes = changes
        self.solved = solved
        super().__init__(*arguments, directory=str(site))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        # A page of another site could otherwise read these, after its name was rebound to this address.
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if host not in _OWN_NAMES:
            self.send_error(421, "this server answers as localhost only")
            return
        if self.path == EVENTS:
            self._send(200, "text/plain", str(self.changes.number).encode())
            return
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        if path.suffix == ".html" or not path.exists():
            self._page(path)
        else:
            super().do_GET()

    def _page(self, path: Path) -> None:
        status = 200
        if not path.is_file():
            path, status = Path(self.directory) / "404.html", 404
        scripts = _progress_script(self.solved()).encode() + _RELOAD
        content = path.read_bytes().replace(b"</body>", scripts + b"</body>", 1)
        self._send(status, "text/html; charset=utf-8", content)

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Does not log requests."""


def _progress_script(solved: Sequence[str]) -> str:
    """The script that marks the solved puzzles in a page, which are not part of the site itself."""
    if not solved:
        return ""
    numbers = json.dumps([puzzle.removeprefix("p") for puzzle in solved])
    return _PROGRESS.replace("SOLVED", numbers).replace("TICK", sign("✓"))


def solved_puzzles(project: Project, say: Say) -> tuple[str, ...]:
    """The puzzles that this reader has solved in this checkout; none while a manifest is wrong."""
    progress = read_progress(project.root)
    if progress.note:
        say(progress.note)
    try:
        puzzles = _puzzles(project, tuple(path.stat().st_mtime_ns for path in manifest_paths(project)))
    except ToolingError as error:
        say(str(error))
        return ()
    return tuple(puzzle.id for puzzle in puzzles if progress.is_solved(puzzle))


@lru_cache(maxsize=1)  # requested by every page, and manifests seldom change
def _puzzles(project: Project, changed: tuple[int, ...]) -> tuple[Puzzle, ...]:
    return load_catalogue(project)


def serve(project: Project, port: int, say: Say) -> None:
    """Builds, listens on the loopback interface, and watches until interrupted.

    Raises:
        PortTaken: the port is in use.
        BookError: the first build failed; later failures are reported, and the last good site stays.
    """
    site = project.root / "build" / "serve"
    address = f"http://{LOOPBACK}:{port}/"
    before = stamps(project)
    build(project, site, address)
    changes = Changes()
    solved = partial(solved_puzzles, project, say)
    try:
        server = ThreadingHTTPServer(
            (LOOPBACK, port), partial(Handler, site=site, changes=changes, solved=solved)
        )
    except OSError as error:
        raise PortTaken(
            f"port {port} cannot be used", why=error.strerror, hint=f"tooling book serve --port {port + 1}"
        ) from error
    server.daemon_threads = True
    say(f"{address} (Korean: {address}ko/); stop with Ctrl+C")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pause = threading.Event()
    try:
        while not pause.wait(POLL_SECONDS):
            now = stamps(project)
            if now == before:
                continue
            before = now
            say(rebuild(project, site, address, changes))
    finally:
        server.shutdown()
        server.server_close()


def rebuild(project: Project, site: Path, address: str, changes: Changes) -> str:
    """Builds again and notifies the open pages; returns the message to print."""
    try:
        built = build(project, site, address)
    except ToolingError as error:
        return f"{error}\nthe pages are unchanged"
    except Exception as error:  # noqa: BLE001 - whatever a file contains for a while, the server goes on
        return f"the book cannot be built: {type(error).__name__}: {error}\nthe pages are unchanged"
    changes.announce()
    return f"built again in {built.seconds:.2f} s"


def stamps(project: Project) -> dict[str, int]:
    """When each watched file was last changed."""
    found: dict[str, int] = {}
    for watched in _WATCHED:
        for folder, _, files in os.walk(project.root / watched):
            for file in files:
                path = f"{folder}/{file}"
                try:
                    found[path] = os.stat(path).st_mtime_ns  # noqa: PTH116 - thousands of files twice a second
                except OSError:
                    continue  # an editor is replacing it, or it is a link to itself
    return found
