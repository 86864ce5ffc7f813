"""Checks that the texts of the manifests have their code between backticks and their signs as in print."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml
from msgspec import Struct

from tooling.book.checks.context import CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.catalog.model import Puzzle
from tooling.catalog.nodes import read_document
from tooling.platform.regular_files import read_text
from tooling.text import ENGLISH, languages

_SPAN = re.compile(r"`[^`]*`")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_CODE = re.compile(
    r"""
      (?<!-) --[a-z][a-z-]*                                              # --tiled
    | [A-Za-z_][\w.]* (?: \([\x20-\x7e]*?\) | \[[\x20-\x7e]+?\] )       # barrier(), a[i]
    | \[[\x20-\x7e]+?\] | \{[\x20-\x7e]+?\}                              # [0], {imm}
    | \w*[A-Za-z0-9]_[\w.]*\w                                            # thread_idx.x
    | (?<![\w./]) [A-Za-z]\w+ (?: [./] [a-z]\w+ )* \. [a-z]\w+           # warp.sum
    | \b (?: U?Int\d* | Float\d+ | u?int\d+ | b?float\d+ ) \b            # Int32, float32
    """,
    re.VERBOSE | re.ASCII,
)
_OPERATION = re.compile(r"(?:\w+|[])`])(?: (?:[<>=!+*]=|//|[<>=+*/%^-]) (?:-?\w+|[`(\[]))+", re.ASCII)
_TERMS = {"CDNA", "tf32"}
"""Names that are terms of a text as well."""
_TUPLE = re.compile(r"\((\w+(?:, \w+)+)\)", re.ASCII)
_TIMES = re.compile(r"(?:\d|`) x (?=\d|`)", re.ASCII)
_MINUS = re.compile(r"(?:(?<=\d) - |(?<![\w`-])-)(?=\d)", re.ASCII)
_DEFINED = re.compile(r"^\s*(?:@\w+\s+)?(?:comptime|var|for|def)\s+(\w+)|^(\w+)\s*=", re.MULTILINE)
_PARAMETER = re.compile(r"(?<=[(\[,\n])\s*(?:mut |out |imm |var )?(\w+)\s*:\s*\w", re.ASCII)


class Mistake(Struct, frozen=True, order=True):
    """A run of letters of a text that is not written as pages need it.

    Attributes:
        start, end: its offsets in the text.
        sign: the sign of print that it should have; empty where it should be between backticks.
    """

    start: int
    end: int
    sign: str = ""


def check_manifest_texts(context: CheckContext) -> Iterator[BookFinding]:
    """Hints, and what else a manifest says in several languages."""
    for puzzle in context.puzzles:
        names = _names(puzzle)
        source = read_text(puzzle.manifest).split("\n")
        document = read_document(puzzle.manifest).node
        yield from _untranslated(context, puzzle, document)
        for language, node in _texts(document):
            text, positions = _flattened(source, node)
            for mistake in mistakes(text, names, language):
                line, column = positions[mistake.start]
                shown = text[mistake.start : mistake.end]
                if mistake.sign:
                    message = f"`{shown}` ({language}) has a character of code in place of {mistake.sign}"
                    hint = f"write {mistake.sign}; if it is code, write it between backticks"
                else:
                    message = (
                        f"`{shown}` ({language}) is code outside of backticks, and pages show it like a word"
                    )
                    hint = "write it between backticks"
                yield BookFinding(context.name(puzzle.manifest), line, "manifest-text", message, hint, column)


def mistakes(text: str, names: frozenset[str], language: str) -> list[Mistake]:
    """The code in a text that is not between backticks, and characters of code in place of signs.

    Args:
        names: of the puzzle's programs. In English, a word of the language such as `a` or `total` is not
            taken for one; in other languages, such words are code.
    """
    prose = _SPAN.sub(lambda span: f"`{' ' * (len(span[0]) - 2)}`", text)
    found: list[Mistake] = []
    for start, end in sorted(_code(prose, names, language)):
        if found and start <= found[-1].end:
            found[-1] = Mistake(found[-1].start, max(end, found[-1].end))
        else:
            found.append(Mistake(start, end))
    for pattern, sign in ((_TIMES, "×"), (_MINUS, "−")):
        for match in pattern.finditer(prose):
            if not any(each.start < match.end() and match.start() < each.end for each in found):
                found.append(Mistake(match.start(), match.end() + 1, sign))
    return sorted(found)


def _code(prose: str, names: frozenset[str], language: str) -> Iterator[tuple[int, int]]:
    """Where code is; an expression may be found in several pieces."""
    for match in _CODE.finditer(prose):
        yield match.span()
    for match in _NAME.finditer(prose):
        # A term in brackets behind its translation is no code, as in 구간(bin).
        in_brackets = prose[: match.start()].endswith("(") and prose[match.end() :].startswith(")")
        if match[0] in names and not in_brackets and (language != ENGLISH or _is_no_word(match[0])):
            yield match.span()
    for match in _OPERATION.finditer(prose):
        if re.search(r"[][()`]", match[0]) or not names.isdisjoint(_NAME.findall(match[0])):
            yield match.span()
    for match in _TUPLE.finditer(prose):
        if names.issuperset(match[1].split(", ")):
            yield match.span()


def _is_no_word(name: str) -> bool:
    """Whether a name cannot be a word of an English text."""
    return (len(name) == 1 and name not in "aAI") or not name.isalpha() or not name.islower()


def _names(puzzle: Puzzle) -> frozenset[str]:
    """The constants, functions, parameters and variables of a puzzle's programs."""
    found: set[str] = set()
    for program in puzzle.programs:
        for source in program.sources:
            for path in (source.problem, source.solution):
                code = read_text(path)
                found.update(*_DEFINED.findall(code), _PARAMETER.findall(code))
    return frozenset(found - _TERMS - {"", "_"})


