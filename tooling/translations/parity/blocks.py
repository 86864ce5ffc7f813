"""Compares the structure of two pages: headings, code, tables, tags, pictures, alerts, directives."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from msgspec import Struct

from tooling.mdbook.markup import Alert, Fence, Heading, Image, Mark, Marker, Table, Tag
from tooling.mdbook.pages import Page
from tooling.text import ENGLISH, Text
from tooling.translations.diff.places import Places
from tooling.translations.parity import code_blocks
from tooling.translations.parity.findings import Findings, quoted
from tooling.translations.parity.names import Names, without_directives
from tooling.translations.parity.pair import Alignment
from tooling.translations.writing_systems import WritingSystem

Token = tuple[object, ...]

# Attributes whose value a reader sees, or that the checks of links and pictures read.
_FREE_ATTRIBUTES = frozenset(
    {
        "alt",
        "title",
        "lang",
        "aria-label",
        "aria-description",
        "href",
        "src",
        "summary",
        "placeholder",
        "style",
    }
)
_MAY_DIFFER = Text("only comments, string literals and labels of drawings may be translated")
# Tags without an end tag.
_VOID = frozenset({"br", "img", "hr", "input", "wbr", "source", "col"})


class _Side(Struct):
    """One page with a comparable token for each of its marks."""

    page: Page
    marks: Sequence[Mark]
    tokens: list[Token]
    writing: WritingSystem


def compare(
    source: Page, target: Page, names: Names, findings: Findings, writing: WritingSystem
) -> Alignment:
    """Reports every difference of structure; returns how the lines of the two pages correspond."""
    left, right = _side(source, names, writing), _side(target, names, writing)
    match = _match(left, right)
    for one, other in match.pairs:
        if left.tokens[one] != right.tokens[other]:
            _report_changed(left, one, right, other, findings)
        _check_heading_id(left.marks[one], right.marks[other], findings)
    if match.missing or match.extra:
        _report_unpaired(left, right, match, findings)
    return match.alignment


class _Match(Struct, frozen=True):
    """The pairs of marks of source and translation, and the marks without a partner."""

    pairs: list[tuple[int, int]]
    missing: list[int]
    extra: list[int]
    alignment: Alignment


def _match(left: _Side, right: _Side) -> _Match:
    pairs: list[tuple[int, int]] = []
    missing: list[int] = []
    extra: list[int] = []
    sorts, copied = [_sort(token) for token in left.tokens], [_sort(token) for token in right.tokens]
    if left.tokens == right.tokens or sorts == copied:
        # Nothing is missing: the n-th mark corresponds to the n-th, however much it was changed.
        pairs = [(index, index) for index in range(len(left.tokens))]
    else:
        for one, other in _align(left.tokens, right.tokens):
            if one is not None and other is not None:
                pairs.append((one, other))
            elif one is not None:
                missing.append(one)
            elif other is not None:
                extra.append(other)
    return _Match(pairs, missing, extra, _alignment(left, right, pairs))


def _alignment(left: _Side, right: _Side, pairs: list[tuple[int, int]]) -> Alignment:
    source, target = [1], [1]
    for one, other in pairs:
        mark = left.marks[one]
        if not isinstance(mark, Tag) and mark.line > source[-1] and right.marks[other].line > target[-1]:
            source.append(mark.line)
            target.append(right.marks[other].line)
    sections = tuple(source), tuple(target)
    marks = [(left.marks[one], right.marks[other]) for one, other in pairs]
    return Alignment(*sections, Places(left.page, right.page, marks, sections))


# ---- tokens ----


def _side(page: Page, names: Names, writing: WritingSystem) -> _Side:
    marks = page.structure.marks
    return _Side(page, marks, [_token(page, mark, names, writing) for mark in marks], writing)


def _token(page: Page, mark: Mark, names: Names, writing: WritingSystem) -> Token:
    if isinstance(mark, Tag):
        if not mark.attributes:
            return ("tag", mark.name, mark.closing)
        kept = tuple(pair for pair in mark.attributes if pair[0] not in _FREE_ATTRIBUTES)
        return ("tag", mark.name, mark.closing, kept)
    if isinstance(mark, Heading):
        return ("heading", mark.level, mark.id if mark.explicit else "")
    if isinstance(mark, Fence):
        return ("fence", code_blocks.language_name(mark.language), names.text(page, mark.code))
    if isinstance(mark, Image):
        return ("image", image_name(page, mark.target, names, writing))
    if isinstance(mark, Table):
        return ("table", mark.cells)
    if isinstance(mark, Alert):
        return ("alert", mark.name.upper())
    return ("directive", names.text(page, mark.text))


def image_name(page: Page, target: str, names: Names, writing: WritingSystem) -> str:
    """The common name of a picture: `a.ko.svg`, `a-ko.svg` and `ko/a.svg` are the Korean `a.svg`."""
    if target.startswith("/"):
        name = target[1:]
    elif ":" in target.partition("/")[0]:
        name = target
    else:
        name = names.file(page, target)
    return _localized(writing.code).sub("", name)


@lru_cache
def _localized(code: str) -> re.Pattern[str]:
    """What a name has of the language: a folder, or the end of the file's stem."""
    return re.compile(rf"(?:(?<=/)|^){re.escape(code)}/|[._-]{re.escape(code)}(?=\.[a-z]+$)")


