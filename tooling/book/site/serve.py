"""Shows the site on this machine, and builds it again after every change to either edition."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path

from tooling.book.editions import Edition, editions
from tooling.book.errors import BookError
from tooling.book.site.build import build
from tooling.book.site.handler import LOOPBACK, Changes, Credentials, Handler, Reader, Runs, Server
from tooling.catalog.catalogue import load_catalogue, manifest_paths
from tooling.catalog.model import Puzzle
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.progress import Progress, progress_path, read_progress
from tooling.project import Project
from tooling.text import ENGLISH, Text, joined

Say = Callable[[str], None]
_KEEP_KEY = Text("keep the key to yourself: whoever has it can run the puzzles here; stop with Ctrl+C")
_BUILT_AGAIN = Text("built again in {seconds:.2f} s")
_UNCHANGED = Text("the pages are unchanged")
_NOT_BUILT = Text("the book cannot be built: {why}")
_PORT = Text("port {port} cannot be used")
POLL_SECONDS = 0.5
_WATCHED = ("book", "i18n", "problems", "solutions", "tests/data/outputs")


class PortTaken(BookError):
    """The port is in use."""

    exit_code = ExitCode.NOT_POSSIBLE


def reader_of(project: Project, say: Say, language: str = ENGLISH) -> Reader:
    """The puzzles that this reader has solved in this checkout; none while a manifest is wrong."""
    progress = _progress(project.root, _stamp(progress_path(project.root)), say, language)
    try:
        puzzles = _puzzles(project, tuple(map(_stamp, manifest_paths(project))))
    except ToolingError as error:
        say(error.as_note().render(language))
        return Reader((), 0)
    solved = tuple(puzzle.id.removeprefix("p") for puzzle in puzzles if progress.is_solved(puzzle))
    return Reader(solved, len(puzzles))


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes when a file is written."""
    try:
        about = path.stat()
    except OSError:
        return ()
    return about.st_mtime_ns, about.st_size, about.st_ino


@lru_cache(maxsize=1)  # requested by every page, and written after a run
def _progress(root: Path, stamp: tuple[int, ...], say: Say, language: str) -> Progress:
    progress = read_progress(root)
    if progress.note:
        say(progress.note.render(language))
    return progress


@lru_cache(maxsize=1)  # requested by every page, and manifests seldom change
def _puzzles(project: Project, changed: tuple[tuple[int, ...], ...]) -> tuple[Puzzle, ...]:
    return load_catalogue(project)


def serve(project: Project, port: int, say: Say, runs: Runs, language: str = ENGLISH) -> None:
    """Builds, listens on the loopback interface, and watches until interrupted.

    Args:
        runs: what judges the puzzles of the pages.
        language: of what it says, and of the edition whose address comes first.

    Raises:
        PortTaken: the port is in use.
        BookError: the first build failed; later failures are reported, and the last good site stays.
    """
    site = project.root / "build" / "serve"
    address = f"http://{LOOPBACK}:{port}/"
    before = stamps(project)
    build(project, site, address)
    changes, access = Changes(), Credentials()
    handler = partial(
        Handler,
        site=site,
        changes=changes,
        reader=partial(reader_of, project, say, language),
        access=access,
        runs=runs,
    )
    try:
        server = Server((LOOPBACK, port), handler)
    except OSError as error:
        raise PortTaken(
            _PORT.of(port=port), why=error.strerror, hint=f"tooling book serve --port {port + 1}"
        ) from error
    for line in addresses(editions(project), f"{address}{{}}?key={access.key}", language):
        say(line)
    say(_KEEP_KEY.render(language))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pause = threading.Event()
    try:
        while not pause.wait(POLL_SECONDS):
            now = stamps(project)
            if now == before:
                continue
            before = now
            say(rebuild(project, site, address, changes, language))
    finally:
        runs.stop()
        server.shutdown()
        server.server_close()


def addresses(every: Sequence[Edition], address: str, language: str) -> list[str]:
    """The address of the edition in a language (or else in English), and then those of the others by name.

    Args:
        address: of the site, with `{}` for the folder of an edition.
    """
    own = next((edition for edition in every if edition.language == language), every[0])
    others = [edition for edition in every if edition is not own]
    return [
        address.format(own.prefix),
        *(f"{edition.name}: {address.format(edition.prefix)}" for edition in others),
    ]


def rebuild(project: Project, site: Path, address: str, changes: Changes, language: str = ENGLISH) -> str:
    """Builds again and notifies the open pages; returns the message to print."""
    try:
        built = build(project, site, address)
    except ToolingError as error:
        return joined((error.as_note(), _UNCHANGED), "\n").render(language)
    except Exception as error:  # noqa: BLE001 - whatever a file contains for a while, the server goes on
        why = f"{type(error).__name__}: {error}"
        return joined((_NOT_BUILT.of(why=why), _UNCHANGED), "\n").render(language)
    changes.announce()
    return _BUILT_AGAIN.of(seconds=built.seconds).render(language)


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
