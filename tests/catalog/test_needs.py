"""What a table says of each puzzle is what its manifest says, recorded or not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.needs import Needs, all_needs, needs_text, record_path
from tooling.project import Project, find_project

PUZZLES = ("p01", "p34")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two puzzles of this checkout, with their record."""
    root = find_project().root
    for puzzle in PUZZLES:
        for folder in ("problems", "solutions"):
            shutil.copytree(root / folder / puzzle, tmp_path / folder / puzzle)
    (tmp_path / "book").mkdir()
    copied = Project(tmp_path)
    record_path(copied).write_text(needs_text(load_catalogue(copied)), "utf-8")
    return copied


def from_manifests(project: Project) -> tuple[Needs, ...]:
    return tuple(Needs.of(puzzle) for puzzle in load_catalogue(project))


def test_the_record_says_what_all_manifests_of_the_book_say() -> None:
    project = find_project()
    assert all_needs(project) == from_manifests(project)


def test_the_record_spares_reading_the_manifests(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = from_manifests(project)
    monkeypatch.setattr("tooling.catalog.needs.load_puzzle", None)
    assert all_needs(project) == wanted


def test_a_manifest_that_has_changed_is_read(project: Project) -> None:
    manifest = project.problems / "p01" / "puzzle.yaml"
    manifest.write_text(manifest.read_text("utf-8").replace("Map", "Another title"), "utf-8")
    first, _ = all_needs(project)
    assert first.title.render("en") == "Another title"
    assert all_needs(project) == from_manifests(project)


@pytest.mark.parametrize("content", ["", "<<<<<<< HEAD", "{}", "[1]", json.dumps([["p01", "0", []]])])
def test_without_a_record_the_manifests_are_read(project: Project, content: str) -> None:
    record_path(project).write_text(content, "utf-8")
    assert all_needs(project) == from_manifests(project)
    record_path(project).unlink()
    assert all_needs(project) == from_manifests(project)
