"""The compiler's messages, parsed from its JSON lines, with source lines and hints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import Location
from tooling.text import ENGLISH, Text
from tooling.text.width import columns
from tooling.toolchain.characters import UNEXPECTED, with_name
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
_DECLARATION = "function declared here"
_TRY = Text("try")
_WARNINGS = Text("the compiler warns, which does not change the verdict:")
_ALSO_AT = Text("also at {positions}")
_MORE_ERRORS = Text("... and {count} more error", "... and {count} more errors")
_MORE_WARNINGS = Text("... and {count} more warning", "... and {count} more warnings")
_TAB_WIDTH = 4


class Diagnostic(Struct, frozen=True, array_like=True):
    """One message of the compiler; its notes follow it. In JSON it is an array."""

    kind: str  # error, warning, note
    message: str
    location: Location | None  # its column counts characters
    text: str = ""  # the source line
    width: int = 1  # characters of the marked expression

    def render(self) -> str:
        """The message with file:line:column, the source line and a caret at the column."""
        head = f"{self.location}: " if self.location else ""
        lines = [f"{head}{self.kind}: {self.message}"]
        if self.text and self.location and self.location.column:
            start = self.location.column - 1
            before = self.text[:start].expandtabs(_TAB_WIDTH)
            marked = columns(self.text[start : start + self.width].expandtabs(_TAB_WIDTH))
            lines.append("    " + self.text.expandtabs(_TAB_WIDTH).rstrip())
            lines.append("    " + " " * columns(before) + "^" + "~" * (max(marked, self.width) - 1))
        return "\n".join(lines)


def parse_diagnostics(stderr: str) -> tuple[Diagnostic, ...]:
    """Parses the output of `mojo build --diagnostic-format json`; other lines are kept as notes.

    A line that only summarises errors is kept if the compiler reports no other error. The compiler reports an
    unexpected character for each of its bytes, and again for the first; it is one error.
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
        repeated = diagnostic.message.startswith(UNEXPECTED) and diagnostic in found
        if not diagnostic.message.startswith(_NOISE) and not repeated:
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
    text = str(detail.get("text", ""))
    width = 1
    if isinstance(column, int):
        ends = (
            [each["end"] for each in ranges if each.get("start") == column]
            if isinstance(ranges, list)
            else []
        )
        column, *ends = (_characters(text, position) for position in (column, *ends))
        width = max([1, *(end - column for end in ends)])
        if message == UNEXPECTED and column < len(text):
            message = with_name(text[column])
    location = Location(
        Path(str(detail.get("file", ""))),
        line if isinstance(line, int) else None,
        column + 1 if isinstance(column, int) else None,  # the compiler counts columns from 0
    )
    return Diagnostic(kind, message, location, text, width)


def _characters(text: str, column: int) -> int:
    """A column of the compiler, which counts bytes of UTF-8, in characters; inside a character, its own."""
    return column if text.isascii() else len(text.encode(errors="replace")[:column].decode(errors="ignore"))


def render_errors(diagnostics: Sequence[Diagnostic], *, most: int = 8, language: str = ENGLISH) -> str:
    """The errors with their notes, and each hint once, after the first error that it is for.

    Where there is a hint, the declaration of the function, mostly one of the library, is omitted.

    Args:
        language: of the hints; the compiler's messages are in English.
    """
    shown: list[str] = []
    hints: set[Text] = set()
    count = 0
    after_error = False
    hint: Text | None = None  # for the last error
    for diagnostic in diagnostics:
        declaration = diagnostic.message == _DECLARATION
        if diagnostic.kind == "note" and after_error and count <= most and not (hint and declaration):
            shown.append(diagnostic.render())
        after_error = diagnostic.kind == "error" or (after_error and diagnostic.kind == "note")
        if diagnostic.kind != "error":
            continue
        count += 1
        if count > most:
            continue
        shown.append(diagnostic.render())
        hint = hint_for(diagnostic.message, diagnostic.text, _line_before(diagnostic.location))
        if hint and hint not in hints:
            hints.add(hint)
            shown.append(_hint(hint, language))
    if count > most:
        shown.append(_MORE_ERRORS.of(count=count - most).render(language))
    return "\n".join(shown)


def _line_before(location: Location | None) -> str:
    """The line of code before a location in a file, without comments; empty where it cannot be read."""
    if location is None or location.line is None:
        return ""
    try:
        lines = location.path.read_text("utf-8", errors="replace").splitlines()[: location.line - 1]
    except OSError:
        return ""
    code = (line for line in reversed(lines) if line.strip() and not line.lstrip().startswith("#"))
    return next(code, "")


def _hint(hint: Text, language: str) -> str:
    return f"  {_TRY.render(language)}: {hint.render(language)}"


def render_warnings(
    diagnostics: Sequence[Diagnostic], *, unfinished: bool = False, most: int = 5, language: str = ENGLISH
) -> str:
    """The warnings under a heading, each once with the other positions where the compiler repeats it.

    Those about LayoutTensor, one for each use of the type, are combined into one line.

    Args:
        unfinished: the learner has not yet written the code that uses the names of the problem file, so
            warnings about unused names are omitted.
        language: of all but the compiler's messages, which are in English.
    """
    warnings = [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.kind == "warning" and not (unfinished and "was never used" in diagnostic.message)
    ]
    same: dict[tuple[str, Path | None], list[Diagnostic]] = {}
    for warning in warnings:
        if warning.message != _LAYOUT_TENSOR_WARNING:
            file = warning.location.path if warning.location else None
            same.setdefault((warning.message, file), []).append(warning)
    shown = [_WARNINGS.render(language)] if same else []
    for first, *others in list(same.values())[:most]:
        shown += ["  " + line for line in first.render().splitlines()]
        hint = hint_for(first.message, first.text)
        if hint:
            shown.append("  " + _hint(hint, language))
        positions = ", ".join(_line_and_column(each.location) for each in others if each.location)
        if positions:
            shown.append("    " + _ALSO_AT.of(positions=positions).render(language))
    if len(same) > most:
        shown.append("  " + _MORE_WARNINGS.of(count=len(same) - most).render(language))
    uses = sum(warning.message == _LAYOUT_TENSOR_WARNING for warning in warnings)
    if uses:
        shown.append(_USES_LAYOUT_TENSOR.of(count=uses).render(language))
    return "\n".join(shown)


def _line_and_column(location: Location) -> str:
    return f"{location.line}:{location.column}"
