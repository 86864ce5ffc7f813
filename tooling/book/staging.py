"""The pages of an edition as mdBook gets them from a build: every directive carried out already.

A build sets all editions in its own process and needs no preprocessor: starting Python once more for each
edition would cost more than all of mdBook. `mdbook build` by hand goes through `tooling.book.preprocessor`,
which does the same work with the same code.
"""

from __future__ import annotations

import re
from pathlib import Path

from tooling.book import banner
from tooling.book.chapters import NOT_FOUND
from tooling.book.editions import Edition
from tooling.book.errors import BookErrors, BuildFailed
from tooling.book.press import Press
from tooling.book.shelf import Shelf
from tooling.book.summary import read_summary

_PREPROCESSORS = re.compile(r"^\[preprocessor\b.*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)


def stage(edition: Edition, shelf: Shelf, folder: Path) -> Path:
    """Writes a book that mdBook can render by itself; files that are there already are left alone.

    Chapters that nobody has translated are left out. mdBook would stop at them, while the site shows the
    other language's page in their place.

    Returns:
        The folder.

    Raises:
        BuildFailed: something is wrong in the pages; the message holds all of it.
    """
    summary = (edition.source / "SUMMARY.md").read_text(encoding="utf-8").splitlines(keepends=True)
    states = banner.load(shelf.project, edition) if edition.prefix else None
    press = Press(edition, shelf, states)
    wanted: dict[Path, str] = {}
    missing: set[int] = set()
    for entry in read_summary(edition.source):
        if not entry.path:
            continue
        try:
            text = edition.page(entry.path).read_text(encoding="utf-8")
        except FileNotFoundError:
            if edition.prefix:
                missing.add(entry.line)
            continue  # in the source language mdBook says so, with the line
        wanted[folder / "src" / entry.path] = press.set(entry.path, text)
    if press.problems:
        raise BuildFailed(
            f"the {edition.name} edition could not be built", why=f"\n{BookErrors(press.problems)}"
        )
    not_found = edition.page(NOT_FOUND)
    if not_found.is_file():
        wanted[folder / "src" / NOT_FOUND] = not_found.read_text(encoding="utf-8")
    kept = "".join(line for number, line in enumerate(summary, 1) if number not in missing)
    wanted[folder / "src" / "SUMMARY.md"] = kept
    config = (edition.folder / "book.toml").read_text(encoding="utf-8")
    wanted[folder / "book.toml"] = _PREPROCESSORS.sub("", config)
    _write(folder, wanted)
    return folder


def _write(folder: Path, wanted: dict[Path, str]) -> None:
    """Makes the folder hold these files and no other ones."""
    there = {path for path in folder.rglob("*") if path.is_file()}
    for path in there - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        if path in there and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
