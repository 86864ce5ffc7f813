"""The normal form of a block: equal for texts that need the same translation.

Rewrapped lines, table padding, list and emphasis characters, heading styles, quote marks on empty lines,
comments, typographic quotes and escapes make no difference; what is left is compared class by class.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from tooling.translations.diff.block_reader import fold_label
from tooling.translations.diff.blocks import VERBATIM, Block, BlockKind

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_MATH_SPAN = re.compile(r"\\\\\((.+?)\\\\\)|\$\$(.+?)\$\$|(?<![\\$\w])\$(?! )([^$]+?)(?<![ \\])\$(?![\w$])")
_DIRECTIVE = re.compile(r"\{\{\s*#[^}]*\}\}")
_INLINE_LINK = re.compile(
    r"\]\(\s*(<[^>]*>|(?:[^\s()]|\([^\s()]*\))*)(?:\s+(?:\"([^\"]*)\"|'([^']*)'|\(([^)]*)\)))?\s*\)"
)
_FULL_REFERENCE = re.compile(r"\[([^\[\]]+)\]\[([^\[\]]*)\]")
_SHORT_REFERENCE = re.compile(r"\[([^\[\]]+)\](?![\[(:])")
_URL = re.compile(r"<((?:https?|mailto):[^>\s]+)>|(?<![\w\"'=])(https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)*_])")
_HTML_TARGET = re.compile(r"\b(href|src|poster|cite)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.I)
_HEADING_ID = re.compile(r"\s*\{\s*#([^}\s]+)[^}]*\}\s*$")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"(?<![^\W_])[*_~]+(?=[^\s*_~])|(?<=[^\s*_~])[*_~]+(?![^\W_])|(?<=\w)\*\*(?=\w)")
_SPACE = re.compile(r"\s+")
_CELL = re.compile(r"(?<!\\)\|")
_TYPOGRAPHY = {"“": '"', "”": '"', "‘": "'", "’": "'", "…": "...", "—": "---", "–": "--", "\u00a0": " "}
# Placeholders: noncharacters, which Unicode reserves for use inside a program. What they replace is compared
# in its own class.
_CODE_MARK, _LINK_MARK, _ESCAPED_MARK = "\ufdd0", "\ufdd1", "\ufdd2"


class NormalForm(Struct, frozen=True):
    """A block for comparison.

    Attributes:
        shape: what kind of block, level, quote: a change here is a change of prose.
        prose: the words, with placeholders for code and targets.
        code: fenced code, code spans, formulas and directives, in order.
        links: targets of links and images and explicit ids, in order.
    """

    shape: str
    prose: str
    code: tuple[str, ...]
    links: tuple[str, ...]


def normalise(block: Block, definitions: Mapping[str, str]) -> NormalForm:
    """The normal form of a block; `definitions` are the page's link definitions by folded label."""
    ordered = block.info if block.kind is BlockKind.ITEM else ""
    shape = f"{block.kind}{block.level or ''}{ordered}{'>' * block.quote}"
    if block.kind is BlockKind.FENCE:
        info = " ".join(block.info.replace(",", " ").split())
        return NormalForm(shape, "", (info or "text", "\n".join(block.lines)), ())
    if block.kind in VERBATIM:
        return NormalForm(shape, "", (_squeeze("\n".join(block.lines)),), ())
    if block.kind is BlockKind.ROW:
        # A cell without marks or words still counts.
        cells = _CELL.split(block.lines[0].strip().removeprefix("|").removesuffix("|"))
        return _inline(shape, " | ".join(cell.strip() for cell in cells), definitions)
    text = "\n".join(line.removesuffix("\\") for line in block.lines)
    if block.kind is BlockKind.HEADING and (match := _HEADING_ID.search(text)) is not None:
        form = _inline(shape, text[: match.start()], definitions)
        return NormalForm(form.shape, form.prose, form.code, (*form.links, f"#{match[1]}"))
    return _inline(shape, text, definitions)


def _squeeze(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _inline(shape: str, text: str, definitions: Mapping[str, str]) -> NormalForm:
    code: list[str] = []
    links: list[str] = []

    def keep_code(match: re.Match[str]) -> str:
        groups = [group for group in match.groups() if group is not None and group.strip("`")]
        code.append(_squeeze(groups[-1]) if groups else _squeeze(match[0]))
        return _CODE_MARK

    def keep_directive(match: re.Match[str]) -> str:
        code.append(_squeeze(match[0]))
        return _CODE_MARK

    def keep_link(match: re.Match[str]) -> str:
        links.append(match[1].strip("<>"))
        title = match[2] or match[3] or match[4]
        return f"]{_LINK_MARK}{title or ''}"

    def keep_reference(match: re.Match[str]) -> str:
        label = match[2] if match.re is _FULL_REFERENCE and match[2] else match[1]
        target = definitions.get(fold_label(label))
        if target is None:
            return match[0]
        links.append(target)
        return f"[{match[1]}]{_LINK_MARK}"

    def keep_url(match: re.Match[str]) -> str:
        links.append(match[1] or match[2])
        return _LINK_MARK

    def keep_html(match: re.Match[str]) -> str:
        links.append(match[2] or match[3] or match[4] or "")
        return f"{match[1]}={_LINK_MARK}"

    # Each step is slow, and needed only where its first character occurs.
    if "<!--" in text:
        text = _COMMENT.sub("", text)
    if "`" in text:
        text = _CODE_SPAN.sub(keep_code, text)
    if "{{" in text:
        text = _DIRECTIVE.sub(keep_directive, text)
    if "$" in text or "\\\\(" in text:
        text = _MATH_SPAN.sub(keep_code, text)
    if "](" in text:
        text = _INLINE_LINK.sub(keep_link, text)
    if definitions and "[" in text:
        text = _FULL_REFERENCE.sub(keep_reference, text)
        text = _SHORT_REFERENCE.sub(keep_reference, text)
    if ":" in text and ("://" in text or "mailto:" in text):
        text = _URL.sub(keep_url, text)
    if "<" in text and "=" in text:
        text = _HTML_TARGET.sub(keep_html, text)
    return NormalForm(shape, _words(text), tuple(code), tuple(links))


def _words(text: str) -> str:
    escaped: list[str] = []

    def hide(match: re.Match[str]) -> str:
        escaped.append(match[1])
        return _ESCAPED_MARK

    if "\\" in text:
        text = _ESCAPE.sub(hide, text)
    if "*" in text or "_" in text or "~" in text:
        text = _EMPHASIS.sub("", text)
    if escaped:
        for character in escaped:
            text = text.replace(_ESCAPED_MARK, character, 1)
    if "&" in text:
        import html  # noqa: PLC0415 - slow to load: a table of all entities

        text = html.unescape(text)
    if not text.isascii():
        for typographic, plain in _TYPOGRAPHY.items():
            text = text.replace(typographic, plain)
    return _squeeze(text)
