"""A summary of every puzzle, recorded, so that a map or table of all puzzles needs no manifest.

`tooling generate` writes `book/needs.json` from the manifests. A puzzle whose manifest has changed since then
is read from its manifest instead.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, to_builtins

from tooling.catalog.catalogue import manifest_paths
from tooling.catalog.manifest import load_puzzle
from tooling.catalog.model import Puzzle, Requirement, Vendor
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.platform.state_file import read_cached
from tooling.project import Project
from tooling.text import LocalText


class ModeNeeds(Struct, frozen=True):
    """The flags of a mode and its requirements on each vendor's GPUs."""

    flags: tuple[str, ...]
    requirements: tuple[Requirement, ...]  # one for each vendor, in the order of `Vendor`


class Needs(Struct, frozen=True):
    """One puzzle's entry in a map or table."""

    id: str
    number: int
    title: LocalText
    summary: LocalText | None
    part: str
    chapter: str  # its first page, below `src`
    modes: tuple[ModeNeeds, ...]

    @staticmethod
    def of(puzzle: Puzzle) -> Needs:
        """The entry of a puzzle."""
        modes = tuple(
            ModeNeeds(mode.flags, tuple(mode.requirement(vendor) for vendor in Vendor))
            for mode in puzzle.modes
        )
        return Needs(
            puzzle.id, puzzle.number, puzzle.title, puzzle.summary, puzzle.part, puzzle.chapters[0], modes
        )


def record_path(project: Project) -> Path:
    """The file that `tooling generate` writes."""
    return project.root / "book" / "needs.json"


def needs_text(puzzles: Sequence[Puzzle]) -> str:
    """The contents of that file."""
    lines = [
        json.dumps([puzzle.id, _digest(puzzle.manifest), to_builtins(Needs.of(puzzle))], ensure_ascii=False)
        for puzzle in puzzles
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def all_needs(project: Project) -> tuple[Needs, ...]:
    """The entries of all puzzles, in order.

    Raises:
        ManifestError: a manifest that has changed is wrong.
    """
    recorded = _recorded(record_path(project))
    found = []
    for path in manifest_paths(project):
        digest, needs = recorded.get(path.parent.name, ("", None))
        try:
            current = digest == _digest(path)
        except OSError:
            current = False  # the reader of manifests reports it
        found.append(needs if needs and current else Needs.of(load_puzzle(path, project)))
    return tuple(found)


def _recorded(path: Path) -> dict[str, tuple[str, Needs]]:
    """By puzzle, the digest of its manifest and its needs; empty if the file is not valid, as after a merge:
    the manifests are read then."""
    found = read_cached(path, list[tuple[str, str, Needs]]) or []
    return {name: (digest, needs) for name, digest, needs in found}


def _digest(manifest: Path) -> str:
    return hashlib.sha256(read_regular(manifest, limit=TEXT_LIMIT)).hexdigest()[:16]
