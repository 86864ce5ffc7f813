"""The compiler's messages, parsed from its JSON lines, with source lines and hints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tooling.errors import Location
from tooling.text import ENGLISH, Text
from tooling.toolchain.renamed import hint_for

_NOISE = "Failed to initialize Crashpad"
_SUMMARIES = (
    "failed to parse the provided Mojo source module",
    "failed to run the pass manager",  # reported at line 1, before the error that it summarises
)
_LAYOUT_TENSOR_WARNING = "Use TileTensor instead"
_USES_LAYOUT_TENSOR = Text(
    "note: this program uses LayoutTensor (once), which Mojo deprecates in favour of TileTensor; your code "
    "is not at fault",
    plural="note: this program uses LayoutTensor ({count} times), which Mojo deprecates in favour of "
    "TileTensor; your code is not at fault",
)
_TRY = Text("try")
_MORE_ERRORS = Text("... and {count} more error", "... and {count} more errors")
_MORE_WARNINGS = Text("... and {count} more warning", "... and {count} more warnings")
_TAB_WIDTH = 4


class Diagnostic(Struct, frozen=True, array_like=True):
    """One message of the compiler; its notes follow it. In JSON it is an array."""

    kind: str  # error, warning, note
    message: str
    location: Location | None
    text: str = ""  # the source line
    width: int = 1  # columns of the marked expression

    def render(self) -> str:
        """The message with file:line:column, the source line and a caret at the column."""
        head = f"{self.location}: " if self.location else ""
        lines = [f"{head}{self.kind}: {self.message}"]
        if self.text and self.location and self.location.column:
            before = self.text[: self.location.column - 1].expandtabs(_TAB_WIDTH)
            lines.append("    " + self.text.expandtabs(_TAB_WIDTH).rstrip())
            lines.append("    " + " " * len(before) + "^" + "~" * (self.width - 1))
        return "\n".join(lines)


def parse_diagnostics(stderr: str) -> tuple[Diagnostic, ...]:
    """Parses the output of `mojo build --diagnostic-format json`; other lines are kept as notes.

    A line that only summarises errors is kept if the compiler reports no other error.
    """
    found: list[Diagnostic] = []
    for line in stderr.splitlines():
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict) or "message" not in record:
            diagnostic = _from_text(line.strip())
        else:
            diagnostic = _from_record(record)
        if not diagnostic.message.startswith(_NOISE):
            found.append(diagnostic)
    specific = tuple(diagnostic for diagnostic in found if not diagnostic.message.startswith(_SUMMARIES))
    return specific if any(diagnostic.kind == "error" for diagnostic in specific) else tuple(found)


def _from_text(line: str) -> Diagnostic:
    for kind in ("error", "warning", "note"):
        prefix, mark, message = line.partition(f"{kind}: ")
        if mark and (not prefix or prefix.rstrip().endswith(":")):
            return Diagnostic(kind, (prefix + message).strip(), None)
    return Diagnostic("note", line, None)


def _from_record(record: dict[str, object]) -> Diagnostic:
    kind = str(record.get("kind", "error"))
    message = str(record["message"])
    detail = record.get("diagnostic")
    if not isinstance(detail, dict):
        return Diagnostic(kind, message, None)
    position = detail.get("location")
    line = position.get("line") if isinstance(position, dict) else None
    column = position.get("column") if isinstance(position, dict) else None
    ranges = detail.get("ranges")
    width = 1
    if isinstance(ranges, list) and isinstance(column, int):
        width = max([1, *(each["end"] - column for each in ranges if each.get("start") == column)])
    location = Location(
        Path(str(detail.get("file", ""))),
        line if isinstance(line, int) else None,
        column + 1 if isinstance(column, int) else None,  # the compiler counts columns from 0
    )
    return Diagnostic(kind, message, location, str(detail.get("text", "")), width)


def render_errors(diagnostics: Sequence[Diagnostic], *, most: int = 8, language: str = ENGLISH) -> str:
    """The errors with their notes, and each hint once, after the first error that it is for.

    Args:
        language: of the hints; the compiler's messages are in English.
    """
    shown: list[str] = []
    hints: set[Text] = set()
    count = 0
    after_error = False
    for diagnostic in diagnostics:
        if diagnostic.kind == "note" and after_error and count <= most:
            shown.append(diagnostic.render())
        after_error = diagnostic.kind == "error" or (after_error and diagnostic.kind == "note")
        if diagnostic.kind != "error":
            continue
        count += 1
        if count > most:
            continue
        shown.append(diagnostic.render())
        hint = hint_for(diagnostic.message, diagnostic.text)
        if hint and hint not in hints:
            hints.add(hint)
            shown.append(_hint(hint, language))
    if count > most:
        shown.append(_MORE_ERRORS.of(count=count - most).render(language))
    return "\n".join(shown)


def _hint(hint: Text, language: str) -> str:
    return f"  {_TRY.render(language)}: {hint.render(language)}"


def render_warnings(
    diagnostics: Sequence[Diagnostic], *, unfinished: bool = False, most: int = 5, language: str = "en"
) -> str:
    """The warnings; those about LayoutTensor, one for each use of the type, are combined into one line.

    Args:
        unfinished: the learner has not yet written the code that uses the names of the problem file, so
            warnings about unused names are omitted.
        language: of that line and the hints; the compiler's messages are in English.
    """
    shown: list[str] = []
    folded = 0
    others = 0
    for diagnostic in diagnostics:
        if diagnostic.kind != "warning":
            continue
        if diagnostic.message == _LAYOUT_TENSOR_WARNING:
            folded += 1
            continue
        if unfinished and "was never used" in diagnostic.message:
            continue
        others += 1
        if others <= most:
            shown.append(diagnostic.render())
            hint = hint_for(diagnostic.message, diagnostic.text)
            if hint:
                shown.append(_hint(hint, language))
    if others > most:
        shown.append(_MORE_WARNINGS.of(count=others - most).render(language))
    if folded:
        shown.append(_USES_LAYOUT_TENSOR.of(count=folded).render(language))
    return "\n".join(shown)
