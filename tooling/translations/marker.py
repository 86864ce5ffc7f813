"""The marker of a translated page: which source text it was translated from.

    <!-- i18n-source-commit: 40-hex -->
    <!-- i18n-source-blob: 40-hex -->

The first line is the older form of the marker, byte for byte as other tools read it; the second names the
text itself. A pinned text is found by content, so it survives a squash, a rewrite or a missing commit.
(64 digits in a SHA-256 repository. A commit may be abbreviated, as `git log --oneline` shows it.)

Instead of the first line, a page may have the commit in its YAML front matter, as sites made with other
generators do: under the key `default_lang_commit`, or under the one that is configured, such as
`l10n.sourceCommit`; `write_marker` then updates it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from tooling.text import Text
from tooling.translations.model import Pin

_LINE = re.compile(rb"^<!--\s*i18n-source-(commit|blob):\s*(.*?)\s*-->\s*$")
_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_COMMIT = re.compile(rb"[0-9a-f]{7,64}")
_BOM = b"\xef\xbb\xbf"
_KEY = "default_lang_commit"
_VALUE = re.compile(rb"^(\s*[\w-]+:\s*[\"']?)([^\s\"'#]*)")
_FENCE = b"---"
# A marker is at the top of its page; further down it would be an example in the text.
_HEAD_LINES = 30
_TOP = 8192
# What markers of other tools look like: a name and the id of a commit, in a comment or in the front matter.
_OTHER = re.compile(rb"^(?:<!--)?\s*([A-Za-z_][\w-]*):\s*[\"']?([0-9a-f]{7,64})\b")


class Marker(Struct, frozen=True):
    """The marker as found in a page.

    Attributes:
        pin: what it names; None when it is absent or malformed.
        line: where it starts, from 1.
        defect: what is wrong with it, None when nothing is.
        other: line and name of what looks like the marker of another tool, in a page without one.
    """

    pin: Pin | None
    line: int | None = None
    defect: Text | None = None
    other: tuple[int, str] | None = None


def read_marker(data: bytes, key: str | None = None) -> Marker:
    """The marker at the top of a page's bytes.

    Args:
        key: of the front matter, with dots between the names of nested ones.
    """
    found: dict[str, str] = {}
    first: int | None = None
    for number, line in enumerate(_head(data), start=1):
        match = _LINE.match(line)
        if match is None:
            continue
        first = first or number
        name, value = match[1].decode("ascii"), match[2]
        if (_COMMIT if name == "commit" else _ID).fullmatch(value) is None:
            text = value.decode("utf-8", "replace")
            return Marker(
                None,
                number,
                Text("i18n-source-{name} is not {expected}: {text!r}").of(
                    name=name, expected=_expected(name), text=text
                ),
            )
        if name in found:
            return Marker(None, number, Text("i18n-source-{name} occurs twice").of(name=name))
        found[name] = value.decode("ascii")
    if not found:
        return _read_key(data, key)
    return Marker(Pin(found.get("commit"), found.get("blob")), first)


def _expected(name: str) -> Text:
    return Text("the id of a commit") if name == "commit" else Text("a full object id")


def write_marker(data: bytes, pin: Pin, key: str | None = None) -> bytes:
    """The page with its marker set to `pin`; every other byte stays as it is.

    The marker stays where it is; a page without one gets it as the first lines, or in its front matter where
    a key is configured. Line endings follow the page.
    """
    bom = _BOM if data.startswith(_BOM) else b""
    lines = data[len(bom) :].splitlines(keepends=True)
    end = b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n"
    old = [index for index, line in enumerate(_head(data)) if _LINE.match(line)]
    at_key = _key_line(data, key)
    if at_key is None and key is not None and pin.commit and not old:
        return bom + b"".join(_with_key(lines, key, pin.commit.encode(), end, _front_matter(data)))
    at = old[0] if old else _front_matter(data).stop + 1 if at_key is not None else 0
    if at_key is not None and pin.commit:
        lines[at_key] = _VALUE.sub(rb"\g<1>" + pin.commit.encode(), lines[at_key])
        if not old:
            return bom + b"".join(lines)
    kept = [line for index, line in enumerate(lines) if index not in old]
    names = (("commit", pin.commit), ("blob", pin.blob))
    marker = [f"<!-- i18n-source-{name}: {value} -->".encode() + end for name, value in names if value]
    return bom + b"".join([*kept[:at], *marker, *kept[at:]])


def _with_key(lines: list[bytes], key: str, commit: bytes, end: bytes, matter: range) -> list[bytes]:
    """The lines of a page with a new key at the end of its front matter."""
    *outer, name = key.encode().split(b".")
    new = [b"  " * depth + part + b":" + end for depth, part in enumerate(outer)]
    new.append(b"  " * len(outer) + name + b": " + commit + end)
    if not matter:
        return [_FENCE + end, *new, _FENCE + end, *lines]
    return [*lines[: matter.stop], *new, *lines[matter.stop :]]


def without_marker(data: bytes, key: str | None = None) -> bytes:
    """The page without its marker, to detect edits made since the marker was written."""
    old: set[int | None] = {index for index, line in enumerate(_head(data)) if _LINE.match(line)}
    old.add(_key_line(data, key))
    lines = data.removeprefix(_BOM).splitlines()
    return b"\n".join(line for index, line in enumerate(lines) if index not in old)


def without_key(text: str, key: str | None = None) -> str:
    """A page without the commit in its front matter; every line keeps its number."""
    index = _key_line(text.encode(), key)
    if index is None:
        return text
    lines = text.splitlines(keepends=True)
    lines[index] = lines[index].partition(":")[0] + ":\n"
    return "".join(lines)


def without_front_matter(text: str) -> str:
    """A page with an empty line for each line of its front matter."""
    matter = _front_matter(text.encode())
    if not matter:
        return text
    lines = text.splitlines(keepends=True)
    return "\n" * (matter.stop + 1) + "".join(lines[matter.stop + 1 :])


def _read_key(data: bytes, key: str | None) -> Marker:
    """The marker in the front matter of a page without marker lines."""
    index = _key_line(data, key)
    if index is None:
        return Marker(None, other=next(_others(data), None))
    match = _VALUE.match(data[:_TOP].removeprefix(_BOM).splitlines()[index])
    assert match is not None
    if _COMMIT.fullmatch(match[2]) is None:
        value = match[2].decode("utf-8", "replace")
        return Marker(
            None,
            index + 1,
            Text("{key} is not {expected}: {value!r}").of(
                key=key or _KEY, expected=_expected("commit"), value=value
            ),
        )
    return Marker(Pin(match[2].decode("ascii"), None), index + 1)


def _others(data: bytes) -> Iterator[tuple[int, str]]:
    """Lines at the top of the page that name a commit, with the name they give it, dotted if it is nested."""
    lines = data[:_TOP].removeprefix(_BOM).splitlines()[:_HEAD_LINES]
    matter = _front_matter(data)
    outer: list[tuple[int, str]] = []  # indentation and name of the keys around a line
    for index, line in enumerate(lines):
        if index in matter and (name := _VALUE.match(line)):
            indent = len(line) - len(line.lstrip())
            outer = [
                *(one for one in outer if one[0] < indent),
                (indent, name[1].split(b":")[0].strip().decode()),
            ]
        match = _OTHER.match(line)
        if match is None or not (index in matter or line.startswith(b"<!--")):
            continue
        if len(match[2]) >= 40 or (re.search(rb"[0-9]", match[2]) and re.search(rb"[a-f]", match[2])):
            yield index + 1, ".".join(one for _, one in outer) if index in matter else match[1].decode()


def _key_line(data: bytes, key: str | None) -> int | None:
    """The number (from 0) of the line of a key in the front matter; None where it has none."""
    names = (key or _KEY).encode().split(b".")
    if names[-1] not in data[:_TOP]:
        return None
    matter = _front_matter(data)
    lines = data[:_TOP].removeprefix(_BOM).splitlines()
    index, outer = matter.start - 1, -1
    for name in names:
        for at in range(index + 1, matter.stop):
            line = lines[at]
            indent = len(line) - len(line.lstrip())
            if line.strip() and indent <= outer:
                return None  # the table that holds the key has ended
            if line.lstrip().startswith(name + b":") and (outer >= 0 or indent == 0):
                index, outer = at, indent
                break
        else:
            return None
    return index


def _front_matter(data: bytes) -> range:
    """The numbers (from 0) of the lines between the fences of the front matter; empty without one."""
    top = data[:_TOP].removeprefix(_BOM)
    if not top.startswith(_FENCE):
        return range(0)
    lines = [line.rstrip() for line in top.splitlines()]
    if lines[0] != _FENCE or _FENCE not in lines[1:]:
        return range(0)
    return range(1, lines.index(_FENCE, 1))


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
