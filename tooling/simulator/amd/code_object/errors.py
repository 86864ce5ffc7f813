"""Errors about code objects and machine code that the simulator cannot read or execute."""

from __future__ import annotations

from tooling.simulator.amd.texts import AT_CODE_OFFSET
from tooling.simulator.gpu.code_model import SourceLocation
from tooling.simulator.gpu.stop_texts import CANNOT_EXECUTE, FROM, UNKNOWN_FORM
from tooling.simulator.program.backend import CodeError
from tooling.text import Text


class CodeObjectError(CodeError):
    """A code object that cannot be loaded."""


_AT = Text("{position}: {what}")

_HINT = Text(
    "the simulated GPU never guesses: run this program on the simulated NVIDIA GPU (--target sim) or on a "
    "real GPU, write the line another way, or report the instruction so that it can be added"
)


class UnknownInstruction(CodeError):
    """An instruction that the simulator does not support.

    Args:
        form: its text, or its encoding if it cannot be decoded.
        offset: in the code, in bytes.
        source: the location in the Mojo source, if known.
        why: what about it is not supported.
    """

    def __init__(
        self, form: str, *, offset: int, source: SourceLocation | None = None, why: Text = UNKNOWN_FORM
    ) -> None:
        self.form = form
        self.offset = offset
        self.source = source
        position = AT_CODE_OFFSET.of(offset=f"{offset:#x}", source=FROM.of(source=source) if source else "")
        super().__init__(_AT.of(position=position, what=CANNOT_EXECUTE.of(form=form)), why=why, hint=_HINT)