def _texts(node: yaml.Node) -> Iterator[tuple[str, yaml.ScalarNode]]:
    """The texts of a manifest that are given by language."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _texts(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value in languages() and isinstance(value, yaml.ScalarNode):
                yield key.value, value
            else:
                yield from _texts(value)


def _untranslated(context: CheckContext, puzzle: Puzzle, document: yaml.Node) -> Iterator[BookFinding]:
    """The texts that lack a language in which the book has the puzzle's page."""
    wanted = [
        edition for edition in context.editions if puzzle.chapters[0] in context.chapters_of(edition.language)
    ]
    for node in _local_texts(document):
        present = {key.value for key, _ in node.value}
        for edition in wanted:
            if edition.language not in present:
                position = node.start_mark
                yield BookFinding(
                    context.name(puzzle.manifest),
                    position.line + 1,
                    "manifest-language",
                    f"this text has no version in {edition.name}, and the puzzle's page has one",
                    f"add the key `{edition.language}`",
                    position.column + 1,
                )


def _local_texts(node: yaml.Node) -> Iterator[yaml.MappingNode]:
    """The texts of a manifest that are given by language, each with all its languages."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _local_texts(item)
    elif isinstance(node, yaml.MappingNode):
        if any(key.value == ENGLISH for key, _ in node.value):
            yield node
        for _, value in node.value:
            yield from _local_texts(value)


def _flattened(source: list[str], node: yaml.ScalarNode) -> tuple[str, list[tuple[int, int]]]:
    """A text in one line, and the line and column of each of its letters in the file."""
    first, last = node.start_mark, node.end_mark
    text = ""
    positions: list[tuple[int, int]] = []
    for line in range(first.line, last.line + 1):
        written = source[line] if line < last.line else source[line][: last.column] if last.column else ""
        begin = first.column if line == first.line else len(written) - len(written.lstrip())
        if line == first.line and node.style in (">", "|"):
            continue  # the mark of a folded text, such as `>-`
        letters = written[begin:].rstrip()
        text += f" {letters}" if text else letters
        positions += [(line + 1, begin + column) for column in range(0 if positions else 1, len(letters) + 1)]
    return text, positions
