"""Compares a translated page with its source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from tooling.mdbook import expansion
from tooling.mdbook.books import Library, LinkFault
from tooling.mdbook.files import Files
from tooling.mdbook.pages import Page
from tooling.text import ENGLISH, Sentence, Text, joined
from tooling.translations.parity import blocks, details, links, prose, text
from tooling.translations.parity.findings import Findings, Lines, ParityFinding, ParitySeverity
from tooling.translations.parity.names import Names
from tooling.translations.parity.notes import without_notes
from tooling.translations.parity.pair import ComparedPages
from tooling.translations.writing_systems import writing_of

__all__ = ["ParityFinding", "ParitySeverity", "compare", "inspect_source", "inspect_translation"]


def compare(
    source: Page, target: Page, library: Library | None = None, *, language: str = "ko"
) -> list[ParityFinding]:
    """The differences between a page and its translation, in the order of the translated page's lines.

    Compare with the source **at the commit that the translation names**: a difference there is an error of
    the translation, while a later change of the source is drift.

    Args:
        source: the source page (its text may come from history).
        target: the translated page.
        library: the files of both books; with it, includes, links, fragments and pictures of the translated
            page are followed. Create one per run and pass it to every call: it caches what it reads.
        language: the code of the translation's language.
    """
    findings = Findings()
    writing = writing_of(language)
    target = without_notes(target)
    names = Names.of(source, target, library.files if library is not None else Files())
    alignment = blocks.compare(source, target, names, findings, writing)
    pair = ComparedPages(source, target, names, alignment, library, findings, writing)
    links.compare_directives(pair)
    links.compare_links(pair)
    text.compare_active_content(pair)
    text.compare_formulas(pair)
    text.compare_codes(pair)
    text.compare_numbers(pair)
    prose.compare_prose(pair)
    prose.compare_short_texts(pair)
    details.compare_details(pair)
    details.inspect(target, findings, in_source=False, code=writing.code)
    if library is not None:
        for end in _dead_ends(target, library):
            end.report(alignment.at_target(end.line), findings)
    return sorted(findings.found, key=lambda finding: finding.line_target or 0)


def inspect_source(source: Page, library: Library) -> list[ParityFinding]:
    """Checks the includes, links and pictures of a source page alone, and that its letters are English."""
    findings = Findings()
    details.inspect(source, findings, in_source=True)
    prose.inspect_letters(source, findings)
    for end in _dead_ends(source, library):
        end.report((end.line, None), findings)
    return findings.found


def inspect_translation(target: Page, library: Library, language: str) -> list[ParityFinding]:
    """Checks a translated page alone, whose source text is not known."""
    findings = Findings()
    details.inspect(target, findings, in_source=False, code=writing_of(language).code)
    for end in _dead_ends(target, library):
        end.report((None, end.line), findings)
    return findings.found


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SCHEMES = frozenset({"http", "https", "mailto", "tel", "ftp", "data", "javascript", "vbscript"})
"""The last three are active content, which is compared for itself."""


class _DeadEnd(Struct, frozen=True):
    """A directive, link or picture whose target does not exist."""

    kind: str
    line: int
    message: str | Sentence
    hint: str | Sentence
    subject: str
    fatal: bool = True

    def report(self, lines: Lines, findings: Findings) -> None:
        add = findings.error if self.fatal else findings.warning
        add(self.kind, lines, self.message, hint=self.hint, subject=self.subject)


def _dead_ends(page: Page, library: Library) -> Iterator[_DeadEnd]:
    problems, _ = expansion.check(page.text, page.path, library.files)
    own = library.files.real(page.folder, page.path.name)
    for problem in problems:
        # A position in an included file is part of the message; the page itself has no line for it.
        inside = str(problem.where.path) not in (own, str(page.path))
        message = joined((f"{problem.where}: ", problem.message), "") if inside else problem.message
        line = 1 if inside else problem.where.line or 1
        kind = f"include-{problem.fault}"
        subject = problem.message.render(ENGLISH)
        yield _DeadEnd(kind, line, message, problem.hint, subject, problem.fatal)
    for link in page.structure.links:
        scheme = _SCHEME.match(link.target)
        if scheme is not None and scheme[1].lower() not in _SCHEMES:
            unknown = Text("`{found}` of {target} is not the scheme of an address").of(
                found=scheme.group(), target=link.target
            )
            hint = Text("write https://, or the path of a page")
            yield _DeadEnd("link-scheme", link.line, unknown, hint, link.target)
    for fault in library.check(page):
        fatal = fault.fault is not LinkFault.UNTRANSLATED_PAGE  # that page is reported as missing, too
        yield _DeadEnd(f"link-{fault.fault}", fault.line, fault.message, fault.hint, fault.target, fatal)
