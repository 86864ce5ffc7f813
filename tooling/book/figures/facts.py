"""What figures are drawn from: constants and traces of the programs, data and results of the reference."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from tooling.book.errors import BookError
from tooling.book.figures.traces import Trace, load, trace_path, traced_run
from tooling.book.recordings import digest, program_files
from tooling.book.shelf import Shelf
from tooling.errors import Location
from tooling.record import Record

if TYPE_CHECKING:
    import numpy as np


class Facts(Record):
    """The facts of one puzzle."""

    shelf: Shelf
    puzzle: str

    def constant(self, name: str, program: str | None = None) -> int:
        """A whole number that the program fixes, such as TPB."""
        return self.shelf.constant(program or self.puzzle, name)

    def inputs(self, mode: str) -> dict[str, np.ndarray]:
        """The book's data of a mode, by buffer."""
        found: dict[str, np.ndarray] = self._reference().inputs(mode, "book")
        return found

    def expected(self, mode: str) -> dict[str, np.ndarray]:
        """What a mode must compute from the book's data, by buffer."""
        found: dict[str, np.ndarray] = self._reference().expected(mode, self.inputs(mode))
        return found

    def trace(self, run: str) -> Trace:
        """What a program's threads did, as recorded; the run is called as in `Figure.traces`.

        Raises:
            BookError: it was never traced, or the program has changed since.
        """
        selection, state = traced_run(self.shelf, run)
        path = trace_path(self.shelf.project, selection, state)
        trace = load(path)
        if trace.program != digest(*program_files(selection.program, state)):
            raise BookError(
                f"the {'solution' if state == 'solved' else 'problem'} has changed since it was traced",
                where=Location(path),
                hint=f"tooling figure {self.puzzle} --trace",
            )
        return trace

    def _reference(self) -> ModuleType:
        import importlib.util  # noqa: PLC0415 - figures are mostly shown without being drawn

        path = self.shelf.project.solutions / self.puzzle / "reference.py"
        spec = importlib.util.spec_from_file_location(f"reference_{self.puzzle}", path)
        if spec is None or spec.loader is None or not path.is_file():
            raise BookError(
                "the puzzle has no reference to take the figure's numbers from", where=Location(path)
            )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def number(value: float) -> str:
    """A number as figures show it: no `.0`."""
    return f"{float(value):.6g}"
