"""What is said when a PTX text holds something the simulator does not know."""

from __future__ import annotations

from tooling.errors import ToolingError
from tooling.exit_codes import ExitCode
from tooling.simulator.ptx_model import SourceLocation


class PtxError(ToolingError):
    """PTX that cannot be read or executed; it never guesses.

    Attributes:
        line: line in the PTX text, from 1.
        column: column in that line, from 1.
        text: the line itself.
        source: the Mojo place, where known.
    """

    exit_code = ExitCode.NOT_POSSIBLE

    def __init__(
        self,
        what: str,
        *,
        line: int,
        column: int = 1,
        text: str = "",
        source: SourceLocation | None = None,
        why: str | None = None,
        hint: str | None = None,
    ) -> None:
        place = f"PTX line {line}" + (f", from {source}" if source else "")
        super().__init__(f"{place}: {what}", why=why, hint=hint)
        self.line = line
        self.column = column
        self.text = text
        self.source = source

    def __str__(self) -> str:
        message = super().__str__()
        if not self.text:
            return message
        caret = " " * (self.column - 1) + "^"
        return f"{message}\n  | {self.text.expandtabs(1)}\n  | {caret}"


UNKNOWN_HINT = (
    "the simulated GPU never guesses: run this program on a real GPU (--target nvidia), write the line "
    "another way, or report the instruction so that it can be added"
)