# ---- pairing the marks of source and translation ----


def _align(left: list[Token], right: list[Token]) -> Iterator[tuple[int | None, int | None]]:
    matcher = SequenceMatcher(None, left, right, False)
    for tag, start, stop, other_start, other_stop in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(range(start, stop), range(other_start, other_stop), strict=True)
        else:
            yield from _align_kinds(left, range(start, stop), right, range(other_start, other_stop))


def _align_kinds(
    left: list[Token], ours: range, right: list[Token], theirs: range
) -> Iterator[tuple[int | None, int | None]]:
    """Pairs marks of the same sort inside a range that differs."""
    kinds = [_sort(left[index]) for index in ours]
    other_kinds = [_sort(right[index]) for index in theirs]
    matcher = SequenceMatcher(None, kinds, other_kinds, False)
    for tag, start, stop, other_start, other_stop in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(ours[start:stop], theirs[other_start:other_stop], strict=True)
        else:
            yield from ((index, None) for index in ours[start:stop])
            yield from ((None, index) for index in theirs[other_start:other_stop])


def _sort(token: Token) -> Token:
    return token[:3] if token[0] == "tag" else token[:1]


# ---- reports ----


def _report_changed(left: _Side, one: int, right: _Side, other: int, findings: Findings) -> None:
    mark, copy = left.marks[one], right.marks[other]
    if isinstance(mark, Fence) and isinstance(copy, Fence):
        code, copied = str(left.tokens[one][2]), str(right.tokens[other][2])
        _report_fence((mark, code), (copy, copied), right.writing, findings)
        return
    if isinstance(mark, Marker):
        return  # directives are compared for the whole page
    if isinstance(mark, Heading) and isinstance(copy, Heading) and mark.level == copy.level:
        return  # only the ids differ
    kind, message, hint, subject = _change(mark, copy)
    findings.error(kind, (mark.line, copy.line), message, hint=hint, subject=subject)


