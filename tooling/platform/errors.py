"""The base class of errors that are shown to the user: what, where, why, what to try."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from tooling.platform.exit_codes import ExitCode
from tooling.text import ENGLISH, JoinedText, Sentence, Text, in_language, joined

_WHY, _TRY = Text("why"), Text("try")


class Location(Struct, frozen=True, array_like=True):
    """A position in a file; line and column are 1-based. In JSON it is an array."""

    path: Path
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        fields = [str(self.path)]
        if self.line is not None:
            fields.append(str(self.line))
            if self.column is not None:
                fields.append(str(self.column))
        return ":".join(fields)


class ToolingError(Exception):
    """An error with four fields: what, where, why and what to try. Subclasses set `exit_code`.

    Args:
        what: one line with what went wrong.
        where: the file, line and column, if there is one.
        why: the reason, or the rule that was broken.
        hint: what to try, as a command or an edit.

    Attributes:
        what, why, hint: in English, or in the language set by `speak`, if they are sentences of the tool.
        language: that language.
        sentences: what, why and hint as they were given, in no language yet.
    """

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(
        self,
        what: str | Sentence,
        *,
        where: Location | None = None,
        why: str | Sentence | None = None,
        hint: str | Sentence | None = None,
    ) -> None:
        self.where = where
        self.sentences = what, why, hint
        self.speak(ENGLISH)
        super().__init__(self.what)

    def speak(self, language: str) -> None:
        """Sets the language of its sentences; an error whose `what` is a plain string stays English."""
        self.language = ENGLISH if isinstance(self.sentences[0], str) else language
        rendered = (in_language(sentence, self.language) for sentence in self.sentences)
        self.what: str
        self.why: str | None
        self.hint: str | None
        self.what, self.why, self.hint = rendered

    @property
    def reason(self) -> Sentence:
        """What and why as one sentence, for where the error is the reason of something else."""
        what, why, _ = self.sentences
        return joined((what, why) if why else (what,), ": ")

    def as_note(self) -> JoinedText:
        """The error as a sentence, for where it is only noted: its fields as `str` writes them."""
        what, why, hint = self.sentences
        lines: list[str | Sentence] = [joined((f"{self.where}: ", what), "") if self.where else what]
        lines += [
            joined(("  ", label, ": ", text), "") for label, text in ((_WHY, why), (_TRY, hint)) if text
        ]
        return joined(lines, "\n")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled without `__init__`, whose arguments differ between classes."""
        return _unpickled, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.why:
            lines.append(f"  why: {self.why}")
        if self.hint:
            lines.append(f"  try: {self.hint}")
        return "\n".join(lines)


def _unpickled(
    kind: type[ToolingError], arguments: tuple[object, ...], state: dict[str, object]
) -> ToolingError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error
