"""HTML between paragraphs: where a block of it starts and ends, and what it holds."""

from __future__ import annotations

import re

from tooling.mdbook.inlines import ATTRIBUTES, Inlines
from tooling.mdbook.markup import Prose, Tag

_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl"
    "|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link"
    "|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th"
    "|thead|title|tr|track|ul"
)
# The seven kinds of CommonMark, section 4.6.
_START = re.compile(
    r" {0,3}(?:(<(?:script|pre|style|textarea)(?:[ \t>]|$))|(<!--)|(<\?)|(<![A-Za-z])|(<!\[CDATA\[)"
    rf"|(</?(?:{_NAMES})(?:[ \t>]|/>|$))"
    rf"|(<(?:[A-Za-z][A-Za-z0-9-]*{ATTRIBUTES}/?|/[A-Za-z][A-Za-z0-9-]*\s*)>[ \t]*$))",
    re.IGNORECASE,
)
_ANY_TAG = 7  # the kind that cannot interrupt a paragraph
BLANK = re.compile(r"[ \t]*$")
_ENDS = (
    re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    re.compile(r"-->"),
    re.compile(r"\?>"),
    re.compile(r">"),
    re.compile(r"\]\]>"),
    BLANK,
    BLANK,
)
_PARTS = re.compile(
    r"<!--.*?(?:-->|$)|<(script|style)\b.*?(?:</\1\s*>|\Z)"
    rf"|</([A-Za-z][A-Za-z0-9-]*)\s*>|<([A-Za-z][A-Za-z0-9-]*)({ATTRIBUTES})/?>",
    re.DOTALL | re.IGNORECASE,
)


def end_of_block(line: str, *, in_paragraph: bool) -> re.Pattern[str] | None:
    """What ends the block of HTML that this line starts (`BLANK`: an empty line); None if it starts none."""
    start = _START.match(line)
    if start is None or start.lastindex is None or (in_paragraph and start.lastindex == _ANY_TAG):
        return None
    return _ENDS[start.lastindex - 1]


def take_apart(text: str, line: int, inlines: Inlines) -> None:
    """Notes the tags and the text of a block that starts in this line; comments and scripts are skipped."""
    done = counted = 0
    for match in _PARTS.finditer(text):
        start, end = match.span()
        _note_text(text[done:start], line + text.count("\n", counted, done), inlines)
        line += text.count("\n", counted, start)
        done, counted = end, start
        if match[2]:
            inlines.marks.append(Tag(match[2].lower(), True, (), line, False))
        elif match[3]:
            inlines.marks.append(inlines.tag(match[3], False, match[4], line, False))
    _note_text(text[done:], line + text.count("\n", counted, done), inlines)


def _note_text(text: str, line: int, inlines: Inlines) -> None:
    stripped = text.strip()
    if stripped:
        before = text[: text.index(stripped[0])]
        inlines.prose.append(Prose(stripped, line + before.count("\n"), "html"))
