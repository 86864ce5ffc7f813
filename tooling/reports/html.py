"""The verdict as a part of a page: the judge's words with findings, labels and wrong values as elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import groupby, takewhile
from string import Formatter
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tooling.judging.verdict import Outcome, SourceLine
from tooling.reports.parts import (
    NOTE,
    PRINTED,
    TRY,
    WHERE,
    WHY,
    Found,
    Input,
    Labelled,
    MoreFound,
    Note,
    Part,
    Printed,
    Statement,
    Table,
    Title,
    parts_of,
)
from tooling.reports.verdict_record import VerdictRecord
from tooling.simulator.checks import texts
from tooling.simulator.checks.findings import Occurrence, explanation
from tooling.text import Code, JoinedText, LocalText, Sentence, Text, in_language, joined
from tooling.text.particles import with_particles

_MANY, _SHOWN = 3, 2  # findings from which on they are folded, and those that are shown then
_SEVERAL = Text("{count} × {label}:")
_FOLDED = Text("{count} more findings")
_FOR_BOTH, _FOR_ALL = Text("For both:"), Text("For all {number}:")
_NUMBERS = {
    3: Text("three", context="findings"),
    4: Text("four", context="findings"),
    5: Text("five", context="findings"),
    6: Text("six", context="findings"),
    7: Text("seven", context="findings"),
    8: Text("eight", context="findings"),
    9: Text("nine", context="findings"),
}
_VARYING = frozenset({"first_position", "last_position", "number", "argument"})
"""The facts in which findings of one kind may differ: a position, a buffer, an argument of the kernel."""
_UNDERSCORE = re.compile(r"_(?=\w{16})")  # in a long name, which may go on in the next line
_PRINTED = {"'": "\N{RIGHT SINGLE QUOTATION MARK}", "...": "\N{HORIZONTAL ELLIPSIS}"}

Row: TypeAlias = tuple[str, str]
"""A label and the HTML of what it labels."""
Token: TypeAlias = tuple[str, bool]
"""A piece of a sentence, and whether it is code."""


class _Several(Struct, frozen=True):
    """Different values of a fact; of positions in one file, only the first one names it."""

    values: tuple[Any, ...]

    def tokens(self) -> Iterator[Token]:
        first, *others = self.values
        file = f"{first}".partition(":")[0] + ":"
        yield f"{first}", isinstance(first, Code)
        for value in others:
            yield " / ", False
            yield f"{value}".removeprefix(file), isinstance(value, Code)


class _Kind(Struct, frozen=True):
    """A finding, or several that say the same of different source lines.

    Attributes:
        label: its severity and its check.
        occurrences: those of each of them.
    """

    label: tuple[Text, str]
    what: Text
    occurrences: tuple[tuple[Occurrence, ...], ...]
    why: Text
    hint: Text


class _Section(Struct, frozen=True):
    """An element below the title.

    Attributes:
        findings: how many it has.
        rest: it says how many more there are.
    """

    html: str
    findings: int = 0
    rest: bool = False


def verdict_html(record: VerdictRecord, language: str, breakable: Callable[[str], str]) -> str:
    """The verdict as HTML without empty lines, which would end an HTML block of Markdown.

    Findings in a row that differ only in their source lines are one; what others share, such as the cause,
    follows the last one, marked as true of all of them. Of many findings, all but two are folded.

    Args:
        breakable: escaped code with the positions where a line may be broken.
    """
    page = _Page(language, breakable)
    title, *parts = parts_of(record)
    assert isinstance(title, Title)
    head = title.sign + page.with_aside(title.sentence, title.circumstances, "  ")
    body = "\n".join(page.folded(list(page.sections(parts))))
    return "\n".join(
        (
            f'<div class="judged{" passed" if record.outcome is Outcome.PASSED else ""}">',
            f'<p class="judged-title">{head}</p>',
            *([f'<div class="judged-body">\n{body}\n</div>'] if body else []),
            "</div>\n",
        )
    )


class _Page(Struct, frozen=True):
    """Renders parts in a language."""

    language: str
    breakable: Callable[[str], str]

    def folded(self, sections: Sequence[_Section]) -> Iterator[str]:
        """The sections, with the later ones of many findings in one that is closed."""
        found = [section for section in sections if section.findings]
        hidden = found[_SHOWN:] if len(found) > _MANY else []
        if hidden:
            after = sections.index(hidden[-1]) + 1
            inside = [*hidden, *takewhile(lambda section: section.rest, sections[after:])]
            count = sum(section.findings for section in hidden)
            fold = _Section(_details(self.say(_FOLDED.of(count=count)), [each.html for each in inside]))
            start = sections.index(hidden[0])
            sections = [*sections[:start], fold, *(each for each in sections[start:] if each not in inside)]
        return (section.html for section in sections)

    def sections(self, parts: Sequence[Part]) -> Iterator[_Section]:
        """Statements, findings with their facts, and tables of values, in the order of the judge."""
        groups = [list(group) for _, group in groupby(parts, _group_of)]
        kinds = [self._kinds([part for part in group if isinstance(part, Found)]) for group in groups]
        shown = _SHOWN if sum(map(len, kinds)) > _MANY else len(parts)
        table = ""
        for index, (group, found) in enumerate(zip(groups, kinds, strict=True)):
            match group[0]:
                case Found():
                    yield from self._findings(found[:shown])
                    yield from self._findings(found[shown:])
                case Table() as values:
                    table = self._table(values)
                    if not isinstance(groups[min(index + 1, len(groups) - 1)][0], _FACTS):
                        yield _Section(table)
                        table = ""
                case Labelled() | Input() | Note():
                    facts = _list(map(self._row, group))
                    values_and_facts = f'<div class="judged-values">\n<div>\n{table}\n</div>\n{facts}\n</div>'
                    yield _Section(values_and_facts if table else facts)
                    table = ""
                case _:
                    yield from map(self._section, group)

    def _section(self, part: Part) -> _Section:
        match part:
            case Statement(sentence, dataset):
                return _Section(f'<p class="judged-cause">{self.with_aside(sentence, dataset, " ")}</p>')
            case MoreFound():
                return _Section(f'<p class="judged-detail">{self.sentence(part.sentence)}</p>', rest=True)
            case Printed(lines):
                title = f'<p class="judged-cause">{self.sentence(PRINTED)}:</p>'
                text = escape("\n".join(map(str.strip, lines)), quote=False)
                return _Section(f'{title}\n<pre><code class="language-text">{text}\n</code></pre>')
        raise TypeError(f"{part} belongs to no section")

    def _row(self, part: Part) -> Row:
        match part:
            case Labelled(label, text, complete):
                if isinstance(text, SourceLine):
                    return self.say(label), self._line(text)
                return self.say(label), self.sentence(text, complete=complete)
            case Input(name, elements):
                return name, _code(elements)
            case Note(sentence):
                return self.say(NOTE), self.sentence(sentence)
        raise TypeError(f"{part} has no label")

    def _line(self, line: SourceLine) -> str:
        position = _code(line.position)
        if not line.text:
            return f'<span class="place">{position}</span>'
        code = self.breakable(escape(line.text, quote=False))
        return f'{position}<span class="place"><code>{code}</code></span>'

    def _table(self, table: Table) -> str:
        """The elements that differ below their number: index, what the program wrote, what belongs there."""
        heads = "".join(f"<th>{escape(self.say(name))}</th>" for name in table.head)
        rows = ["".join(f"<td>{escape(cell)}</td>" for cell in cells) for cells in table.rows]
        if table.rest:
            rows.append(f'<td colspan="3">{self.sentence(table.rest)}</td>')
        return "\n".join(
            (
                f'<p class="judged-detail">{self.sentence(table.title)}</p>',
                f'<table class="values">\n<thead><tr>{heads}</tr></thead>\n<tbody>',
                *(f"<tr>{row}</tr>" for row in rows),
                "</tbody>\n</table>",
            )
        )

    def _kinds(self, parts: Iterable[Found]) -> list[_Kind]:
        """Findings in a row, those that differ only in their source lines as one."""
        every = [
            _Kind(
                (texts.SEVERITY[finding.severity], finding.check),
                said.what,
                (said.where,),
                said.why,
                said.hint,
            )
            for finding, said in ((part.finding, explanation(part.finding)) for part in parts)
        ]

        def common(kind: _Kind) -> tuple[object, ...]:
            sentences = (kind.what, kind.why, kind.hint)
            return kind.label, *(_invariant(sentence, self.language) for sentence in sentences)

        return [_merged(list(same)) for _, same in groupby(every, common)]

    def _findings(self, kinds: Sequence[_Kind]) -> Iterator[_Section]:
        """Findings in a row; the last facts, if several findings share them, stand once below these."""
        facts = [self._facts(kind) for kind in kinds]
        start = 0
        while start < len(kinds):
            stop, shared = start + 1, 0
            while stop < len(kinds) and (same := _same_at_end(facts[stop - 1], facts[stop])):
                if shared not in (0, same):
                    break
                stop, shared = stop + 1, same
            many = sum(len(kind.occurrences) for kind in kinds[start:stop])
            for index in range(start, stop):
                own = facts[index][: len(facts[index]) - shared]
                below = self._shared(facts[index][len(own) :], many) if shared and index == stop - 1 else ""
                yield self._finding(kinds[index], own, below, joined=index < stop - 1)
            start = stop

    def _facts(self, kind: _Kind) -> list[Row]:
        return [(self.say(label), self.sentence(text)) for label, text in ((WHY, kind.why), (TRY, kind.hint))]

    def _shared(self, facts: Iterable[Row], count: int) -> str:
        """What is true of several findings."""
        whose = _FOR_BOTH if count == 2 else _FOR_ALL.of(number=_NUMBERS.get(count, count))
        return f'<p class="judged-shared">{escape(self.say(whose))}</p>\n{_list(facts)}\n'

    def _finding(self, kind: _Kind, facts: Sequence[Row], below: str, *, joined: bool) -> _Section:
        """A finding with its first facts and what is below them; `joined` to the next one if that goes on."""
        severity, check = kind.label
        count = len(kind.occurrences)
        label = _SEVERAL.of(count=count, label=severity) if count > 1 else f"{self.say(severity)}:"
        head = f"<p><b>{escape(self.say(label))} <span>[{check}]</span></b> {self.sentence(kind.what)}</p>"
        occurrences = [(self.say(WHERE), self._occurrences(where)) for where in kind.occurrences if where]
        if len(occurrences) <= _MANY:
            body = _list((*occurrences, *facts))
        else:
            summary = self.say(_FOLDED.of(count=len(occurrences) - _SHOWN))
            fold = _details(summary, [_list(occurrences[_SHOWN:])])
            body = "\n".join((_list(occurrences[:_SHOWN]), fold, *([_list(facts)] if facts else [])))
        html = f'<div class="finding{" joined" if joined else ""}">\n{head}\n{body}\n{below}</div>'
        return _Section(html, count)

    def _occurrences(self, occurrences: Sequence[Occurrence]) -> str:
        """A sentence, or several lines, such as the two accesses of a race."""
        if len(occurrences) == 1 and not isinstance(occurrences[0].position, Code):
            return self.sentence(_one_line(occurrences[0]))
        return "".join(
            f'<span class="place">{self._occurrence(occurrence)}</span>' for occurrence in occurrences
        )

    def _occurrence(self, occurrence: Occurrence) -> str:
        """A position, and in the next line of a narrow screen what is there."""
        if not isinstance(occurrence.position, Code):
            return _html(self._runs(_one_line(occurrence)))
        return f"{_html(self._runs(occurrence.position))}:<br> {_html(self._runs(occurrence.what))}"

    def say(self, text: Sentence | str) -> str:
        """Words without code."""
        said: str = in_language(text, self.language)
        return said

    def with_aside(self, sentence: Sentence, aside: Sentence | None, space: str) -> str:
        """A sentence, and what is in brackets after it."""
        html = self.sentence(sentence)
        return f'{html}{space}<span class="aside">({_html(self._runs(aside))})</span>' if aside else html

    def sentence(self, text: Sentence | str, *, complete: bool = False) -> str:
        """A sentence with a capital letter, unless code is at its beginning; `complete`: with a full stop."""
        runs = self._runs(text)
        if runs and not runs[0][1]:
            first = runs[0][0]
            is_word = first.split(" ", 1)[0].rstrip(",:").isascii()  # not a name with a Korean particle
            runs[0] = (first[:1].upper() + first[1:] if is_word else first, False)
        if complete and not runs[-1][0].endswith((".", "?", ":")):
            runs.append((".", False))
        return _html(runs)

    def _runs(self, text: Sentence | str) -> list[Token]:
        """The pieces of a sentence; the signs ` enclose code."""
        runs: list[Token] = []
        quoted = False
        for piece, code in _tokens(text, self.language):
            if code and not quoted:
                runs.append((piece, True))
                continue
            for index, each in enumerate(piece.split("`")):
                quoted ^= index > 0
                before = runs.pop()[0] if not index and runs and runs[-1][1] == quoted else ""
                runs.append((before + each, quoted))
        return [run for run in runs if run[0]]


