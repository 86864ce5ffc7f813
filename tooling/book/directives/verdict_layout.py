"""Sets what the judge says as a part of a page: the verdict, its findings with labels, and wrong values.

The judge writes lines for a terminal, whose indentation shows what belongs together. Its words are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from html import escape
from itertools import groupby, takewhile

from msgspec import Struct
from msgspec.structs import replace

from tooling.book.code_breaks import breakable
from tooling.book.phrases import NUMBERS, say

_LABEL = re.compile(r"([^\s:][^:]{0,14}): +(?=\S)")  # such as `why:`
_KIND = re.compile(r"\[(\w+)\] ")  # of a finding, such as `[races]`
_ROW = re.compile(r"(\[[\d, ]+\])\s+(\S+)\s+(\S+)")  # an index, and two values
_REST = re.compile(r"\.\.\. .+")  # the last row, such as `... and 11 more`
_COLUMN = re.compile(r"\s{2,}")
PLACE = r"[\w.]+\.(?:mojo|py):\d+(?::\d+)?"
"""A pattern for a line of a file, with or without a column."""
_CODE = re.compile(
    rf"`([^`]+)`|(?<![\w/.])({PLACE}|\[[^\]]*[\d…]\](?=$)"
    r"|[A-Za-z]\w*_\w+|[a-z]{4,}\d+\b|0x[\da-f]+)|('|\.\.\.)|(?<![\w.,:#])(\d{4,})(?!\d|\.\d)",
    re.ASCII,
)
"""Code, a place in a file, values of an array, a name with an underscore, a hexadecimal number, a sign, or a
long number."""
_PRINTED = {"'": "\N{RIGHT SINGLE QUOTATION MARK}", "...": "\N{HORIZONTAL ELLIPSIS}"}
_BEGINNING = re.compile(r"[a-z]+[ ,:]")  # a lower-case word that is not an identifier
_PLACE = re.compile(PLACE)
_LINE_OF_CODE = re.compile(rf"({PLACE}): `(.+)`")  # a place, and what is there
_PLACE_AND_TEXT = re.compile(rf"({PLACE}): (.+)")
_ASIDE = re.compile(r" (\([^()]*\))$")  # such as the data that a cause was found with
_UNDERSCORE = re.compile(r"_(?=\w{16})")  # in a long name, which may go on in the next line
_MARGIN = 2  # columns by which what belongs to a line is indented further


_FINDING = '<div class="finding'
_UNCOUNTED = '"judged-detail">…'  # how many more the judge has left out
_MANY, _SHOWN = 3, 2  # findings from which on they are folded, and those that are shown then
_PASSED = "✅"
_VARYING = re.compile(rf"{PLACE}|#\d+|(?:(?<=argument )|(?<=인자 ))\d+")
"""What findings of one kind may differ in: a place, a buffer, or an argument of the kernel."""


class Line(Struct, frozen=True):
    """A line of a verdict.

    Attributes:
        indent: in columns.
        label: without the colon; empty if the line has none.
        texts: what follows the label, and the lines that go on with it.
    """

    indent: int
    label: str
    texts: tuple[str, ...]


class Finding(Struct, frozen=True):
    """A finding, or several that say the same of different places.

    Attributes:
        head: what was found.
        places: where, for each of them; none if the judge knows no place.
        facts: what is true of all of them.
        count: how many they are.
    """

    head: Line
    places: tuple[Line, ...]
    facts: tuple[Line, ...]
    count: int = 1


def layout(lines: Sequence[str], command: str, language: str) -> str:
    """The verdict on a command as HTML without empty lines, which would end an HTML block of Markdown.

    Findings in a row that differ in their places alone are one; what others share, such as the cause, follows
    the last one, marked as true of all of them. Of many findings, all but two are folded.
    """
    from tooling.reports.console import stderr_title  # noqa: PLC0415 - few pages show verdicts

    title, *rest = lines
    title = title.replace(command, f"`{command}`", 1)
    start = next((n for n, line in enumerate(rest) if line.strip() == stderr_title(language)), len(rest))
    parts = list(_parts(_parsed(rest[:start])))
    counts = [finding.count for _, findings in parts for finding in findings]
    sections = _folded(list(_sections(parts, language)), counts, language)
    body = "\n".join((*sections, *_stderr(rest[start:])))
    return "\n".join(
        (
            f'<div class="judged{" passed" if title.startswith(_PASSED) else ""}">',
            f'<p class="judged-title">{_with_aside(title)}</p>',
            *([f'<div class="judged-body">\n{body}\n</div>'] if body else []),
            "</div>\n",
        )
    )


def _stderr(lines: Sequence[str]) -> tuple[str, ...]:
    """What the program wrote to stderr, which comes last, under its title."""
    if not lines:
        return ()
    title, *printed = map(str.strip, lines)
    text = escape("\n".join(printed), quote=False)
    return (
        f'<p class="judged-cause">{_words(_capital(title))}</p>',
        f'<pre><code class="language-text">{text}\n</code></pre>',
    )


def _folded(sections: Sequence[str], counts: Sequence[int], language: str) -> list[str]:
    """The sections, with the later ones of many findings in one that is closed.

    Args:
        counts: how many findings each section with findings has.
    """
    findings = [place for place, section in enumerate(sections) if section.startswith(_FINDING)]
    if len(findings) <= _MANY:
        return list(sections)
    hidden = findings[_SHOWN:]
    summary = escape(say("more-findings", language, count=sum(counts[_SHOWN:])))
    after = hidden[-1] + 1
    if after < len(sections) and _UNCOUNTED in sections[after]:
        hidden.append(after)
    fold = "\n".join((f"<summary>{summary}</summary>", *(sections[place] for place in hidden)))
    rest = [section for place, section in enumerate(sections) if place > hidden[0] and place not in hidden]
    return [*sections[: hidden[0]], f"<details>\n{fold}\n</details>", *rest]


def _parsed(lines: Iterable[str]) -> list[Line]:
    """The lines, each with those that go on with it."""
    found: list[Line] = []
    for line in filter(str.strip, lines):
        text, indent = line.strip(), len(line) - len(line.lstrip())
        label = _LABEL.match(text)
        last = found[-1] if found else None
        if label:
            found.append(Line(indent, label[1], (text[label.end() :],)))
        elif last and last.label and indent > last.indent + _MARGIN:
            found[-1] = replace(last, texts=(*last.texts, text))
        else:
            found.append(Line(indent, "", (text,)))
    return found


def _parts(lines: Sequence[Line]) -> Iterator[tuple[Sequence[Line], Sequence[Finding]]]:
    """The lines up to the next findings, and these, those of one kind merged."""
    while lines:
        before = list(takewhile(lambda line: not _is_finding(line), lines))
        found = list(_findings_in_a_row(lines[len(before) :]))
        yield before, [_merged(list(same)) for _, same in groupby(found, _kind_of)]
        lines = lines[len(before) + sum(map(len, found)) :]


def _findings_in_a_row(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """The findings at the beginning of the lines, each with its facts."""
    while lines and _is_finding(lines[0]):
        count = 1 + sum(1 for _ in takewhile(partial(_is_inside, lines[0]), lines[1:]))
        yield lines[:count]
        lines = lines[count:]


def _kind_of(finding: Sequence[Line]) -> list[tuple[str, str]]:
    """What findings that differ in their places alone have in common."""
    head, *facts = finding
    return [
        (line.label, "" if line in facts[:1] else _VARYING.sub("", " ".join(line.texts)))
        for line in (head, *facts)
    ]


def _merged(findings: Sequence[Sequence[Line]]) -> Finding:
    """Findings of one kind as one; a sentence that names different places names all of them."""
    head, *facts = (
        replace(same[0], texts=tuple(map(_merged_text, zip(*(line.texts for line in same), strict=True))))
        for same in zip(*((finding[0], *finding[2:]) for finding in findings), strict=True)
    )
    places = tuple(place for finding in findings for place in finding[1:2])
    return Finding(head, places, tuple(facts), len(findings))


def _merged_text(texts: Sequence[str]) -> str:
    """A text of several findings, with all the values of what varies in it."""
    values = zip(*map(_VARYING.findall, texts), strict=True)
    listed = iter([_listed(list(dict.fromkeys(each))) for each in values])
    return _VARYING.sub(lambda _: next(listed), texts[0])


def _listed(values: Sequence[str]) -> str:
    """Different values; of places in one file, only the first one names it."""
    file = values[0].partition(":")[0] + ":"
    others = (f"`{value.removeprefix(file)}`" if value.startswith(file) else value for value in values[1:])
    return " / ".join((values[0], *others))


def _sections(parts: Sequence[tuple[Sequence[Line], Sequence[Finding]]], language: str) -> Iterator[str]:
    """Statements, findings with their facts, and tables of values, in the order of the judge."""
    folds = sum(len(findings) for _, findings in parts) > _MANY
    for lines, findings in parts:
        yield from _statements(lines)
        shown = _SHOWN if folds else len(findings)
        yield from _grouped(findings[:shown], language)
        yield from _grouped(findings[shown:], language)


def _statements(lines: Sequence[Line]) -> Iterator[str]:
    """What is not a finding."""
    while lines:
        line, following = lines[0], lines[1:]
        facts = list(takewhile(_has_label, lines))
        rows = list(takewhile(_is_row, following[1:]))
        if facts:
            yield _facts(facts)
            lines = lines[len(facts) :]
        elif rows:
            facts = list(takewhile(_has_label, following[1 + len(rows) :]))
            yield _values(line, _table(following[0], rows), facts)
            lines = following[1 + len(rows) + len(facts) :]
        else:
            yield _statement(line)
            lines = following


def _statement(line: Line) -> str:
    kind = "judged-cause" if line.indent == _MARGIN else "judged-detail"
    return f'<p class="{kind}">{_with_aside(_capital(line.texts[0]))}</p>'


def _values(title: Line, table: str, facts: Sequence[Line]) -> str:
    """A table of values below its title, and at its right what the judge says of them."""
    values = f"{_statement(title)}\n{table}"
    if not facts:
        return values
    return f'<div class="judged-values">\n<div>\n{values}\n</div>\n{_facts(facts)}\n</div>'


def _grouped(findings: Sequence[Finding], language: str) -> Iterator[str]:
    """Findings in a row; the last facts, if several findings share them, stand once below these."""
    while findings:
        count, shared = 1, 0
        while count < len(findings) and (same := _same_facts(findings[count - 1], findings[count])):
            if shared not in (0, same):
                break
            count, shared = count + 1, same
        *before, last = findings[:count]
        for finding in before:
            yield _finding(finding, len(finding.facts) - shared, language, joined=True)
        own = len(last.facts) - shared
        many = sum(finding.count for finding in findings[:count])
        below = _shared(last.facts[own:], many, language) if shared else ""
        yield _finding(last, own, language, below)
        findings = findings[count:]


def _same_facts(one: Finding, other: Finding) -> int:
    """How many facts at the end two findings share."""
    facts = zip(reversed(one.facts), reversed(other.facts), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], facts))


def _shared(facts: Iterable[Line], count: int, language: str) -> str:
    """What is true of several findings."""
    number = NUMBERS.get(count, count)
    whose = say("for-both" if count == 2 else "for-all", language, number=number)
    return f'<p class="judged-shared">{escape(whose)}</p>\n{_facts(facts)}\n'


def _is_inside(outer: Line, line: Line) -> bool:
    return line.indent > outer.indent


def _is_finding(line: Line) -> bool:
    return bool(line.label and _KIND.match(line.texts[0]))


def _has_label(line: Line) -> bool:
    return bool(line.label)


def _is_row(line: Line) -> bool:
    return bool(_ROW.fullmatch(line.texts[0]) or _REST.fullmatch(line.texts[0]))


def _finding(finding: Finding, shown: int, language: str, below: str = "", *, joined: bool = False) -> str:
    """A finding with its first facts and what stands below them; `joined` to the next one if that goes on."""
    line, places = finding.head, finding.places
    kind, text = _KIND.match(line.texts[0])[1], _KIND.sub("", line.texts[0], count=1)  # type: ignore[index]
    many = finding.count > 1
    label = say("findings", language, count=finding.count, label=line.label) if many else f"{line.label}:"
    head = f"<p><b>{escape(label)} <span>[{kind}]</span></b> {_words(_capital(text))}</p>"
    facts = finding.facts[:shown]
    if len(places) <= _MANY:
        body = _facts((*places, *facts))
    else:
        summary = escape(say("more-findings", language, count=len(places) - _SHOWN))
        fold = f"<details>\n<summary>{summary}</summary>\n{_facts(places[_SHOWN:])}\n</details>"
        body = "\n".join((_facts(places[:_SHOWN]), fold, *([_facts(facts)] if facts else [])))
    return f'{_FINDING}{" joined" if joined else ""}">\n{head}\n{body}\n{below}</div>'


def _facts(lines: Iterable[Line]) -> str:
    rows = (f"<dt>{escape(line.label)}:</dt><dd>{_one_or_more(line.texts)}</dd>" for line in lines)
    return "<dl>\n{}\n</dl>".format("\n".join(rows))


def _one_or_more(texts: Sequence[str]) -> str:
    """A text, or several below one another, such as the places of a race."""
    if found := _LINE_OF_CODE.fullmatch(texts[0]):
        code = breakable(escape(found[2], quote=False), 0)
        return f'{_words(found[1])}<span class="place"><code>{code}</code></span>'
    if len(texts) == 1 and (texts[0].endswith(".") or not _PLACE.match(texts[0])):
        return _words(_capital(texts[0]))
    return "".join(f'<span class="place">{_after_place(text)}</span>' for text in texts)


def _after_place(text: str) -> str:
    """A place, and in the next line of a narrow screen what is there."""
    found = _PLACE_AND_TEXT.fullmatch(text)
    return f"{_words(found[1])}:<br> {_words(found[2])}" if found else _words(text)


def _table(head: Line, rows: Iterable[Line]) -> str:
    """The elements that differ: index, what the program wrote, and what belongs there."""
    heads = "".join(f"<th>{escape(name)}</th>" for name in _COLUMN.split(head.texts[0]))
    body = (
        "".join(f"<td>{escape(cell)}</td>" for cell in cells.groups())
        if (cells := _ROW.fullmatch(row.texts[0]))
        else f'<td colspan="3">{_words(row.texts[0])}</td>'
        for row in rows
    )
    lines = "\n".join(f"<tr>{row}</tr>" for row in body)
    return f'<table class="values">\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{lines}\n</tbody>\n</table>'


def _with_aside(text: str) -> str:
    """The text as HTML, with what is in brackets at its end set apart."""
    return _ASIDE.sub(r' <span class="aside">\1</span>', _words(text))


def _capital(text: str) -> str:
    """The text with a capital letter at its beginning, unless a name is there."""
    return text[0].upper() + text[1:] if _BEGINNING.match(text) else text


def _words(text: str) -> str:
    """The text as HTML with the signs of print, code and places in a file as code."""

    def shown(found: re.Match[str]) -> str:
        if found[3]:
            return _PRINTED[found[3]]
        if found[4]:
            return f"{int(found[4]):,}"
        return f"<code>{_UNDERSCORE.sub('_<wbr>', found[1] or found[2])}</code>"

    return _CODE.sub(shown, escape(text, quote=False))
