r"""Formulas: `\\( … \\)` and `\\[ … \\]` in a chapter become MathML, which browsers draw without a script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from tooling.book.errors import BookError
from tooling.whole_files import write_whole

_CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*\s*$|\Z)"
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)",
    re.M | re.S,
)
_FORMULA = re.compile(r"\\\\\((?P<inline>.+?)\\\\\)|\\\\\[(?P<display>.+?)\\\\\]", re.S)
# Loading the renderer takes longer than setting an edition, so its results are kept between builds,
# under its name and version.
RENDERER = "latex2mathml 3.81.1"
KEPT = "formulas.json"
_rendered: dict[str, str] = {}


def render_formulas(text: str) -> str:
    """The chapter with its formulas drawn; code is left alone.

    Raises:
        BookError: a formula cannot be read.
    """
    if "\\\\(" not in text and "\\\\[" not in text:
        return text
    pieces: list[str] = []
    for piece, is_code in _split_code(text):
        pieces.append(piece if is_code else _FORMULA.sub(_replace, piece))
    return "".join(pieces)


def _split_code(text: str) -> Iterator[tuple[str, bool]]:
    done = 0
    for match in _CODE.finditer(text):
        yield text[done : match.start()], False
        yield match.group(), True
        done = match.end()
    yield text[done:], False


def _replace(match: re.Match[str]) -> str:
    display = match["display"] is not None
    source = " ".join((match["display"] or match["inline"]).split())
    key = f"{'display' if display else 'inline'} {source}"
    known = _rendered.get(key)
    if known is None:
        known = _rendered[key] = _render(source, display)
    return known


def recall(path: Path) -> int:
    """Takes up what former builds have rendered.

    Returns:
        How many formulas are known now, for `keep`.
    """
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0  # the first build, or a file that was cut off: everything is rendered anew
    if kept.get("renderer") == RENDERER:
        _rendered.update(kept["formulas"])
    return len(_rendered)


def keep(path: Path, known: int) -> None:
    """Keeps what was rendered, if it is more than `known`; the other edition may be doing the same."""
    if len(_rendered) == known:
        return
    write_whole(path, json.dumps({"renderer": RENDERER, "formulas": _rendered}).encode())


def _render(source: str, display: bool) -> str:
    from latex2mathml.converter import convert  # noqa: PLC0415 - 0.1 s, and few pages hold formulas
    from latex2mathml.exceptions import NoAvailableTokensError  # noqa: PLC0415

    if source.replace("\\{", "").count("{") != source.replace("\\}", "").count("}"):
        raise BookError(f"the braces of the formula `{source}` do not pair up")
    try:
        drawn: str = convert(source, display="block" if display else "inline")
    except (NoAvailableTokensError, ValueError, IndexError, KeyError) as error:
        raise BookError(
            f"the formula `{source}` cannot be read", why=f"{type(error).__name__}: {error}"
        ) from error
    if "\\" in re.sub(r"<[^>]+>", "", drawn):
        raise BookError(f"the formula `{source}` holds a command that cannot be drawn")
    drawn = drawn.replace("<math ", f'<math alttext="{escape(source)}" ', 1)
    return f'<span class="formula">{drawn}</span>' if display else drawn
