"""What is said when a PTX text holds something the simulator does not know."""

from __future__ import annotations

from tooling.errors import ToolingError
from tooling.exit_codes import ExitCode
from tooling.simulator.phrases import Phrase
from tooling.simulator.ptx_model import SourceLocation
from tooling.simulator.stop_texts import AT_PTX_LINE, FROM


class PtxError(ToolingError):
    """PTX that cannot be read or executed; it never guesses.

    Args:
        what: a phrase, or for texts that no compiler writes a sentence in English.

    Attributes:
        line: line in the PTX text, from 1.
        column: column in that line, from 1.
        text: the line itself.
        source: the Mojo place, where known.
    """

    exit_code = ExitCode.NOT_POSSIBLE

    def __init__(
        self,
        what: Phrase | str,
        *,
        line: int,
        column: int = 1,
        text: str = "",
        source: SourceLocation | None = None,
        why: Phrase | None = None,
        hint: Phrase | None = None,
    ) -> None:
        self.line = line
        self.column = column
        self.text = text
        self.source = source
        self._phrases = Phrase(what, what) if isinstance(what, str) else what, why, hint
        super().__init__("")
        self.say_in("en")
        self.args = (self.what,)

    def say_in(self, language: str) -> None:
        """Choose the language (`en` or `ko`) of its sentences."""
        what, self.why, self.hint = (
            None if phrase is None else phrase.in_language(language) for phrase in self._phrases
        )
        place = AT_PTX_LINE.say(language, line=self.line)
        if self.source:
            place += FROM.say(language, source=self.source)
        self.what = f"{place}: {what}"

    def __str__(self) -> str:
        message = super().__str__()
        if not self.text:
            return message
        caret = " " * (self.column - 1) + "^"
        return f"{message}\n  | {self.text.expandtabs(1)}\n  | {caret}"
