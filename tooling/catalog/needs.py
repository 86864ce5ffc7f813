"""What the modes of each puzzle need, recorded: a table of all puzzles is set without reading every manifest.

`tooling generate` writes `book/needs.json` from the manifests. A puzzle whose manifest has changed since is
read from its manifest, so that nobody is told what was true once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from tooling.catalog.catalogue import manifest_paths
from tooling.catalog.manifest import load_puzzle
from tooling.catalog.model import Puzzle, Requirement, Text, Vendor
from tooling.project import Project


class ModeNeeds(Struct, frozen=True):
    """The flags of a mode, and what it needs of each vendor's GPUs."""

    flags: tuple[str, ...]
    requirements: tuple[Requirement, ...]  # as many as there are vendors, in their order


class Needs(Struct, frozen=True):
    """What a table says of one puzzle."""

    id: str
    title: Text
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
        json.dumps([puzzle.id, _digest(puzzle.manifest), _packed(Needs.of(puzzle))], ensure_ascii=False)
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
        digest, packed = recorded.get(path.parent.name, ("", None))
        current = packed is not None and digest == _digest(path)
        found.append(_unpacked(path.parent.name, packed) if current else Needs.of(load_puzzle(path, project)))
    return tuple(found)


def _recorded(path: Path) -> dict[str, tuple[str, Any]]:
    """By puzzle, the digest of its manifest and its needs; nothing where the file is no such record, as after
    a merge: the manifests are there."""
    try:
        return {name: (digest, packed) for name, digest, packed in json.loads(path.read_text("utf-8"))}
    except (OSError, ValueError, TypeError):
        return {}


def _digest(manifest: Path) -> str:
    return hashlib.sha256(manifest.read_bytes()).hexdigest()[:16]


def _packed(needs: Needs) -> list[Any]:
    modes = [[mode.flags, [_requirement(each) for each in mode.requirements]] for mode in needs.modes]
    return [needs.title.en, needs.title.ko, modes]


def _requirement(requirement: Requirement) -> list[Any]:
    because = requirement.because
    told = because and [because.en, because.ko]
    return [requirement.compute, requirement.unsupported, requirement.builds, told]


def _unpacked(name: str, packed: list[Any]) -> Needs:
    english, korean, modes = packed
    return Needs(name, Text(english, korean), tuple(_mode(flags, needed) for flags, needed in modes))


def _mode(flags: list[str], packed: list[Any]) -> ModeNeeds:
    requirements = [
        Requirement(vendor, compute and (compute[0], compute[1]), unsupported, builds, told and Text(*told))
        for vendor, (compute, unsupported, builds, told) in zip(Vendor, packed, strict=True)
    ]
    return ModeNeeds(tuple(flags), tuple(requirements))
