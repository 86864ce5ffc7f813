"""Does a translated page say what its source says, in the same shape?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tooling.mdbook import expansion
from tooling.mdbook.books import Library, LinkFault
from tooling.mdbook.files import Files
from tooling.mdbook.pages import Page
from tooling.translations import parity_blocks, parity_links, parity_prose, parity_text
from tooling.translations.parity_findings import Findings, Lines, ParityFinding, Severity
from tooling.translations.parity_names import Names
from tooling.translations.parity_pair import Pair

__all__ = ["ParityFinding", "Severity", "compare", "inspect_source"]


def compare(source: Page, target: Page, library: Library | None = None) -> list[ParityFinding]:
    """The differences between a page and its translation, in the order of the translated page's lines.

    Compare with the source **at the commit that the translation names**: a difference there is a mistake of
    the translation, while a later change of the source is drift.

    Args:
        source: the source page (its text may come from history).
        target: the translated page.
        library: the files of both books; with it, includes, links, fragments and pictures of the translated
            page are followed. Make one per run and pass it to every call: it remembers what it read.
    """
    findings = Findings()
    names = Names.of(source, target, library.files if library is not None else Files())
    alignment = parity_blocks.compare(source, target, names, findings)
    pair = Pair(source, target, names, alignment, library, findings)
    parity_links.compare_directives(pair)
    parity_links.compare_links(pair)
    parity_text.compare_formulas(pair)
    parity_text.compare_codes(pair)
    parity_text.compare_numbers(pair)
    parity_prose.compare_prose(pair)
    if library is not None:
        for end in _dead_ends(target, library):
            end.report(alignment.at_target(end.line), findings)
    return sorted(findings.found, key=lambda finding: finding.line_target or 0)


def inspect_source(source: Page, library: Library) -> list[ParityFinding]:
    """What leads nowhere in a source page: the check of includes, links and pictures, without a partner."""
    findings = Findings()
    for end in _dead_ends(source, library):
        end.report((end.line, None), findings)
    return findings.found


@dataclass(frozen=True, slots=True)
class _DeadEnd:
    """A directive, link or picture that leads nowhere."""

    kind: str
    line: int
    message: str
    hint: str
    subject: str
    fatal: bool = True

    def report(self, lines: Lines, findings: Findings) -> None:
        add = findings.error if self.fatal else findings.warning
        add(self.kind, lines, self.message, hint=self.hint, subject=self.subject)


def _dead_ends(page: Page, library: Library) -> Iterator[_DeadEnd]:
    problems, _ = expansion.check(page.text, page.path, library.files)
    own = library.files.real(page.folder, page.path.name)
    for problem in problems:
        # A place inside an included file is named in the message; the page itself has no line for it.
        inside = str(problem.where.path) not in (own, str(page.path))
        message = f"{problem.where}: {problem.message}" if inside else problem.message
        line = 1 if inside else problem.where.line or 1
        kind = f"include-{problem.fault}"
        yield _DeadEnd(kind, line, message, problem.hint, problem.message, problem.fatal)
    for link in library.check(page):
        fatal = link.fault is not LinkFault.UNTRANSLATED_PAGE  # that page is reported as missing, too
        yield _DeadEnd(f"link-{link.fault}", link.line, link.message, link.hint, link.target, fatal)
