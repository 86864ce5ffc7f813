"""The compiler's messages, read from its JSON lines and turned into messages at the learner's lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tooling.errors import Location
from tooling.text import Text
from tooling.toolchain.renamed import hint_for

_NOISE = "Failed to initialize Crashpad"
_SUMMARIES = (
    "failed to parse the provided Mojo source module",
    "failed to run the pass manager",  # stands at line 1, before the error that it sums up
)
_LAYOUT_TENSOR_WARNING = "Use TileTensor instead"
_USES_LAYOUT_TENSOR = Text(
    "note: this program uses LayoutTensor (once), which Mojo deprecates in favour of TileTensor; your code "
    "is not at fault",
    plural="note: this program uses LayoutTensor ({count} times), which Mojo deprecates in favour of "
    "TileTensor; your code is not at fault",
)
_TAB_WIDTH = 4


class Diagnostic(Struct, frozen=True, array_like=True):
    """One message of the compiler; notes that explain it follow it. A file keeps it as an array."""

    kind: str  # error, warning, note
    message: str
    location: Location | None
    text: str = ""  # the source line
    width: int = 1  # columns the marked expression takes

    def render(self) -> str:
        """The message with file:line:column, the source line and a caret under the place."""
        head = f"{self.location}: " if self.location else ""
        lines = [f"{head}{self.kind}: {self.message}"]
        if self.text and self.location and self.location.column:
            before = self.text[: self.location.column - 1].expandtabs(_TAB_WIDTH)
            lines.append("    " + self.text.expandtabs(_TAB_WIDTH).rstrip())
            lines.append("    " + " " * len(before) + "^" + "~" * (self.width - 1))
        return "\n".join(lines)


def parse_diagnostics(stderr: str) -> tuple[Diagnostic, ...]:
    """Reads what `mojo build --diagnostic-format json` wrote; other lines are kept as they are.

    A line that only sums up errors is kept where the compiler tells none of them.
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
    told = tuple(diagnostic for diagnostic in found if not diagnostic.message.startswith(_SUMMARIES))
    return told if any(diagnostic.kind == "error" for diagnostic in told) else tuple(found)


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
    place = detail.get("location")
    line = place.get("line") if isinstance(place, dict) else None
    column = place.get("column") if isinstance(place, dict) else None
    ranges = detail.get("ranges")
    width = 1
    if isinstance(ranges, list) and isinstance(column, int):
        width = max([1, *(part["end"] - column for part in ranges if part.get("start") == column)])
    location = Location(
        Path(str(detail.get("file", ""))),
        line if isinstance(line, int) else None,
        column + 1 if isinstance(column, int) else None,  # the compiler counts columns from 0
    )
    return Diagnostic(kind, message, location, str(detail.get("text", "")), width)


def render_errors(diagnostics: Sequence[Diagnostic], *, most: int = 8) -> str:
    """The errors with their notes, each hint once after the first error it belongs to."""
    shown: list[str] = []
    hints: set[str] = set()
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
            shown.append(f"  try: {hint}")
    if count > most:
        shown.append(f"... and {count - most} more errors")
    return "\n".join(shown)


def render_warnings(
    diagnostics: Sequence[Diagnostic], *, unfinished: bool = False, most: int = 5, language: str = "en"
) -> str:
    """The warnings; those about LayoutTensor, one per use of the type, fold into one line.

    Args:
        unfinished: the learner has still to write the code that uses what the problem file prepares, so
            warnings about unused names say nothing new.
        language: of what is said in place of several warnings; the compiler's own words are English.
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
                shown.append(f"  try: {hint}")
    if others > most:
        shown.append(f"... and {others - most} more warnings")
    if folded:
        shown.append(_USES_LAYOUT_TENSOR.of(count=folded).render(language))
    return "\n".join(shown)
