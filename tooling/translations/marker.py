"""The marker of a translated page: which source text it was translated from.

    <!-- i18n-source-commit: 40-hex -->
    <!-- i18n-source-blob: 40-hex -->

The first line is the older form of the marker, byte for byte as other tools read it; the second names the
text itself. A pinned text is found by content, so it survives a squash, a rewrite or a missing commit.
(64 digits in a SHA-256 repository.)
"""

from __future__ import annotations

import re

from msgspec import Struct

from tooling.translations.model import Pin

_LINE = re.compile(rb"^<!--\s*i18n-source-(commit|blob):\s*(.*?)\s*-->\s*$")
_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BOM = b"\xef\xbb\xbf"
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
        return Marker(None)
    return Marker(Pin(found.get("commit"), found.get("blob")), first)


def write_marker(data: bytes, pin: Pin) -> bytes:
    """The page with its marker set to `pin`; every other byte stays as it is.

    The marker stays where it is; a page without one gets it as the first lines. Line endings follow the page.
    """
    bom = _BOM if data.startswith(_BOM) else b""
    lines = data[len(bom) :].splitlines(keepends=True)
    end = b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n"
    old = [index for index, line in enumerate(_head(data)) if _LINE.match(line)]
    at = old[0] if old else 0
    kept = [line for index, line in enumerate(lines) if index not in old]
    names = (("commit", pin.commit), ("blob", pin.blob))
    marker = [f"<!-- i18n-source-{name}: {value} -->".encode() + end for name, value in names if value]
    return bom + b"".join([*kept[:at], *marker, *kept[at:]])


def without_marker(data: bytes) -> bytes:
    """The page without its marker, to detect edits made since the marker was written."""
    old = {index for index, line in enumerate(_head(data)) if _LINE.match(line)}
    lines = data.removeprefix(_BOM).splitlines()
    return b"\n".join(line for index, line in enumerate(lines) if index not in old)


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
