"""Mutants: typical wrong answers, as edits of a solution, which the judge must reject."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import yaml
from msgspec import Struct

from tooling.catalog.manifest import local_text
from tooling.catalog.model import ModeKind, Program, Puzzle, Vendor
from tooling.catalog.nodes import Value, read_document
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_text
from tooling.project import Project
from tooling.text import LocalText

SIMULATOR_CHECKS = ("memory", "races", "initialisation", "synchronisation")
PROGRAM_FAILURES = ("crash", "time-limit", "program-error")
COUNTERS = ("counters",)  # right values, but a counter does not meet the manifest's criteria
ORDERS = ("order-dependent",)  # right values, but not with the threads in every order
ORIGINS = (
    "stored-by-host",
    "copied-from-host",
    "not-from-device",
    "guard-refilled",
    "launch-shape",
    "few-threads",
    "no-shared-memory",
    "copies-in-turn",
)
"""Right values that the GPU did not compute, or not as the puzzle asks; only the simulated GPU sees it."""
DIAGNOSES = (
    "never-written",
    "written-beyond-the-end",
    "partly-written",
    "first-block-only",
    "accumulated",
    "same-result",
    "known-mistake",
    "constant-difference",
    "reversed-order",
    "shifted",
    "permuted",
    "transposed",
    "tile-repeated",
    "missing-last",
    "partial-sum",
    "scaled",
    "other-formula",
    "not-a-number",
    "not-submitted",
    "text-disagrees",
    "input-changed",
    "mismatch",  # wrong, without a known pattern
)


class KnownMistake(Struct, frozen=True):
    """A wrong answer that is recognised by its result."""

    because: LocalText
    result: str  # the expression that computes it: `ReferenceCase.evaluate`
    where: Location


class MutantError(ToolingError):
    """A mutant does not apply to the solution it is written for."""


class Edit(Struct, frozen=True):
    """One exact replacement; the text must occur `count` times."""

    replace: str
    with_: str
    count: int
    where: Location
    file: str = ""  # below the puzzle's folder; empty: the program's main file


class Deviation(Struct, frozen=True):
    """The verdict on a mutant on the GPUs of one vendor, where it is not the usual one."""

    because: str
    expect: tuple[str, ...] = ()  # none: the mistake does not show there, and the program passes
    modes: tuple[str, ...] = ()  # in which; none: in all
    lanes: int = 0  # only on GPUs whose warps have as many; 0: on all


class Mutant(Struct, frozen=True):
    """One wrong answer."""

    name: str
    puzzle: str
    programs: tuple[str, ...]
    modes: tuple[str, ...]
    because: LocalText  # Korean too if the mistake is recognised by its results
    edits: tuple[Edit, ...]
    expect: tuple[str, ...]  # the verdict must contain at least one of them
    where: Location
    results: Mapping[str, str] = {}  # by mode: the expression that computes the wrong output
    deviations: Mapping[Vendor, Deviation] = {}

    def sources(self, program: Program) -> dict[str, str]:
        """The files of a program's solution with the mistake in them, by name, the main file first.

        Raises:
            MutantError: as `apply_to`.
            ToolingError: a file of the solution cannot be read.
        """
        main, *others = program.sources
        try:
            texts = {file.name: read_text(file.solution) for file in others}
            texts = {"": read_text(main.solution), **texts}
        except OSError as error:
            raise ToolingError(
                "a solution cannot be read", where=Location(Path(error.filename)), why=error.strerror
            ) from error
        return {name or main.name: text for name, text in self.apply_to(texts).items()}

    def apply_to(self, solution: Mapping[str, str]) -> dict[str, str]:
        """The files of a solution with the mistake in them, by name; the main file has the empty name.

        Raises:
            MutantError: the number of occurrences of a text to replace is not the expected one, or the
                program has no file of that name.
        """
        texts = dict(solution)
        for edit in self.edits:
            if edit.file not in texts:
                raise MutantError(
                    f"mutant `{self.name}`: the program has no file `{edit.file}`",
                    where=edit.where,
                    hint="one of " + ", ".join(name for name in texts if name),
                )
            times = texts[edit.file].count(edit.replace)
            if times != edit.count:
                raise MutantError(
                    f"mutant `{self.name}`: the text to replace occurs {times} times, not {edit.count}",
                    where=edit.where,
                    why="the solution has changed since, or the text is not unique in it",
                    hint="copy the lines exactly from the solution, with their indentation",
                )
            texts[edit.file] = texts[edit.file].replace(edit.replace, edit.with_)
        return texts


def mutants_path(project: Project, puzzle: Puzzle) -> Path:
    return project.mutants / f"{puzzle.id}.yaml"


def load_mutants(project: Project, puzzle: Puzzle) -> tuple[Mutant, ...]:
    """The mutants of a puzzle; none if it has no file.

    Raises:
        ManifestError: the file is not valid.
    """
    path = mutants_path(project, puzzle)
    if not os.path.lexists(path):
        return ()
    mutants = tuple(_mutant(item, puzzle) for item in read_document(path).items())
    names = [mutant.name for mutant in mutants]
    for mutant in mutants:
        if names.count(mutant.name) > 1:
            raise MutantError(f"two mutants are named `{mutant.name}`", where=mutant.where)
    return mutants


def _mutant(value: Value, puzzle: Puzzle) -> Mutant:
    keys = value.mapping(["name", "because", "edits", "expect"], ["programs", "modes", "result", "targets"])
    programs = tuple(program.name for program in puzzle.programs)
    modes = tuple(mode.name for mode in puzzle.modes)
    judged = tuple(mode.name for mode in puzzle.modes if mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN))
    ran = tuple(item.one_of(modes, "mode") for item in keys["modes"].items()) if "modes" in keys else judged
    return Mutant(
        name=keys["name"].text(),
        puzzle=puzzle.id,
        programs=tuple(item.one_of(programs, "program") for item in keys["programs"].items())
        if "programs" in keys
        else programs,
        modes=ran,
        because=local_text(keys["because"])
        if "result" in keys
        else LocalText.of(en=keys["because"].text().strip()),
        edits=tuple(_edit(item) for item in keys["edits"].items()),
        expect=_expectations(keys["expect"]),
        where=value.location,
        results=_results(keys["result"], ran) if "result" in keys else {},
        deviations={
            Vendor(name): _deviation(entry, modes)
            for name, entry in keys["targets"].mapping([], [vendor.value for vendor in Vendor]).items()
        }
        if "targets" in keys
        else {},
    )


def _results(value: Value, modes: tuple[str, ...]) -> dict[str, str]:
    """One expression for all modes, or one for each that is named."""
    if isinstance(value.node, yaml.ScalarNode):
        return dict.fromkeys(modes, value.text())
    return {mode: expression.text() for mode, expression in value.mapping([], modes).items()}


def _expectations(value: Value) -> tuple[str, ...]:
    known = (*SIMULATOR_CHECKS, *DIAGNOSES, *PROGRAM_FAILURES, *COUNTERS, *ORDERS, *ORIGINS)
    return tuple(item.one_of(known, "expectation") for item in value.items())


def _deviation(value: Value, modes: tuple[str, ...]) -> Deviation:
    """Either `hidden`, the reason why the mistake does not show, or `expect` and `because`."""
    reason, *rest = ("hidden",) if "hidden" in value.entries() else ("because", "expect")
    keys = value.mapping([reason, *rest], ["modes", "lanes"])
    lanes = keys["lanes"].integer(1) if "lanes" in keys else 0
    if lanes not in (0, 32, 64):
        raise keys["lanes"].error("must be 32 or 64")
    return Deviation(
        keys[reason].text().strip(),
        _expectations(keys["expect"]) if rest else (),
        tuple(item.one_of(modes, "mode") for item in keys["modes"].items()) if "modes" in keys else (),
        lanes,
    )


def known_mistakes(puzzle: Puzzle, mode: str) -> tuple[KnownMistake, ...]:
    """The mutants of a puzzle that are recognised by their result in a mode.

    Raises:
        ManifestError: the file of mutants is not valid.
    """
    mutants = load_mutants(Project(puzzle.manifest.parents[2]), puzzle)
    return tuple(
        KnownMistake(each.because, each.results[mode], each.where) for each in mutants if mode in each.results
    )


def _edit(value: Value) -> Edit:
    keys = value.mapping(["replace"], ["with", "count", "file"])
    replacement = value.entries().get("with")
    return Edit(
        replace=keys["replace"].text(),
        with_=str(replacement.node.value) if replacement else "",
        count=keys["count"].integer(1) if "count" in keys else 1,
        where=keys["replace"].location,
        file=keys["file"].text() if "file" in keys else "",
    )
