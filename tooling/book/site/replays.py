"""The pages of replays: a file for each replay and language, which share a style sheet and a script."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from tooling.book.editions import Edition
from tooling.book.site.inputs import digest
from tooling.book.site.stamps import Stamp
from tooling.platform.regular_files import read_text
from tooling.project import Project
from tooling.text import ENGLISH, languages

_DIRECTIVE = re.compile(r"\{\{#replay[^}]*\}\}")
_STYLE, _SCRIPT = "replay.css", "replay.js"
_FACE = re.compile(r'^@font-face \{ font-family: "Book (?:Sans|Mono)";.*\}$', re.MULTILINE)
_FAMILIES = re.compile(r"^ *(--(?:text|mono): .*;)$", re.MULTILINE)


def write_replays(project: Project, every: Sequence[Edition], work: Path, key: str, fresh: Path) -> None:
    """Writes the pages of all replays into a new site, in every language.

    Args:
        work: the folder that keeps them between builds.
        key: a digest of everything that a page of the book may be made from, except the chapters.
        fresh: the new site, with its assets.
    """
    asked = {
        directive
        for edition in every
        for chapter in edition.source.rglob("*.md")
        for directive in _DIRECTIVE.findall(read_text(chapter))
    }
    made = Stamp(work / "replays", digest(key, *sorted(asked)))
    if not made.holds():
        made.begin()
        shutil.rmtree(made.folder, ignore_errors=True)
        made.folder.mkdir()
        _make(project, every, made.folder)
        made.finish()
    for edition in every:
        pages = made.folder / edition.language
        if pages.is_dir():
            shutil.copytree(pages, fresh / edition.prefix / "replays")
    for name in (_STYLE, _SCRIPT):
        if (made.folder / name).is_file():
            shutil.copyfile(made.folder / name, fresh / "assets" / name)


def _fonts(project: Project) -> str:
    """The rules of the book's style sheet for the fonts of text and code; the replays' is next to it."""
    sheet = read_text(project.root / "book" / "theme" / "assets" / "book.css")
    faces, families = _FACE.findall(sheet), _FAMILIES.findall(sheet)
    return "\n".join([f":root {{ {' '.join(families)} }}", *faces, ""])


def _make(project: Project, every: Sequence[Edition], folder: Path) -> None:
    from tooling.book.directives.replays import load, page_name, replay_path, shown_replays  # noqa: PLC0415
    from tooling.replay.page import Files, script, style, to_html  # noqa: PLC0415 - most builds change none

    shown = list(shown_replays(project, every))
    if shown:
        (folder / _STYLE).write_text(style(_fonts(project)), encoding="utf-8")
        (folder / _SCRIPT).write_text(script(), encoding="utf-8")
    for selection, state in shown:
        recorded = load(replay_path(project, selection, state))
        for edition in every:
            assets = "../" * (1 + edition.prefix.count("/")) + "assets/"
            styles = (assets + _STYLE, *([assets + edition.fonts] if edition.fonts else []))
            files = Files(styles, assets + _SCRIPT, f"{assets}favicon.svg")
            page = folder / edition.language / page_name(selection, state)
            page.parent.mkdir(exist_ok=True)
            language = edition.language if edition.language in languages() else ENGLISH
            page.write_text(to_html(recorded.trace, recorded.title, language, files=files), encoding="utf-8")