_FACTS = (Labelled, Input, Note)


def _one_line(occurrence: Occurrence) -> Sentence:
    return joined([occurrence.position, occurrence.what], ": ") if occurrence.position else occurrence.what


def _group_of(part: Part) -> object:
    return _FACTS if isinstance(part, _FACTS) else type(part)


def _tokens(text: Any, language: str) -> Iterator[Token]:
    """The pieces of a sentence in a language, with its facts."""
    match text:
        case Text(facts=facts) if facts:
            named, before = dict(facts), ""
            for literal, name, form, _ in Formatter().parse(text.template(language)):
                yield with_particles(literal, language, before), False
                if name is not None:
                    fact = list(_fact(named[name], form or "", language))
                    yield from fact
                    before = "".join(piece for piece, _ in fact)
        case JoinedText(parts, separator):
            for index, part in enumerate(parts):
                yield from _tokens(separator, language) if index else ()
                yield from _tokens(part, language)
        case Text() | LocalText():
            yield text.render(language), False
        case _:
            yield str(text), isinstance(text, Code)


def _fact(fact: Any, form: str, language: str) -> Iterator[Token]:
    match fact:
        case _Several():
            yield from fact.tokens()
        case int() | float():
            yield format(fact, form or ("," if isinstance(fact, int) else "")), False
        case _:
            yield from _tokens(fact, language)


