"""What the modes of each puzzle need, recorded: a table of all puzzles is set without reading every manifest.

`tooling generate` writes `book/needs.json` from the manifests. A puzzle whose manifest has changed since is
read from its manifest, so that nobody is told what was true once.
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
from tooling.project import Project
from tooling.state_file import read_cached
from tooling.text import LocalText


class ModeNeeds(Struct, frozen=True):
    """The flags of a mode, and what it needs of each vendor's GPUs."""

    flags: tuple[str, ...]
    requirements: tuple[Requirement, ...]  # as many as there are vendors, in their order


class Needs(Struct, frozen=True):
    """What a table says of one puzzle."""

    id: str
    title: LocalText
    modes: tuple[ModeNeeds, ...]

    @staticmethod
    def of(puzzle: Puzzle) -> Needs:
        """Those of a puzzle whose manifest is read."""
        modes = tuple(
            ModeNeeds(mode.flags, tuple(mode.requirement(vendor) for vendor in Vendor))
            for mode in puzzle.modes
        )
        return Needs(puzzle.id, puzzle.title, modes)


def record_path(project: Project) -> Path:
    """The file that `tooling generate` writes."""
    return project.root / "book" / "needs.json"


def needs_text(puzzles: Sequence[Puzzle]) -> str:
    """What that file should say."""
    lines = [
        json.dumps([puzzle.id, _digest(puzzle.manifest), to_builtins(Needs.of(puzzle))], ensure_ascii=False)
        for puzzle in puzzles
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def all_needs(project: Project) -> tuple[Needs, ...]:
    """Of every puzzle, in order.

    Raises:
        ManifestError: a manifest that has changed is wrong.
    """
    recorded = _recorded(record_path(project))
    found = []
    for path in manifest_paths(project):
        digest, needs = recorded.get(path.parent.name, ("", None))
        current = digest == _digest(path)
        found.append(needs if needs and current else Needs.of(load_puzzle(path, project)))
    return tuple(found)


def _recorded(path: Path) -> dict[str, tuple[str, Needs]]:
    """By puzzle, the digest of its manifest and its needs; nothing where the file is no such record, as after
    a merge: the manifests are there."""
    found = read_cached(path, list[tuple[str, str, Needs]]) or []
    return {name: (digest, needs) for name, digest, needs in found}


def _digest(manifest: Path) -> str:
    return hashlib.sha256(manifest.read_bytes()).hexdigest()[:16]
