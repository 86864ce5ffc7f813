"""The id that mdBook gives a heading.

`id_from_content` and `unique_id` of mdBook 0.5.4: the rendered text, trimmed, in lower case; letters, digits,
`_` and `-` stay, white space becomes `-`, everything else goes; a taken id gets `-1`, `-2`, … The text is
rendered with smart punctuation: `--` is a dash by then, and a dash goes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from tooling.mdbook import rust

_EXPLICIT = re.compile(r"[ \t]*\{([^{}]*)\}[ \t]*$")
_INLINE = re.compile(
    r"`(?<!``)(`*)(?!`)(.+?)(?<!`)`\1(?!`)"  # 1, 2: code span
    r"|\\([!-/:-@\[-`{-~])"  # 3: escape
    r"|<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)>"  # 4: autolink
    r"|<!--.*?-->|</?[A-Za-z][A-Za-z0-9-]*(?:\s(?:[^>\"']|\"[^\"]*\"|'[^']*')*)?/?>"  # comment, tag
    r"|!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?"  # image: its alternative text is an attribute
    r"|\]\((?:<[^<>]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)"  # target of a link,
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"  # with its title
    r"|\]\[([^\]]*)\]"  # 5: reference
    r"|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);"
    r"|--+",
    re.DOTALL,
)
_EMPHASIS = re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_])(.+?)(?<=[^\s_])\1(?!\w)", re.DOTALL)
# Stand-ins for characters that must survive the removal of emphasis.
_KEPT_UNDERSCORE = "\ue000"


def split_explicit_id(text: str) -> tuple[str, str | None]:
    """The text of a heading and the id of its `{#id .class}`, if it has one."""
    if not text.endswith("}"):
        return text, None
    match = _EXPLICIT.search(text)
    if match is None:
        return text, None
    named = [word[1:] for word in match.group(1).split() if word.startswith("#") and len(word) > 1]
    return text[: match.start()], named[-1] if named else None


def rendered_text(text: str, references: Mapping[str, str] | None = None) -> str:
    """What a reader sees of a heading's Markdown, as far as its id depends on it."""

    def replace(match: re.Match[str]) -> str:
        if match.group(2) is not None:
            return match.group(2).replace("_", _KEPT_UNDERSCORE)
        if match.group(3) is not None:
            return _KEPT_UNDERSCORE if match.group(3) == "_" else match.group(3)
        if match.group(4) is not None:
            return match.group(4).replace("_", _KEPT_UNDERSCORE)
        if match.group(5) is not None:
            known = references is not None and match.group(5).casefold() in references
            return "" if known else match.group(5)
        whole = match.group()
        return html.unescape(whole) if whole[0] == "&" else ""

    plain = _INLINE.sub(replace, text)
    if "_" in plain:
        previous = None
        while plain != previous:
            previous, plain = plain, _EMPHASIS.sub(r"\2", plain)
    return plain.replace(_KEPT_UNDERSCORE, "_")


def slug(text: str) -> str:
    """The id of a rendered text, before it is made unique."""
    return _RARE.sub(_kept, text.strip(rust.SPACES).lower()).replace(" ", "-")


_RARE = re.compile(r"[^\w -]")  # neither letter, digit, `_`, `-` nor plain space


def _kept(match: re.Match[str]) -> str:
    character = match.group()
    if rust.is_alphanumeric(character):
        return character
    return "-" if character in rust.SPACES else ""


def unique(identifier: str, taken: set[str]) -> str:
    """The id, with a number where it is taken; what it returns is taken from then on."""
    candidate, number = identifier, 0
    while candidate in taken:
        number += 1
        candidate = f"{identifier}-{number}"
    taken.add(candidate)
    return candidate
