"""The data of figures: constants and traces of the programs, inputs and results of the reference."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.book import recordings
from tooling.book.errors import BookError
from tooling.book.figures.traces import Trace, load, trace_path, traced_run
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.recordings import digest, program_files
from tooling.book.verdict_recordings import load_verdict
from tooling.platform.errors import Location, ToolingError

if TYPE_CHECKING:
    import numpy as np


class Facts(Struct, frozen=True):
    """The data of one puzzle."""

    puzzle_index: PuzzleIndex
    puzzle: str

    def constant(self, name: str, program: str | None = None) -> int:
        """An integer constant of the program, such as TPB."""
        return self.puzzle_index.constant(program or self.puzzle, name)

    def inputs(self, mode: str) -> dict[str, np.ndarray]:
        """The book's data of a mode, by buffer.

        Raises:
            BookError: the puzzle has no usable reference.
        """
        return self._computed(
            "inputs", mode, lambda: self.puzzle_index.reference(self.puzzle).inputs(mode, "book")
        )

    def expected(self, mode: str) -> dict[str, np.ndarray]:
        """What a mode must compute from the book's data, by buffer. Raises as `inputs`."""
        inputs = self.inputs(mode)
        return self._computed(
            "expected", mode, lambda: self.puzzle_index.reference(self.puzzle).expected(mode, "book", inputs)
        )

    def demo(self, name: str) -> tuple[str, ...]:
        """The recorded output of the program `NAME.mojo` next to the puzzle's pages.

        Raises:
            BookError: its output is not recorded.
        """
        folder = recordings.recordings_folder(self.puzzle_index.project, self.puzzle)
        return recordings.load(folder, f"{name}.demo").lines

    def judged(self, answer: str) -> list[tuple[float, float]]:
        """What a wrong answer wrote and what was expected, as its recorded verdict lists the elements.

        Raises:
            BookError: its verdict is not recorded.
        """
        folder = recordings.recordings_folder(self.puzzle_index.project, self.puzzle)
        verdict = load_verdict(folder / f"{self.puzzle}.{answer}.verdict.json").verdict
        problems = verdict.wrong_case.problems if verdict.wrong_case else ()
        return [
            (float(element.got), float(element.expected))
            for problem in problems
            if problem.mismatch
            for element in problem.mismatch.first
        ]

    def trace(self, run: str) -> Trace:
        """The recorded trace of a run, which is named as in `Figure.traces`.

        Its program may have changed since: a page shows what was recorded until it is recorded again, and
        `tooling book check` reports it.

        Raises:
            BookError: it was never traced.
        """
        return load(trace_path(self.puzzle_index.project, *traced_run(self.puzzle_index, run)))

    def require_current(self, run: str) -> None:
        """Compares the trace of a run with the program as it is now.

        Raises:
            BookError: it was never traced, or the program has changed since.
        """
        selection, state = traced_run(self.puzzle_index, run)
        path = trace_path(self.puzzle_index.project, selection, state)
        if load(path).program != digest(*program_files(selection.program, state)):
            raise BookError(
                f"the {'solution' if state == 'solved' else 'problem'} has changed since it was traced",
                where=Location(path),
                hint=f"tooling figure {self.puzzle} --trace",
            )

    def _computed(
        self, function: str, mode: str, compute: Callable[[], dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """What a function of the reference computes: once, since it does so in a process of its own."""
        known, key = self.puzzle_index.reference_data, (self.puzzle, function, mode)
        if key not in known:
            with _as_book_error():
                known[key] = compute()
        return known[key]


@contextlib.contextmanager
def _as_book_error() -> Iterator[None]:
    """Turns an unusable reference into an error of the figure, not of the command."""
    try:
        yield
    except BookError:
        raise
    except ToolingError as error:
        raise BookError(error.what, where=error.where, why=error.why, hint=error.hint) from error


def number(value: float, form: str = ".6g") -> str:
    """A number as figures show it: no `.0`, unless its format has decimals, and a sign as long as a plus."""
    return format(float(value), form).replace("-", "\N{MINUS SIGN}")
