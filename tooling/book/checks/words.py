"""Checks wording: source, glossary and style guide of translations; the spelling of product names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tooling.book.checks.context import CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.platform.errors import ToolingError
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
# Per language: forms that the style guide of the edition forbids, and what to write instead.
_STYLE: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "ko": (
        (
            re.compile(r"[가-힣]*(?:세요|까요|나요|가요|어요|아요|해요|에요|예요|네요|죠)(?![가-힣])"),
            "~합니다",
        ),
        (re.compile(r"[가-힣]*니까\?"), "a task (~합니다), or in a heading ~할까"),
        (re.compile(r"까닭"), "이유"),
        (re.compile(r"여러분"), "the sentence without it, or 직접"),
        (re.compile(r"기대값"), "기댓값"),
        (re.compile(r"실행 모양"), "실행 구성"),
        (re.compile(r"(?<![가-힣])제 (?:번호|인덱스|원소|자리|칸)"), "자기"),
    ),
}
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
    """Endings and words are those of the style guide of their language."""
    for chapter in context.chapters:
        for forbidden, right in _STYLE.get(chapter.edition.language, ()):
            for prose in chapter.page.structure.prose:
                for match in forbidden.finditer(prose.text):
                    line = prose.line + prose.text.count("\n", 0, match.start())
                    yield context.finding(chapter, line, "register", f"`{match[0]}`", f"write {right}")


def check_translations(context: CheckContext) -> Iterator[BookFinding]:
    """Compares each translated page with its source: structure, and terms of the glossary."""
    source, *others = context.editions
    originals = context.chapters_of(source.language)
    for edition in others:
        translated = context.chapters_of(edition.language)
        if not translated:
            continue  # a newly added language has no terms yet
        path = edition.folder.parent / "glossary.yaml"
        try:
            terms = glossary.load(path)
        except ToolingError as error:
            yield BookFinding(
                context.name(path), 0, "glossary", f"{error.what} ({error.why})", error.hint or ""
            )
            continue
        for name, chapter in translated.items():
            original = originals.get(name)
            if original is None:
                continue
            for found in comparison.compare(original.page, chapter.page, context.library):
                if found.severity is ParitySeverity.ERROR:
                    yield context.finding(
                        chapter, found.line_target or 0, "parity", found.message, found.hint
                    )
            for found in glossary.check(original.page, chapter.page, terms):
                if found.kind in _SHOWN_KINDS:
                    yield context.finding(
                        chapter, found.line_target or 0, "glossary", found.message, found.hint
                    )