def _change(mark: Mark, copy: Mark) -> tuple[str, Text, Text, str]:
    """Kind, message, hint and subject for two marks of the same sort that differ."""
    if isinstance(mark, Heading) and isinstance(copy, Heading):
        message = Text("heading {text} has level {level}; its source has level {level2}").of(
            text=quoted(copy.text), level=copy.level, level2=mark.level
        )
        return (
            "heading-level",
            message,
            Text("start it with `{value} `").of(value="#" * mark.level),
            mark.text,
        )
    if isinstance(mark, Table) and isinstance(copy, Table):
        return _table_change(mark, copy)
    if isinstance(mark, Alert) and isinstance(copy, Alert):
        message = Text("the box is `[!{name}]`; its source is `[!{name2}]`").of(
            name=copy.name, name2=mark.name
        )
        return "alert-type", message, Text("the word after `[!` is a keyword: leave it in English"), mark.name
    if isinstance(mark, Tag):
        kind = "tab" if _of_tabs(mark) else "tag-changed"
        message = Text("the tag is {copy}; its source is {mark}").of(
            copy=_describe(copy), mark=_describe(mark)
        )
        return kind, message, Text("leave tags and their classes as they are"), _subject(mark)
    if isinstance(mark, Image) and isinstance(copy, Image):
        message = Text("the picture is {target}; its source shows {target2}").of(
            target=copy.target, target2=mark.target
        )
        return (
            "image-changed",
            message,
            Text(
                "show the same picture, or a variant of it for the language, such as grid.ko.png or "
                "ko/grid.png"
            ),
            mark.target,
        )
    raise AssertionError(f"marks of one sort: {mark}, {copy}")


def _table_change(mark: Table, copy: Table) -> tuple[str, Text, Text, str]:
    hint = Text("give the table the rows and columns of its source")
    subject = f"{mark.cells[0]}x{len(mark.cells) - 1}"
    if mark.cells[0] != copy.cells[0]:
        message = Text("the table has {cells} columns; its source has {cells2}").of(
            cells=copy.cells[0], cells2=mark.cells[0]
        )
        return "table-columns", message, hint, subject
    if len(mark.cells) != len(copy.cells):
        message = Text("the table has {count} rows; its source has {count2}").of(
            count=len(copy.cells) - 1, count2=len(mark.cells) - 1
        )
        return "table-rows", message, hint, subject
    pairs = enumerate(zip(mark.cells, copy.cells, strict=True))
    row, (cells, copied) = next(entry for entry in pairs if entry[1][0] != entry[1][1])
    message = Text("row {row} of the table has {copied} cells; its source has {cells}").of(
        row=row, copied=copied, cells=cells
    )
    return "table-columns", message, hint, subject


def _report_fence(
    ours: tuple[Fence, str], theirs: tuple[Fence, str], writing: WritingSystem, findings: Findings
) -> None:
    (mark, code), (copy, copied) = ours, theirs
    name = code_blocks.language_name(mark.language)
    if name != code_blocks.language_name(copy.language):
        findings.error(
            "fence-language",
            (mark.line, copy.line),
            Text("the code block is marked `{language}`; its source is marked `{language2}`").of(
                language=copy.language, language2=mark.language
            ),
            hint=Text("start it with ```{language}").of(language=mark.language),
            subject=code or name,
        )
    # Which files are shown is compared for the whole page; here only their order counts.
    plain = code_blocks.difference(
        without_directives(code), without_directives(copied), mark.language, writing.letters
    )
    if plain is not None:
        shown, expected = quoted(plain.target_text), quoted(plain.source_text)
        if not plain.target_text:
            message = Text("the code lacks a line; its source has {expected}").of(expected=expected)
        elif plain.source_text:
            message = Text("the code has {shown}; its source has {expected}").of(
                shown=shown, expected=expected
            )
        else:
            message = Text("the code has {shown}; its source has no such line").of(shown=shown)
        findings.error(
            "fence-code",
            (mark.line + 1 + (plain.source_line or 0), copy.line + 1 + (plain.target_line or 0)),
            message,
            hint=_MAY_DIFFER,
            subject=plain.source_text or plain.target_text,
        )


def _check_heading_id(mark: Mark, copy: Mark, findings: Findings) -> None:
    if isinstance(mark, Heading) and isinstance(copy, Heading) and mark.explicit:
        if copy.explicit and copy.id == mark.id:
            return
        findings.error(
            "heading-id",
            (mark.line, copy.line),
            Text("heading {text} has the id `{id}`; its source says `{{#{id2}}}`").of(
                text=quoted(copy.text), id=copy.id, id2=mark.id
            ),
            hint=Text("end the heading with `{{#{id}}}`").of(id=mark.id),
            subject=mark.id,
        )


