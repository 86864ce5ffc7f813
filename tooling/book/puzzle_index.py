"""The puzzles that pages name, each manifest read once in a build."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from tooling.book.drawings import Drawing
from tooling.book.errors import BookError
from tooling.catalog.catalogue import Selection, find_mode, load_catalogue
from tooling.catalog.catalogue import find_program as find_program_in
from tooling.catalog.model import Program, Puzzle
from tooling.catalog.needs import Needs, all_needs
from tooling.platform.regular_files import read_text
from tooling.project import Project

if TYPE_CHECKING:
    import numpy as np

    from tooling.catalog.mutants import Mutant
    from tooling.judging.reference import Reference

_CONSTANT = re.compile(r"^(?:comptime\s+)?(\w+)\s*=\s*(.+?)\s*(?:#.*)?$", re.MULTILINE)


class PuzzleIndex(Struct):
    """Caches puzzles, their wrong answers, and the constants of their programs.

    Attributes:
        reference_data: what figures show of the references: buffers by puzzle, function and mode.
        drawings: figures that have been drawn, by name and language: for wide screens, then for narrow ones.
    """

    project: Project
    reference_data: dict[tuple[str, str, str], dict[str, np.ndarray]] = field(default_factory=dict)
    drawings: dict[tuple[str, str], tuple[Drawing, ...]] = field(default_factory=dict)
    _references: dict[str, Reference] = field(default_factory=dict)
    _programs: dict[str, tuple[Puzzle, Program]] = field(default_factory=dict)
    _puzzles: dict[str, Puzzle] = field(default_factory=dict)
    _catalogue: tuple[Puzzle, ...] | None = None
    _needs: tuple[Needs, ...] | None = None
    _mutants: dict[str, tuple[Mutant, ...]] = field(default_factory=dict)
    _constants: dict[Path, dict[str, int]] = field(default_factory=dict)

    def program(self, name: str) -> tuple[Puzzle, Program]:
        """The puzzle and the program of a name such as `p15_tile_tensor`.

        Raises:
            UnknownPuzzle, ManifestError: as `catalog` does.
        """
        known = self._programs.get(name)
        if known is None:
            identity = name.split("_", 1)[0]
            puzzle = self._puzzles.get(identity)
            if puzzle is None:
                known = find_program_in(self.project, name)
                self._puzzles[known[0].id] = known[0]
            else:
                program = next((each for each in puzzle.programs if each.name == name), None)
                known = (puzzle, program) if program else find_program_in(self.project, name)
            self._programs[name] = known
        return known

    def selection(self, name: str, flags: Sequence[str]) -> Selection:
        """The program and mode of a command line.

        Raises:
            UnknownPuzzle, UnknownMode, ManifestError: as `catalog` does.
        """
        puzzle, program = self.program(name)
        return Selection(puzzle, program, find_mode(puzzle, program, flags))

    def puzzles(self) -> tuple[Puzzle, ...]:
        """Every puzzle of the book."""
        if self._catalogue is None:
            self._catalogue = load_catalogue(self.project)
            self._puzzles |= {puzzle.id: puzzle for puzzle in self._catalogue}
        return self._catalogue

    def needs(self) -> tuple[Needs, ...]:
        """What every puzzle of the book needs."""
        if self._needs is None:
            self._needs = all_needs(self.project)
        return self._needs

    def reference(self, puzzle: str) -> Reference:
        """The reference of a puzzle. Its process is kept: each start is a fork of this one.

        Raises:
            ReferenceUnusable: as `read_reference` does.
        """
        if puzzle not in self._references:
            # Most builds show no new figure, and this imports NumPy.
            from tooling.judging.reference import read_reference  # noqa: PLC0415

            self._references[puzzle] = read_reference(self.project.solutions / puzzle / "reference.py")
        return self._references[puzzle]

    def mutants(self, puzzle: Puzzle) -> tuple[Mutant, ...]:
        """The wrong answers of a puzzle.

        Raises:
            ManifestError: as `load_mutants` does.
        """
        if puzzle.id not in self._mutants:
            from tooling.catalog.mutants import load_mutants  # noqa: PLC0415 - few pages show wrong answers

            self._mutants[puzzle.id] = load_mutants(self.project, puzzle)
        return self._mutants[puzzle.id]

    def constants(self, program: Program) -> dict[str, int]:
        """The integers that a program defines with `comptime NAME = …` at the left margin.

        All of its files count, and `NAME = …` in those in Python: a graph's operations are in other files.

        Sums and products of earlier constants count too, and the numbers of a tuple: `NAME[0]` is the first
        one. Constants that are not integers are left out.
        """
        known = self._constants.get(program.problem)
        if known is None:
            known = {}
            for source in program.sources:
                for name, value in _CONSTANT.findall(read_text(source.problem)):
                    found = _evaluate(value, known)
                    if isinstance(found, tuple):
                        known |= {f"{name}[{index}]": number for index, number in enumerate(found)}
                    elif found is not None:
                        known[name] = found
            self._constants[program.problem] = known
        return known

    def constant(self, program_name: str, name: str) -> int:
        """One constant of a program.

        Raises:
            BookError: the program defines no integer of this name.
        """
        _, program = self.program(program_name)
        constants = self.constants(program)
        if name not in constants:
            raise BookError(
                f"{program.problem.name} has no constant `{name}`",
                why=f"its constants are: {', '.join(constants) or 'none'}",
            )
        return constants[name]

    def shown_constant(self, program_name: str, name: str) -> str:
        """One constant as a page shows it: a number such as `1,024`, or a tuple such as `(3, 3)`.

        Raises:
            BookError: the program defines neither of this name.
        """
        _, program = self.program(program_name)
        numbers = [n for known, n in self.constants(program).items() if known.startswith(f"{name}[")]
        return f"({', '.join(map(str, numbers))})" if numbers else f"{self.constant(program_name, name):,}"


_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def _evaluate(value: str, known: Mapping[str, int]) -> tuple[int, ...] | int | None:
    """The value of `4`, `(SIZE + TPB - 1) // TPB` or `(TPB, 1)`; None for any other expression.

    Such expressions are the same in Mojo and Python.
    """
    try:
        node = ast.parse(value, mode="eval").body
        if isinstance(node, ast.Tuple):
            return tuple(_number(each, known) for each in node.elts)
        return _number(node, known)
    except (SyntaxError, LookupError, ValueError, ZeroDivisionError):
        return None


def _number(node: ast.expr, known: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            return known[name]
        case ast.BinOp(left=left, op=operation, right=right):
            return _OPERATIONS[type(operation)](_number(left, known), _number(right, known))
    raise ValueError("not an integer")
