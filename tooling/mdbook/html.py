"""Raw HTML in a page: its tags, the text between them, and the links, pictures and ids that tags carry."""

from __future__ import annotations

import html
import re

from msgspec import Struct, field

from tooling.mdbook.markup import Active, Detail, Image, Link, Mark, Prose, Tag

_ATTRIBUTES = r"(?:\s(?:[^>\"']|\"[^\"]*\"|'[^']*')*)?"
# A name in a block of HTML goes on to a space, `/` or `>` (HTML, 13.2.5.8): `<https://a.b>` is a tag there.
_PARTS = re.compile(
    r"<!--.*?(?:-->|$)|<(script|style)\b.*?(?:</\1\s*>|\Z)"
    r"|</([A-Za-z][^\s/>]*)[^>]*>|<([A-Za-z][^\s/>]*)((?:[\s/](?:[^>\"']|\"[^\"]*\"|'[^']*')*)?)>",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(rf"</([A-Za-z][A-Za-z0-9-]*)\s*>|<([A-Za-z][A-Za-z0-9-]*)({_ATTRIBUTES})/?>", re.DOTALL)
_ATTRIBUTE = re.compile(
    r"([A-Za-z_:@][\w:.@-]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+)))?", re.ASCII
)
# Active content is found in the text and not in parsed tags: browsers read tags that are not well formed,
# and `<!-->` is a whole comment for them.
_ACTIVE = re.compile(
    r"<(script|style)\b.*?(?:</\1\s*>|\Z)"
    r"|<(?:applet|base|embed|form|frame|iframe|link|meta|object)\b[^>]*>?"
    r"|(?<=[\s\"'/])on[a-z]+\s*=[^>]*",
    re.DOTALL | re.IGNORECASE,
)
_SCRIPT = re.compile(r"(?:javascript|vbscript|data:text/html)[:;,][^\s\"'>]*", re.IGNORECASE)
# Browsers skip these in an address.
_SKIPPED = re.compile(r"[\x00-\x1f]+")
_VOID = frozenset({"br", "img", "hr", "wbr"})  # without an end tag
_READ_ATTRIBUTES = frozenset({"alt", "title", "aria-label", "aria-description", "placeholder"})


class Html(Struct):
    """Adds the contents of raw HTML to the lists of a page."""

    marks: list[Mark]
    links: list[Link]
    prose: list[Prose]
    ids: set[str]
    details: list[Detail]
    active: list[Active] = field(default_factory=list)

    def inline(self, text: str, line: int) -> bool:
        """Reads one tag inside text; True for `<br>`, which separates words."""
        self._note_active(text, line)
        match = _TAG.match(text)
        if match is None:  # a comment or a processing instruction
            return False
        name = match[1] or match[2]
        if name.lower() not in _VOID:
            tag = f"</{name.lower()}>" if match[1] else f"<{name.lower()}>"
            self.details.append(Detail("tag", tag, line))
        if match[1]:
            return False
        self._start(match[2], match[3], line)
        return match[2].lower() == "br"

    def block(self, text: str, line: int) -> None:
        """Reads a block that starts in this line; comments and scripts are skipped."""
        self._note_active(text, line)
        done = counted = 0
        for match in _PARTS.finditer(text):
            start, end = match.span()
            self._note_text(text[done:start], line + text.count("\n", counted, done))
            line += text.count("\n", counted, start)
            done, counted = end, start
            if match[2]:
                self.marks.append(Tag(match[2].lower(), True, (), line))
            elif match[3]:
                self.marks.append(self._start(match[3], match[4], line))
        self._note_text(text[done:], line + text.count("\n", counted, done))

    def address(self, target: str, line: int) -> None:
        """Notes the target of a Markdown link if it is a script."""
        match = _SCRIPT.match(_SKIPPED.sub("", target).lstrip())
        if match is not None:
            self.active.append(Active(match.group(), line))

    def _note_active(self, text: str, line: int) -> None:
        decoded = html.unescape(text) if "&" in text else text  # as browsers do in attributes
        found = [match.group() for match in _ACTIVE.finditer(decoded)]
        found += _SCRIPT.findall(_SKIPPED.sub("", decoded))
        self.active += [Active(" ".join(one.split()), line) for one in found]

    def _note_text(self, text: str, line: int) -> None:
        stripped = text.strip()
        if stripped:
            before = text[: text.index(stripped[0])]
            self.prose.append(Prose(stripped, line + before.count("\n"), "html"))

    def _start(self, name: str, attributes: str, line: int) -> Tag:
        """The tag, once the link, picture or id that it carries is noted."""
        tag = Tag(name.lower(), False, _parse_attributes(attributes), line)
        for key, value in tag.attributes:
            if key == "id" or (key == "name" and tag.name == "a"):
                self.ids.add(value)
            elif key == "href" and tag.name == "a":
                self.links.append(Link(value, line))
            elif key == "src" and tag.name == "img":
                self.marks.append(Image(value, line))
                self.details.append(Detail("picture", tag.get("alt").strip(), line))
            elif key in _READ_ATTRIBUTES and value:
                self.prose.append(Prose(value, line, "attribute"))
        return tag


def _parse_attributes(text: str) -> tuple[tuple[str, str], ...]:
    """Name and value of each attribute of a tag, in order."""
    if not text or text.isspace():
        return ()
    return tuple(
        (name.lower(), double or single or bare) for name, double, single, bare in _ATTRIBUTE.findall(text)
    )