def _report_unpaired(left: _Side, right: _Side, match: _Match, findings: Findings) -> None:
    unpaired: dict[Token, list[int]] = {}
    for index in match.extra:
        unpaired.setdefault(right.tokens[index], []).append(index)
    moved: set[int] = set()
    for index in _without_ends(left.marks, match.missing):
        mark, token = left.marks[index], left.tokens[index]
        kind, name = _kind(mark), _describe(mark)
        if token[0] not in ("tag", "heading") and unpaired.get(token):
            other = unpaired[token].pop(0)
            moved.add(other)
            findings.error(
                f"{kind}-place",
                (mark.line, right.marks[other].line),
                Text("{name} is not at the same position as in the source").of(name=name),
                hint=Text("keep the order of the source"),
                subject=_subject(mark),
            )
            continue
        if isinstance(mark, Marker):
            continue
        findings.error(
            kind if kind == "tab" else f"{kind}-missing",
            match.alignment.at_source(mark.line),
            Text("{name} of the source is missing").of(name=name),
            hint=Text("add it, or translate the section that contains it"),
            subject=_subject(mark),
        )
    for index in _without_ends(right.marks, [index for index in match.extra if index not in moved]):
        mark = right.marks[index]
        if isinstance(mark, Marker):
            continue
        kind, name = _kind(mark), _describe(mark)
        findings.error(
            kind if kind == "tab" else f"{kind}-extra",
            match.alignment.at_target(mark.line),
            Text("{name} is not in the source").of(name=name),
            hint=Text("remove it, or add it to the source first"),
            subject=_subject(mark),
        )


def _without_ends(marks: Sequence[Mark], indices: list[int]) -> list[int]:
    """The indices without the closing tags whose opening tag is among them too."""
    opened: Counter[str] = Counter()
    for index in indices:
        mark = marks[index]
        if isinstance(mark, Tag) and not mark.closing and mark.name not in _VOID:
            opened[mark.name] += 1
    kept: list[int] = []
    for index in indices:
        mark = marks[index]
        if isinstance(mark, Tag) and mark.closing and opened[mark.name] > 0:
            opened[mark.name] -= 1
        else:
            kept.append(index)
    return kept


def _of_tabs(tag: Tag) -> bool:
    return "tab" in tag.get("class") or any(name.startswith("data-tab") for name, _ in tag.attributes)


def _kind(mark: Mark) -> str:
    if isinstance(mark, Tag) and _of_tabs(mark):
        return "tab"
    return "directive" if isinstance(mark, Marker) else type(mark).__name__.lower()


def _subject(mark: Mark) -> str:
    """The mark as keys of findings have it."""
    description = _describe(mark)
    return description if isinstance(description, str) else description.render(ENGLISH)


def _describe(mark: Mark) -> str | Text:
    if isinstance(mark, Heading):
        return Text("the heading {text}").of(text=quoted(mark.text))
    if isinstance(mark, Fence):
        first = next((line for line in mark.code.split("\n") if line.strip()), "")
        return Text("the {language} code block {first}").of(
            language=code_blocks.language_name(mark.language), first=quoted(first)
        )
    if isinstance(mark, Table):
        return Text("the table of {cells} columns and {count} rows").of(
            cells=mark.cells[0], count=len(mark.cells) - 1
        )
    if isinstance(mark, Tag):
        attributes = "".join(f' {name}="{value}"' for name, value in mark.attributes)
        return f"`<{'/' if mark.closing else ''}{mark.name}{attributes}>`"
    if isinstance(mark, Image):
        return Text("the picture {target}").of(target=mark.target)
    if isinstance(mark, Alert):
        return Text("the box `[!{name}]`").of(name=mark.name)
    return Text("the directive {text}").of(text=quoted(mark.text))
