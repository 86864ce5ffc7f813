"""The glossary: the translation of each English term, and the check that a page uses it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from msgspec import Struct

from tooling.mdbook.markup import Prose
from tooling.mdbook.pages import Page
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_text
from tooling.text import Text, joined
from tooling.translations.parity.findings import Findings, ParityFinding
from tooling.translations.writing_systems import WritingSystem, writing_of


class GlossaryError(ToolingError):
    """The glossary file is missing, empty or malformed; a check without it must not pass."""


class Term(Struct, frozen=True):
    """One row of the glossary.

    Attributes:
        english: the term, singular and in lower case.
        accepted: the accepted forms; the first is the one to write.
        rivals: forms to avoid on a page whose source has the term.
        forms: English forms that the rules of inflection do not produce.
        part: noun, verb or adjective, where it matters.
        first_use: must the first use on a page be followed by the English in parentheses?
        note: why this form.
    """

    english: str
    accepted: tuple[str, ...]
    rivals: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    part: str = ""
    first_use: bool = True
    note: str = ""


Words = tuple[str, ...]


class Glossary(Struct, frozen=True):
    """All terms, prepared for searching.

    Attributes:
        path: the file.
        terms: its rows.
        starts: the first words of all English forms.
        words: word -> number of the one-word term.
        phrases: first two words -> (all words, number of the term), the longest phrase first.
        covers: form or rival -> (its offset, the longer accepted form that contains it), for all such forms.
        nested: for each term, the terms that it contains: `thread block` contains `thread` and `block`.
        writing: the writing system of the translation's language.
    """

    path: Path
    terms: tuple[Term, ...]
    starts: frozenset[str]
    words: Mapping[str, int]
    phrases: Mapping[Words, tuple[tuple[Words, int], ...]]
    covers: Mapping[str, tuple[tuple[int, str], ...]]
    nested: tuple[frozenset[int], ...]
    writing: WritingSystem


# ---- reading ----

_LISTS = ("SUMMARY.md", "figures.md")
"""Pages whose lines are shown on other pages: a term is explained there."""
_KEYS = frozenset({"en", "avoid", "forms", "part", "first_use", "note"})
_PARTS = frozenset({"", "noun", "verb", "adjective"})


def load(path: Path, language: str = "ko") -> Glossary:
    """The glossary of `i18n/LANG/glossary.yaml`.

    Args:
        language: the key of the translation's forms in a term.

    Raises:
        GlossaryError: no such file or list, an unknown key, a form that is both accepted and a rival.
    """
    try:
        content = yaml.load(read_text(path), Loader=_LOADER)
    except OSError as error:
        hint = Text("name the file with --glossary")
        raise GlossaryError(
            Text("no glossary"), where=Location(path), why=error.strerror, hint=hint
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise GlossaryError(Text("the glossary is not YAML"), where=Location(path), why=str(error)) from error
    rows = content.get("terms") if isinstance(content, dict) else None
    if not isinstance(rows, list):
        why = Text("the file needs a list `terms`, which is empty (`[]`) for a language that has none yet")
        raise GlossaryError(Text("the glossary has no terms"), where=Location(path), why=why)
    terms = tuple(_term(row, number, path, language) for number, row in enumerate(rows, 1))
    _check_terms(terms, path)
    return prepare(terms, path, language)


_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _term(row: object, number: int, path: Path, language: str) -> Term:
    def wrong(what: Text) -> GlossaryError:
        name: str | Text = Text("number {number}").of(number=number)
        if isinstance(row, dict) and "en" in row:
            name = f"`{row['en']}`"
        return GlossaryError(Text("term {name}: {what}").of(name=name, what=what), where=Location(path))

    if not isinstance(row, dict):
        raise wrong(Text("is not a mapping"))
    keys = _KEYS | {language}
    if unknown := sorted(map(str, set(row) - keys)):
        raise wrong(
            Text("unknown key `{unknown}`; the keys are {keys}").of(
                unknown=unknown[0], keys=", ".join(sorted(keys))
            )
        )
    english, part, first_use = row.get("en"), row.get("part", ""), row.get("first_use", True)
    if not isinstance(english, str) or not english.strip():
        raise wrong(Text("`en` must be a word"))
    if not isinstance(part, str) or part not in _PARTS or not isinstance(first_use, bool):
        raise wrong(Text("`part` is noun, verb or adjective, `first_use` true or false"))
    lists: dict[str, tuple[str, ...]] = {}
    for key in (language, "avoid", "forms"):
        words = row.get(key, [])
        if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
            raise wrong(Text("`{key}` must be a list of words").of(key=key))
        lists[key] = tuple(words)
    if not lists[language]:
        raise wrong(Text("`{language}` needs at least one form").of(language=language))
    note = str(row.get("note", ""))
    return Term(english, lists[language], lists["avoid"], lists["forms"], part, first_use, note)


def _check_terms(terms: tuple[Term, ...], path: Path) -> None:
    seen: set[str] = set()
    for term in terms:
        if term.english.lower() in seen:
            raise GlossaryError(
                Text("term `{english}` occurs twice").of(english=term.english), where=Location(path)
            )
        seen.add(term.english.lower())
        for rival in term.rivals:
            if any(form.startswith(rival) for form in term.accepted):
                what = Text("term `{english}`: `{rival}` is both accepted and to be avoided").of(
                    english=term.english, rival=rival
                )
                raise GlossaryError(what, where=Location(path), hint=Text("remove it from `avoid`"))


def prepare(terms: tuple[Term, ...], path: Path, language: str = "ko") -> Glossary:
    """The terms with their index of English phrases."""
    single: dict[str, int] = {}
    phrases: dict[Words, dict[Words, int]] = {}
    for number, term in enumerate(terms):
        for form in (term.english, *term.forms):
            for words in _inflections(form):
                if len(words) == 1:
                    single.setdefault(words[0], number)
                else:
                    phrases.setdefault(words[:2], {}).setdefault(words, number)
    ordered = {
        key: tuple(sorted(found.items(), key=lambda entry: -len(entry[0]))) for key, found in phrases.items()
    }
    starts = frozenset(single).union(first for first, _ in phrases)
    nested = tuple(
        frozenset(_terms_inside(tuple(_TOKEN.findall(term.english.lower())), single, phrases)) - {number}
        for number, term in enumerate(terms)
    )
    every = [form for term in terms for form in term.accepted]
    covers = {
        form: tuple((longer.index(form), longer) for longer in every if form in longer and form != longer)
        for term in terms
        for form in (*term.accepted, *term.rivals)
    }
    return Glossary(path, terms, starts, single, ordered, covers, nested, writing_of(language))


def _inflections(form: str) -> Iterator[Words]:
    words = tuple(_TOKEN.findall(form.lower()))
    *before, last = words
    yield words
    yield (*before, f"{last}s")
    if last.endswith(("s", "x", "ch", "sh")):
        yield (*before, f"{last}es")
    if last.endswith("y"):
        yield (*before, f"{last[:-1]}ies")


def _terms_inside(
    words: Words, single: Mapping[str, int], phrases: Mapping[Words, Mapping[Words, int]]
) -> Iterator[int]:
    for start, word in enumerate(words):
        if word in single:
            yield single[word]
        for phrase, number in phrases.get(words[start : start + 2], {}).items():
            if words[start : start + len(phrase)] == phrase:
                yield number


# ---- checking ----

# Words, and signs that end a phrase; spaces and hyphens join the words of one.
_TOKEN = re.compile(r"[a-z]+|[^a-z\s-]")


def check(source: Page, target: Page, glossary: Glossary) -> list[ParityFinding]:
    """Reports where the translation deviates from the glossary.

    Kinds: `glossary-missing` (warning): the source has the term, the translation none of its forms;
    `glossary-rival` (error): the translation has a form to avoid; `glossary-first-use` (warning): the first
    use in the text of the page is not followed by the English in parentheses; a table of contents is spared.

    In languages that put spaces between words, a form must start where a word starts; what follows it does
    not matter, because particles and endings are joined to the word. Code is ignored.
    """
    findings = Findings()
    needed = _terms_of(source.structure.prose, glossary)
    if not needed:
        return []
    present = needed.union(*(glossary.nested[number] for number in needed))
    text = _Text.of(target.structure.prose, glossary.writing)
    running_text = target.path.name not in _LISTS
    for number in sorted(present):
        term = glossary.terms[number]
        _check_rivals(term, glossary, source, text, findings)
        if number in needed and _check_use(term, source, text, findings) and term.first_use and running_text:
            _check_first_use(term, glossary, source, text, findings)
    return findings.found


def _terms_of(prose: Iterable[Prose], glossary: Glossary) -> set[int]:
    """The terms of an English text; of two that overlap the longer one counts."""
    words = _TOKEN.findall(" . ".join(block.text for block in prose).lower())
    words.append(".")  # so that every word has a next one
    starts, single, phrases = glossary.starts, glossary.words, glossary.phrases
    found: set[int] = set()
    skip = 0
    for index in [index for index, word in enumerate(words) if word in starts]:
        if index < skip:
            continue
        word = words[index]
        for phrase, number in phrases.get((word, words[index + 1]), ()):
            if tuple(words[index : index + len(phrase)]) == phrase:
                found.add(number)
                skip = index + len(phrase)
                break
        else:
            if word in single:
                found.add(single[word])
    return found


class _Text(Struct, frozen=True):
    """The translated text of a page in one string, with the offsets of its blocks."""

    whole: str
    blocks: tuple[tuple[int, Prose], ...]
    writing: WritingSystem

    @classmethod
    def of(cls, prose: Iterable[Prose], writing: WritingSystem) -> _Text:
        pieces: list[str] = []
        blocks: list[tuple[int, Prose]] = []
        length = 0
        for block in prose:
            blocks.append((length, block))
            pieces.append(block.text)
            length += len(block.text) + 1
        return cls("\n".join(pieces).replace("\n", " "), tuple(blocks), writing)

    def find(self, form: str, start: int = 0) -> int:
        """The next offset at which a word starts with this form, or -1."""
        whole = self.whole
        offset = whole.find(form, start)
        while offset > 0 and self.writing.spaced and self._is_letter(whole[offset - 1]):
            offset = whole.find(form, offset + 1)
        return offset

    def _is_letter(self, character: str) -> bool:
        """Whether a letter continues a word; Latin letters never continue another script: `GPU의`."""
        if self.writing.own_script:
            return self.writing.letters.match(character) is not None
        return character.isalpha()

    def occurrences(self, forms: Sequence[str]) -> Iterator[tuple[int, str]]:
        """The offsets of these forms, in order; of two forms at one offset the longer one."""
        offsets = {form: self.find(form) for form in sorted(forms, key=len)}
        while True:
            found = [(offset, -len(form), form) for form, offset in offsets.items() if offset >= 0]
            if not found:
                return
            offset, _, form = min(found)
            yield offset, form
            for other, at in offsets.items():
                if at == offset:
                    offsets[other] = self.find(other, offset + 1)

    def block(self, offset: int) -> tuple[int, Prose]:
        """The block that contains an offset, with the offset of its start."""
        return next(entry for entry in reversed(self.blocks) if entry[0] <= offset)

    def line(self, offset: int) -> int:
        start, block = self.block(offset)
        return block.line + block.text.count("\n", 0, offset - start)


def _check_rivals(term: Term, glossary: Glossary, source: Page, text: _Text, findings: Findings) -> None:
    for rival in term.rivals:
        offset = text.find(rival)
        while offset >= 0:
            if not _is_part(rival, offset, glossary, text):
                lines = (_source_line(term, source), text.line(offset))
                message = Text("`{rival}` is not used for {english}").of(rival=rival, english=term.english)
                hint = Text("write `{form}`").of(form=term.accepted[0])
                findings.error("glossary-rival", lines, message, hint=hint, subject=f"{term.english} {rival}")
            offset = text.find(rival, offset + len(rival))


def _is_part(form: str, offset: int, glossary: Glossary, text: _Text) -> bool:
    """Whether this use of a form is part of a longer accepted one, as `스레드` of `스레드 블록`."""
    return any(text.whole.startswith(longer, offset - at) for at, longer in glossary.covers[form])


def _check_use(term: Term, source: Page, text: _Text, findings: Findings) -> bool:
    """Whether the translation uses the term; reports it if it should and does not."""
    offsets = [offset for form in term.accepted if (offset := text.find(form)) >= 0]
    if not offsets:
        if any(word in text.whole.lower() for word in (term.english, *term.forms)):
            return False  # left in English on purpose, such as in a product name
        forms = joined([f"`{form}`" for form in term.accepted], Text(" nor "))
        lacking = (
            Text("the source has {english}, the translation lacks {forms}")
            if len(term.accepted) == 1
            else Text("the source has {english}, the translation has neither {forms}")
        )
        message = lacking.of(english=term.english, forms=forms)
        hint = Text("write `{form}`").of(form=term.accepted[0])
        lines = (_source_line(term, source), None)
        findings.warning("glossary-missing", lines, message, hint=hint, subject=term.english)
    return bool(offsets)


def _check_first_use(term: Term, glossary: Glossary, source: Page, text: _Text, findings: Findings) -> None:
    """The English must follow in parentheses at the first use in running text, or in a heading above it."""
    for offset, form in text.occurrences(term.accepted):
        if _has_english(term, text, offset + len(form)):
            return
        if text.block(offset)[1].kind != "heading" and not _is_part(form, offset, glossary, text):
            lines = (_source_line(term, source), text.line(offset))
            message = Text("the first use of `{form}` lacks the English").of(form=form)
            hint = Text("write `{form}`").of(form=f"{form}({term.english})")
            findings.warning("glossary-first-use", lines, message, hint=hint, subject=term.english)
            return


# An ending of the word, and the parentheses: `병합되고(coalesced)`; `（…）` in Japanese and Chinese.
_PARENTHESES = re.compile(r"([^(（]{0,4})[(（]([^)）]*)")


def _has_english(term: Term, text: _Text, offset: int) -> bool:
    """Whether parentheses with the English follow, directly or after the ending of the word."""
    whole = text.whole
    match = _PARENTHESES.match(whole, offset)
    if match is None or any(not character.isalpha() for character in match[1]):
        return False
    inside = match[2].lower()
    return any(form in inside for form in (term.english, *term.forms))


def _source_line(term: Term, source: Page) -> int | None:
    pattern = re.compile(
        r"\b(?:"
        + "|".join(re.escape(form).replace(r"\ ", r"[\s-]+") for form in (term.english, *term.forms))
        + ")",
        re.IGNORECASE,
    )
    for block in source.structure.prose:
        match = pattern.search(block.text)
        if match is not None:
            return block.line + block.text.count("\n", 0, match.start())
    return None
