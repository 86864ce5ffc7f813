"""Checks wording: source, glossary and style guide of translations; the spelling of product names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tooling.book.checks.context import CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.platform.errors import ToolingError
from tooling.platform.regular_files import read_text
from tooling.translations.parity import comparison, glossary
from tooling.translations.parity.findings import ParitySeverity

# Wrong form -> right one; wrong forms are matched as whole words, case included.
SPELLINGS = {
    "Nvidia": "NVIDIA",
    "nVidia": "NVIDIA",
    "Amd": "AMD",
    "Layout Tensor": "LayoutTensor",
    "Layouttensor": "LayoutTensor",
    "layout tensor": "LayoutTensor",
    "Tile Tensor": "TileTensor",
    "Tiletensor": "TileTensor",
    "tile tensor": "TileTensor",
    "Github": "GitHub",
    "Numpy": "NumPy",
    "Pytorch": "PyTorch",
    "Cuda": "CUDA",
    "MacOS": "macOS",
    "Pixi": "pixi",
    "thread-block": "thread block",
    "threadblock": "thread block",
    "gpu": "GPU",
    "cpu": "CPU",
    "simd": "SIMD",
    "mojo": "Mojo",
    "seperate": "separate",
    "recieve": "receive",
    "syncronise": "synchronise",
    "synchronize": "synchronise",
    "neighbor": "neighbour",
    "neighboring": "neighbouring",
    "color": "colour",
}
_EXCEPTIONS = re.compile(r"[Tt]hread-block clusters?")
_WRONG = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, SPELLINGS))})(?![\w/]|\.\w)")
_SHOWN_KINDS = {"glossary-rival", "glossary-missing"}


def check_spelling(context: CheckContext) -> Iterator[BookFinding]:
    """Product names in the text of both editions."""
    for chapter in context.chapters:
        for prose in chapter.page.structure.prose:
            text = _EXCEPTIONS.sub(lambda match: " " * len(match[0]), prose.text)
            for match in _WRONG.finditer(text):
                line = prose.line + text.count("\n", 0, match.start())
                right = SPELLINGS[match[0]]
                yield context.finding(chapter, line, "spelling", f"`{match[0]}`", f"write `{right}`")


def check_register(context: CheckContext) -> Iterator[BookFinding]:
    """Endings and words are those of the style guide of their language: `i18n/LANG/style.toml`."""
    for edition in context.editions[1:]:
        path = edition.folder.parent / "style.toml"
        try:
            rules = _style_rules(path)
        except (OSError, ValueError, LookupError, TypeError, re.error) as error:
            message = f"the rules of style cannot be read: {error}"
            hint = "each rule is a [[rule]] with a regular expression `wrong` and a text `write`"
            yield BookFinding(context.name(path), 0, "register", message, hint)
            continue
        for chapter in context.chapters_of(edition.language).values():
            for wrong, right in rules:
                for prose in chapter.page.structure.prose:
                    for match in wrong.finditer(prose.text):
                        line = prose.line + prose.text.count("\n", 0, match.start())
                        yield context.finding(chapter, line, "register", f"`{match[0]}`", f"write {right}")


def _style_rules(path: Path) -> list[tuple[re.Pattern[str], str]]:
    """The forms that a style guide forbids, and what to write instead; none where there is no file."""
    if not path.exists():
        return []
    rows = tomllib.loads(read_text(path))["rule"]
    return [(re.compile(row["wrong"]), str(row["write"])) for row in rows]


def check_translations(context: CheckContext) -> Iterator[BookFinding]:
    """Compares each translated page with its source: structure, and terms of the glossary."""
    source, *others = context.editions
    originals = context.chapters_of(source.language)
    for edition in others:
        translated = context.chapters_of(edition.language)
        if not translated:
            continue
        path = edition.folder.parent / "glossary.yaml"
        try:
            terms = glossary.load(path, edition.language)
        except ToolingError as error:
            yield BookFinding(
                context.name(path), 0, "glossary", f"{error.what} ({error.why})", error.hint or ""
            )
            continue
        if not terms.terms:
            hint = "add a term: the check of translations needs at least one"
            yield BookFinding(context.name(path), 0, "glossary", "the glossary has no terms", hint)
        for name, chapter in translated.items():
            original = originals.get(name)
            if original is None:
                continue
            for found in comparison.compare(
                original.page, chapter.page, context.library, language=edition.language
            ):
                if found.severity is ParitySeverity.ERROR:
                    yield context.finding(
                        chapter, found.line_target or 0, "parity", found.message, found.hint
                    )
            for found in glossary.check(original.page, chapter.page, terms):
                if found.kind in _SHOWN_KINDS:
                    yield context.finding(
                        chapter, found.line_target or 0, "glossary", found.message, found.hint
                    )
