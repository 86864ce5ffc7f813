"""The findings of the checks of the book, and the list of their rules."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import Location

RULES = {
    "include": "every include shows the lines that its author intended",
    "directive": "every directive of the book is known and can be rendered",
    "link": "every link leads to a page that exists",
    "fragment": "every fragment names a heading",
    "image": "every picture exists",
    "alt": "every picture has an alternative text",
    "figure": "every figure is drawn from traces of the programs as they are now",
    "page-figure": "every page has a figure or a replay, and no figure is on two pages",
    "formula": "every formula is recorded as it would be drawn now",
    "full-file": "every `View full file` names, in link and label, the file of the code above it",
    "version": "commands and outputs are those of the program whose code is shown",
    "repository": "the repository's address is written in one file and nowhere else",
    "command": "every command names a task, an environment and flags that exist",
    "vendor": "no page offers a command for a GPU that cannot run it",
    "output": "every output was recorded with the program as it is now",
    "replay": "a page about threads that work together has replays of the solution and of a wrong answer",
    "pasted-output": "no output is typed by hand",
    "cause": "a sentence that explains a measured time names the record that shows it",
    "identifier": "names of code in the text exist in the code",
    "summary": "both editions have the same chapters in the same order, and all of them exist",
    "title": "titles agree with the contents and with the puzzle's manifest",
    "orphan": "no chapter file is left out of the contents",
    "unused-file": "no picture, figure or recording is unused",
    "unused-anchor": "no anchor of a program is left unused",
    "headings": "one first heading, and no level skipped",
    "fence": "every code block names its language and is closed",
    "marker": "a translated page begins with the blob of its source, and its commit once there is one",
    "parity": "a translated page has the shape of its source",
    "glossary": "terms are translated as the glossary says",
    "spelling": "product names are spelled as their owners spell them",
    "manifest-language": "a manifest's texts are in every language in which the puzzle has a page",
    "manifest-text": "hints, and the other texts of a manifest, have their code between backticks",
    "register": "sentences end as the style guide of their language says",
    "parts": "a page with a puzzle has its commands, its output, its tips and its solution",
    "html": "the built pages are valid HTML",
    "emphasis": "no asterisk that was meant as emphasis is shown",
    "site": "every link, picture and fragment of the built site has a target",
}


class BookFinding(Struct, frozen=True, order=True):
    """One finding.

    Attributes:
        path: the file, relative to the checkout.
        line: counted from 1; 0 where the whole file is meant.
        rule: a key of RULES.
        message: what is wrong.
        hint: what to do; may be empty.
        column: counted from 1; 0 where the whole line is meant.
    """

    path: str
    line: int
    rule: str
    message: str
    hint: str = ""
    column: int = 0

    def __str__(self) -> str:
        location = Location(Path(self.path), self.line or None, self.column or None)
        hint = f"\n  try: {self.hint}" if self.hint else ""
        return f"{location}: [{self.rule}] {self.message}{hint}"


class Report(Struct, frozen=True):
    """All findings of a run.

    Attributes:
        findings: in the order of files and lines.
        chapters: how many chapter files were looked at.
        pages: how many built pages were looked at.
        rules: how many rules were applied.
        unchecked: why the site was not checked; empty if it was.
    """

    findings: tuple[BookFinding, ...]
    chapters: int
    pages: int
    rules: int = len(RULES)
    unchecked: str = ""

    def as_text(self) -> str:
        """For people."""
        chapters = f"{self.chapters} chapter{'s' if self.chapters != 1 else ''}"
        scope = f"{chapters} and {self.pages} built pages, {self.rules} rules"
        if self.unchecked:
            scope = f"{chapters}, {self.rules} rules; the site was not checked: {self.unchecked}"
        if not self.findings:
            return f"nothing found in {scope}"
        counts = Counter(finding.rule for finding in self.findings)
        summary = ", ".join(f"{count} {rule}" for rule, count in counts.most_common())
        number = f"{len(self.findings)} finding{'s' if len(self.findings) > 1 else ''}"
        return "\n".join([*map(str, self.findings), f"{number} ({summary}) in {scope}"])

    def as_json(self) -> str:
        """For programs."""
        rows = [
            {key: getattr(finding, key) for key in ("path", "line", "column", "rule", "message", "hint")}
            for finding in self.findings
        ]
        return json.dumps(
            {
                "chapters": self.chapters,
                "pages": self.pages,
                "site_unchecked": self.unchecked or None,
                "findings": rows,
            },
            ensure_ascii=False,
            indent=2,
        )
