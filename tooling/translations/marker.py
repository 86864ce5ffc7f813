"""The marker of a translated page: which source text it was translated from.

    <!-- i18n-source-commit: 40-hex -->
    <!-- i18n-source-blob: 40-hex -->

The first line is the older form of the marker, byte for byte as other tools read it; the second names the
text itself. A pinned text is found by content, so it survives a squash, a rewrite or a missing commit.
(64 digits in a SHA-256 repository.)

Instead of the first line, a page may have the key `default_lang_commit: 40-hex` in its YAML front matter, as
sites made with other generators do; `write_marker` then updates it.
"""

from __future__ import annotations

import re

from msgspec import Struct

from tooling.translations.model import Pin

_LINE = re.compile(rb"^<!--\s*i18n-source-(commit|blob):\s*(.*?)\s*-->\s*$")
_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BOM = b"\xef\xbb\xbf"
_KEY = "default_lang_commit"
_KEY_LINE = re.compile(rf"^({_KEY}:\s*[\"']?)([^\s\"'#]*)".encode())
_FENCE = b"---"
# A marker is at the top of its page; further down it would be an example in the text.
_HEAD_LINES = 30


class Marker(Struct, frozen=True):
    """The marker as found in a page.

    Attributes:
        pin: what it names; None when it is absent or malformed.
        line: where it starts, from 1.
        defect: what is wrong with it, None when nothing is.
    """

    pin: Pin | None
    line: int | None = None
    defect: str | None = None


def read_marker(data: bytes) -> Marker:
    """The marker at the top of a page's bytes."""
    found: dict[str, str] = {}
    first: int | None = None
    for number, line in enumerate(_head(data), start=1):
        match = _LINE.match(line)
        if match is None:
            continue
        first = first or number
        name, value = match[1].decode("ascii"), match[2]
        if _ID.fullmatch(value) is None:
            text = value.decode("utf-8", "replace")
            return Marker(None, number, f"i18n-source-{name} is not a full object id: {text!r}")
        if name in found:
            return Marker(None, number, f"i18n-source-{name} occurs twice")
        found[name] = value.decode("ascii")
    if not found:
        return _read_key(data)
    return Marker(Pin(found.get("commit"), found.get("blob")), first)


def write_marker(data: bytes, pin: Pin) -> bytes:
    """The page with its marker set to `pin`; every other byte stays as it is.

    The marker stays where it is; a page without one gets it as the first lines. Line endings follow the page.
    """
    bom = _BOM if data.startswith(_BOM) else b""
    lines = data[len(bom) :].splitlines(keepends=True)
    end = b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n"
    old = [index for index, line in enumerate(_head(data)) if _LINE.match(line)]
    matter = _front_matter(data)
    at = old[0] if old else matter[-1] + 2 if matter else 0
    if matter and pin.commit:
        lines = [
            _KEY_LINE.sub(rb"\g<1>" + pin.commit.encode(), line) if index in matter else line
            for index, line in enumerate(lines)
        ]
        if not old:
            return bom + b"".join(lines)
    kept = [line for index, line in enumerate(lines) if index not in old]
    names = (("commit", pin.commit), ("blob", pin.blob))
    marker = [f"<!-- i18n-source-{name}: {value} -->".encode() + end for name, value in names if value]
    return bom + b"".join([*kept[:at], *marker, *kept[at:]])


def without_marker(data: bytes) -> bytes:
    """The page without its marker, to detect edits made since the marker was written."""
    old = {index for index, line in enumerate(_head(data)) if _LINE.match(line)}
    lines = data.removeprefix(_BOM).splitlines()
    old |= {index for index in _front_matter(data) if _KEY_LINE.match(lines[index])}
    return b"\n".join(line for index, line in enumerate(lines) if index not in old)


def without_key(text: str) -> str:
    """A page without the commit in its front matter; every line keeps its number."""
    data = text.encode()
    lines = text.splitlines(keepends=True)
    for index in _front_matter(data):
        if lines[index].lstrip("\ufeff").startswith(f"{_KEY}:"):
            lines[index] = f"{_KEY}:\n"
    return "".join(lines)


def _read_key(data: bytes) -> Marker:
    """The marker in the front matter of a page without marker lines."""
    lines = data[:8192].removeprefix(_BOM).splitlines()
    for index in _front_matter(data):
        match = _KEY_LINE.match(lines[index])
        if match is not None:
            value = match[2].decode("utf-8", "replace")
            if _ID.fullmatch(match[2]) is None:
                return Marker(None, index + 1, f"{_KEY} is not a full object id: {value!r}")
            return Marker(Pin(value, None), index + 1)
    return Marker(None)


def _front_matter(data: bytes) -> range:
    """The numbers (from 0) of the lines between the fences, if the key is among them; otherwise empty."""
    top = data[:8192].removeprefix(_BOM)
    if not top.startswith(_FENCE) or _KEY.encode() not in top:
        return range(0)
    lines = [line.rstrip() for line in top.splitlines()]
    if lines[0] != _FENCE or _FENCE not in lines[1:]:
        return range(0)
    inside = range(1, lines.index(_FENCE, 1))
    return inside if any(_KEY_LINE.match(lines[index]) for index in inside) else range(0)


def _head(data: bytes) -> list[bytes]:
    """The lines that may belong to the marker; none for a page without one at its top."""
    # A cheap slice first: pages are long, markers are not.
    top = data[:8192]
    mention = top.rfind(b"i18n-source-")
    if mention < 0:
        return []
    end = top.find(b"\n", mention)
    lines = top[: end if end >= 0 else len(top)].removeprefix(_BOM).splitlines()[:_HEAD_LINES]
    for index, line in enumerate(lines):
        if line.lstrip().startswith((b"```", b"~~~")):
            return lines[:index]
    return lines
