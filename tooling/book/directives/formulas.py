r"""Formulas: `\\( … \\)` and `\\[ … \\]` in a chapter become MathML, which needs no script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from msgspec import Struct

from tooling.book.errors import BookError, BookGroupMissing, malformed
from tooling.platform.atomic_write import write_atomically
from tooling.platform.state_file import encoded, read_json
from tooling.project import Project

_CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*\s*$|\Z)"
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)",
    re.M | re.S,
)
_FORMULA = re.compile(r"\\\\\((?P<inline>.+?)\\\\\)|\\\\\[(?P<display>.+?)\\\\\]", re.S)
_FUNCTION = re.compile(r"<mo\b[^>]*>([a-z]{2,})</mo>")  # such as `gcd`, which has the face of the text
# Loading the renderer takes longer than rendering an edition, so its results are recorded like the figures,
# with its name and version. `tooling book check` draws everything again and compares.
RENDERER = "latex2mathml 3.81.1"


def render_formulas(text: str, drawn: dict[str, str]) -> str:
    """The chapter with its formulas drawn; code is left alone.

    Args:
        text: the chapter.
        drawn: the formulas that are drawn already; missing ones are drawn and added.

    Raises:
        BookError: a formula cannot be read.
    """
    if "\\\\(" not in text and "\\\\[" not in text:
        return text
    pieces: list[str] = []
    for piece, is_code in _split_code(text):
        pieces.append(piece if is_code else _FORMULA.sub(lambda match: _draw(match, drawn), piece))
    return "".join(pieces)


def _split_code(text: str) -> Iterator[tuple[str, bool]]:
    done = 0
    for match in _CODE.finditer(text):
        yield text[done : match.start()], False
        yield match.group(), True
        done = match.end()
    yield text[done:], False


def _draw(match: re.Match[str], drawn: dict[str, str]) -> str:
    display = match["display"] is not None
    source = " ".join((match["display"] or match["inline"]).split())
    key = f"{'display' if display else 'inline'} {source}"
    if key not in drawn:
        drawn[key] = _render(source, display)
    return drawn[key]


def record_path(project: Project) -> Path:
    """The file of the drawn formulas."""
    return project.root / "book" / "formulas.json"


class _Record(Struct):
    formulas: dict[str, str]
    renderer: str


def load(project: Project) -> dict[str, str]:
    """The recorded formulas; none where another renderer drew them.

    Raises:
        BookError: the file exists but is not a record of formulas.
    """
    path = record_path(project)
    try:
        record = read_json(path, _Record)
        return record.formulas if record.renderer == RENDERER else {}
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise malformed("record of formulas", path, error, "tooling book formulas") from error


def save(project: Project, drawn: dict[str, str]) -> None:
    """Records drawn formulas."""
    write_atomically(record_path(project), encoded(_Record(drawn, RENDERER), indent=1))


def _render(source: str, display: bool) -> str:
    try:
        from latex2mathml.converter import convert  # noqa: PLC0415 - 0.1 s, and few pages hold formulas
        from latex2mathml.exceptions import NoAvailableTokensError  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise BookGroupMissing("latex2mathml", "it draws the formulas") from error

    if source.replace("\\{", "").count("{") != source.replace("\\}", "").count("}"):
        raise BookError(f"the braces of the formula `{source}` do not pair up")
    try:
        drawn: str = convert(source, display="block" if display else "inline")
    except (NoAvailableTokensError, ValueError, IndexError, KeyError) as error:
        raise BookError(
            f"the formula `{source}` cannot be read", why=f"{type(error).__name__}: {error}"
        ) from error
    if "\\" in re.sub(r"<[^>]+>", "", drawn):
        raise BookError(f"the formula `{source}` contains a command that cannot be drawn")
    drawn = _FUNCTION.sub(r"<mtext>\1</mtext>", drawn)
    drawn = drawn.replace("<math ", f'<math alttext="{escape(source)}" ', 1)
    return f'<span class="formula">{drawn}</span>' if display else drawn
