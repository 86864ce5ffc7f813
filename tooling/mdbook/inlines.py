"""What stands inside text: links, images, code spans, formulas, tags; one regular expression finds them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

from tooling.mdbook.includes import Kind, find_directives
from tooling.mdbook.markup import OBJECT, Code, Formula, Image, Link, Mark, Marker, Prose, Tag

ATTRIBUTES = r"(?:\s(?:[^>\"']|\"[^\"]*\"|'[^']*')*)?"
_TARGET = r"<[^<>\n]*>|[^\s()<]*(?:\([^\s()]*\)[^\s()]*)*"
_TITLE = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)"
# Every branch starts with a literal character: the engine then skips plain text at full speed.
_INLINE = re.compile(
    r"\\\\\((.+?)\\\\\)"  # 1: formula
    r"|\\\\\[(.+?)\\\\\]"  # 2: displayed formula
    r"|\$\$(.+?)\$\$"  # 3: displayed formula
    r"|\\([!-/:-@\[-`{-~])"  # 4: escape
    r"|`(?<!``)(`*)(?!`)(.+?)(?<!`)`\5(?!`)"  # 5, 6: code span
    r"|<!--(.*?)-->"  # 7: comment
    r"|<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)>"  # 8: autolink
    rf"|</([A-Za-z][A-Za-z0-9-]*)\s*>|<([A-Za-z][A-Za-z0-9-]*)({ATTRIBUTES})/?>"  # 9; 10, 11: tags
    r"|!(\[)|(\[)"  # 12, 13: start of an image, of a link
    rf"|\](?:(\()\s*({_TARGET})(?:\s+(?:{_TITLE}))?\s*\)|\[([^\]\[]*)\])?",  # 14, 15: target; 16: reference
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"([A-Za-z_:@][\w:.@-]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+)))?", re.ASCII
)
_READ_ATTRIBUTES = frozenset({"alt", "title", "aria-label", "aria-description", "placeholder"})
_STAND_IN = re.compile("[\ue100-\uf8ff]")
_FIRST_STAND_IN = 0xE100


def parse_attributes(text: str) -> tuple[tuple[str, str], ...]:
    """Name and value of each attribute of a tag, in order."""
    if not text or text.isspace():
        return ()
    return tuple(
        (name.lower(), double or single or bare) for name, double, single, bare in _ATTRIBUTE.findall(text)
    )


@dataclass(slots=True)
class Inlines:
    """Collects what the paragraphs of one page hold."""

    marks: list[Mark] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    codes: list[Code] = field(default_factory=list)
    formulas: list[Formula] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    prose: list[Prose] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    references: dict[str, str] = field(default_factory=dict)
    pending: list[tuple[str, bool, int]] = field(default_factory=list)  # label, is an image, line

    def tag(self, name: str, closing: bool, attributes: str, line: int, inline: bool) -> Tag:
        """Notes a tag, and the link, picture or id that it carries."""
        tag = Tag(name.lower(), closing, parse_attributes(attributes), line, inline)
        for key, value in tag.attributes:
            if key == "id" or (key == "name" and tag.name == "a"):
                self.ids.add(value)
            elif key == "href" and tag.name == "a":
                self.links.append(Link(value, line))
            elif key == "src" and tag.name == "img":
                self.marks.append(Image(value, line))
            elif key in _READ_ATTRIBUTES and value:
                self.prose.append(Prose(value, line, "attribute"))
        return tag

    def scan(self, text: str, line: int, kind: str) -> None:
        """Takes apart the text of a paragraph, heading or table that starts in this line."""
        if "{{" in text:
            text, directives = _without_directives(text)
            if len(directives) == 1 and len(text.strip()) == 1:
                self.marks.append(Marker(next(iter(directives.values())), line))
                return
        else:
            directives = {}
        matches = _INLINE.finditer(text)
        first = next(matches, None)
        if first is None:
            plain_text = _tidy(text) if not directives else _STAND_IN.sub("", _tidy(text))
            self.prose.append(Prose(plain_text, line, kind))
            return
        first_line = line
        plain: list[str] = []
        brackets: list[tuple[bool | None, int]] = []  # of an image? None: inside a link by now; links so far
        done = counted = 0
        for match in chain((first,), matches):
            start, end = match.span()
            if start > done:
                plain.append(text[done:start])
            line += text.count("\n", counted, start)
            done, counted = end, start
            group = match.lastindex or 0
            if group == 6:
                plain.append(OBJECT)
                self.codes.append(Code(" ".join(match[6].split()), line))
            elif group == 4:
                plain.append(match[4])
            elif group <= 3 and group > 0:
                plain.append(OBJECT)
                self.formulas.append(Formula(" ".join(match[group].split()), group > 1, line))
            elif group in (12, 13):
                brackets.append((group == 12, len(self.links)))
            elif group in (0, 14, 15, 16):  # `]`, with a target, with a reference, or alone
                image, links = brackets.pop() if brackets else (None, 0)
                if image is None:
                    plain.append(match.group())
                elif group == 0:
                    self._shortcut(text, start, image, line)
                elif group == 16:
                    self.pending.append((match[16] or _label_before(text, start), image, line))
                else:
                    target = match[15] or ""
                    if image:
                        del self.links[links:]  # an alternative text is plain
                    else:  # links do not nest: the inner one counts
                        brackets = [(kind or None, number) for kind, number in brackets]
                    self._target(_restored(target, directives).strip("<>"), image, line)
            elif group == 8:
                self.links.append(Link(match[8], line))
            elif group == 9:
                self.tags.append(Tag(match[9].lower(), True, (), line, True))
            elif group in (10, 11):
                attributes = _restored(match[11] or "", directives)
                self.tags.append(self.tag(match[10], False, attributes, line, True))
                if match[10] == "br":
                    plain.append(" ")
        plain.append(text[done:])
        prose = _tidy("".join(plain)) if not directives else _STAND_IN.sub("", _tidy("".join(plain)))
        self.prose.append(Prose(prose, first_line, kind))

    def _target(self, target: str, image: bool, line: int) -> None:
        if image:
            self.marks.append(Image(target, line))
        else:
            self.links.append(Link(target, line))

    def _shortcut(self, text: str, end: int, image: bool, line: int) -> None:
        """`[label]` alone is a link where the page defines the label."""
        label = _label_before(text, end)
        if label and not label.startswith("^"):
            self.pending.append((label, image, line))

    def resolve_references(self) -> None:
        """Turns the labels that are defined somewhere on the page into links; others stay text."""
        for label, image, line in self.pending:
            target = self.references.get(normal_label(label))
            if target is not None:
                self._target(target, image, line)
        if self.pending:
            self.links.sort(key=lambda link: link.line)


def normal_label(label: str) -> str:
    """Labels are equal regardless of case and of runs of spaces."""
    return " ".join(label.split()).casefold()


def _label_before(text: str, end: int) -> str:
    return text[text.rfind("[", 0, end) + 1 : end]


def _tidy(text: str) -> str:
    """Without the signs of emphasis."""
    if "*" in text:
        text = text.replace("*", "")
    return text.replace("~~", "") if "~~" in text else text


def _without_directives(text: str) -> tuple[str, dict[str, str]]:
    """The text with one private character for each directive: their spaces must not end a link's target."""
    pieces: list[str] = []
    found: dict[str, str] = {}
    done = 0
    for directive in find_directives(text):
        if directive.kind is Kind.ESCAPED or "\n" in directive.text:
            continue
        stand_in = chr(_FIRST_STAND_IN + len(found))
        found[stand_in] = directive.text
        pieces += (text[done : directive.start], stand_in)
        done = directive.end
    pieces.append(text[done:])
    return "".join(pieces), found


def _restored(text: str, directives: Mapping[str, str]) -> str:
    if not directives:
        return text
    return _STAND_IN.sub(lambda match: directives.get(match.group(), match.group()), text)