def _invariant(text: Text, language: str) -> tuple[object, ...]:
    """What sentences have in common that differ in the facts of `_VARYING` alone."""
    facts = dict(text.facts)
    return tuple(
        (literal, _invariant(fact, language) if isinstance(fact, Text) else str(fact))
        for literal, name, _, _ in Formatter().parse(text.template(language))
        for fact in ("" if name is None or name in _VARYING else facts[name],)
    )


def _merged(kinds: Sequence[_Kind]) -> _Kind:
    """Findings of one kind as one; a sentence that names different positions names all of them."""
    first = kinds[0]
    if len(kinds) == 1:
        return first
    what, why, hint = (
        _together(sentences)
        for sentences in zip(*((kind.what, kind.why, kind.hint) for kind in kinds), strict=True)
    )
    return _Kind(first.label, what, tuple(where for kind in kinds for where in kind.occurrences), why, hint)


def _together(sentences: Sequence[Text]) -> Text:
    facts = zip(*(text.facts for text in sentences), strict=True)
    return replace(
        sentences[0], facts=tuple((each[0][0], _values([fact for _, fact in each])) for each in facts)
    )


def _values(facts: Sequence[Any]) -> Any:
    if isinstance(facts[0], Text) and all(isinstance(fact, Text) for fact in facts):
        return _together(facts)
    values = tuple(dict.fromkeys(facts))
    return _Several(values) if len(values) > 1 else values[0]


def _same_at_end(one: Sequence[Row], other: Sequence[Row]) -> int:
    """How many rows at the end are equal."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _list(rows: Iterable[Row]) -> str:
    return "\n".join(
        ("<dl>", *(f"<dt>{escape(label)}:</dt><dd>{html}</dd>" for label, html in rows), "</dl>")
    )


def _details(summary: str, inside: Iterable[str]) -> str:
    return "\n".join(("<details>", f"<summary>{escape(summary)}</summary>", *inside, "</details>"))


def _html(runs: Iterable[Token]) -> str:
    """Pieces as HTML, with the signs of print."""
    return "".join(_code(text) if code else _printed(escape(text, quote=False)) for text, code in runs)


def _printed(text: str) -> str:
    for typed, printed in _PRINTED.items():
        text = text.replace(typed, printed)
    return text


def _code(text: str) -> str:
    return f"<code>{_UNDERSCORE.sub('_<wbr>', escape(text, quote=False))}</code>"
