"""Expands the directives of a page, and reports the faults that mdBook would not report.

mdBook reports a missing file on stderr and goes on with exit status 0; a missing anchor it does not report at
all. Here each of them is a problem with its position.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field

from tooling.mdbook import rust
from tooling.mdbook.anchors import Region
from tooling.mdbook.files import Files
from tooling.mdbook.includes import (
    WHOLE_FILE,
    Directive,
    Excerpt,
    Kind,
    LineRange,
    find_directives,
    take,
)
from tooling.platform.errors import Location
from tooling.platform.regular_files import NotRegular, OutsideRoot
from tooling.text import ENGLISH, Text

DEPTH_LIMIT = 10


class Fault(StrEnum):
    """The kinds of faults of directives."""

    MISSING_FILE = "missing-file"
    NOT_TEXT = "not-text"
    MISSING_ANCHOR = "missing-anchor"
    UNCLOSED_ANCHOR = "unclosed-anchor"
    DUPLICATED_ANCHOR = "duplicated-anchor"
    DEPTH = "depth"
    EMPTY_RANGE = "empty-range"
    MISSPELT = "misspelt"
    OLD_NAME = "old-name"


class IncludeProblem(Struct, frozen=True):
    """A directive that does not show what its author intended.

    Attributes:
        fault: its kind.
        where: the directive's position in its file.
        message: what is wrong, in one sentence.
        hint: what to do.
        fatal: False for what only resembles a mistake.
    """

    fault: Fault
    where: Location
    message: Text
    hint: Text
    fatal: bool = True

    def __str__(self) -> str:
        return f"{self.where}: {self.message.render(ENGLISH)}\n  try: {self.hint.render(ENGLISH)}"


class Use(Struct, frozen=True):
    """One file, or one anchor of a file, that a page shows."""

    path: str  # real path
    anchor: str | None


class Expansion(Struct, frozen=True):
    """A page as mdBook's `links` preprocessor leaves it.

    Attributes:
        text: the expanded Markdown.
        title: the text of the last `{{#title …}}`; None where there is none.
        problems: all problems, in the order of the page.
        uses: what was included, nested includes too.
    """

    text: str
    title: str | None
    problems: tuple[IncludeProblem, ...]
    uses: frozenset[Use]


class _Frame(Struct, frozen=True):
    """The text being expanded, and the origin of its lines."""

    text: str
    folder: Path
    file: Path
    depth: int
    numbers: tuple[int, ...] | None = None  # line numbers in the file, where the text is an excerpt
    hidden: tuple[bool, ...] = ()

    def location(self, offset: int) -> Location:
        row = self.text.count("\n", 0, offset)
        column = offset - (self.text.rfind("\n", 0, offset) + 1)
        if self.numbers is None:
            return Location(self.file, row + 1, column + 1)
        hidden = bool(self.hidden) and self.hidden[row]
        return Location(self.file, self.numbers[row], column + 1 - (2 if hidden else 0))


class _Expander(Struct):
    files: Files
    only_check: bool = False  # then the texts of files without directives are not joined
    problems: list[IncludeProblem] = field(default_factory=list)
    uses: set[Use] = field(default_factory=set)
    title: str | None = None

    def expand(self, frame: _Frame) -> str:
        self._check_likely_directives(frame)
        pieces: list[str] = []
        done = 0
        for directive in find_directives(frame.text):
            if directive.kind is Kind.OTHER:
                continue
            replacement = self._replace(directive, frame)
            if replacement is not None:
                pieces += (frame.text[done : directive.start], replacement)
                done = directive.end
        pieces.append(frame.text[done:])
        return "".join(pieces)

    def _replace(self, directive: Directive, frame: _Frame) -> str | None:
        """The text that replaces a directive; None where mdBook leaves the directive as it is."""
        if directive.kind is Kind.ESCAPED:
            # The text of an escape is never expanded again, but mdBook applies the depth limit to it too.
            return directive.text[1:] if frame.depth < DEPTH_LIMIT else ""
        if directive.kind is Kind.TITLE:
            self.title = directive.argument
            return ""
        target = os.path.join(frame.folder, directive.path)  # noqa: PTH118 -- `..` must stay
        real = self.files.real(frame.folder, directive.path)
        try:
            content = self.files.text(real)
        except (OSError, UnicodeDecodeError) as error:
            self._report_unreadable(directive, frame, target, error)
            return None
        if frame.depth >= DEPTH_LIMIT:
            self._report(
                Fault.DEPTH,
                directive,
                frame,
                Text("includes are nested more than {limit} deep, so the inner text is dropped").of(
                    limit=DEPTH_LIMIT
                ),
                Text("a file must not include itself, directly or through others"),
            )
            return ""
        self._check_selector(directive, frame, real, content)
        if self.only_check and "{{" not in content:
            return ""
        excerpt = self._excerpt(directive, content)
        nested = _Frame(
            excerpt.text,
            Path(target).parent,
            Path(real),
            frame.depth + 1,
            excerpt.numbers,
            excerpt.hidden,
        )
        return self.expand(nested)

    def _excerpt(self, directive: Directive, content: str) -> Excerpt:
        if directive.kind is not Kind.PLAYGROUND:
            return take(directive.kind, directive.selector, content)
        if not content.endswith("\n"):
            content += "\n"
        info = ",".join(("rust", *directive.attributes))
        count = content.count("\n")
        return Excerpt(f"```{info}\n{content}```\n", (1, *range(1, count + 1), count, count), ())

    def _check_selector(self, directive: Directive, frame: _Frame, real: str, content: str) -> None:
        selector = directive.selector
        if isinstance(selector, LineRange):
            self.uses.add(Use(real, None))
            if selector != WHOLE_FILE and not _holds_lines(selector, content):
                self._report(
                    Fault.EMPTY_RANGE,
                    directive,
                    frame,
                    Text("no line of {file} is in the requested range").of(file=directive.path),
                    Text("give lines that exist, or better an anchor, which survives edits"),
                )
            return
        self.uses.add(Use(real, selector))
        regions = self.files.regions(real)
        found = regions.get(selector, ())
        if not found:
            names = ", ".join(sorted(regions)) or Text("none", context="anchors")
            self._report(
                Fault.MISSING_ANCHOR,
                directive,
                frame,
                Text("{file} has no anchor `{anchor}`; mdBook would show nothing, silently").of(
                    file=directive.path, anchor=selector
                ),
                Text(
                    "add `ANCHOR: {anchor}` and `ANCHOR_END: {anchor}`, or use one of its anchors: {names}"
                ).of(anchor=selector, names=names),
            )
        elif len(found) > 1 and directive.kind is not Kind.RUSTDOC_INCLUDE:  # that one shows all of them
            lines = ", ".join(str(region.opening) for region in found)
            self._report(
                Fault.DUPLICATED_ANCHOR,
                directive,
                frame,
                Text("{file} opens the anchor `{anchor}` more than once, in lines {lines}").of(
                    file=directive.path, anchor=selector, lines=lines
                ),
                Text("give each region a different name"),
            )
        elif found[0].closing is None:
            self._report(
                Fault.UNCLOSED_ANCHOR,
                directive,
                frame,
                Text(
                    "the anchor `{anchor}` of {file} is never closed; mdBook "
                    "would show everything to the end of the file"
                ).of(anchor=selector, file=f"{directive.path}:{found[0].opening}"),
                Text("add a line `ANCHOR_END: {anchor}`").of(anchor=selector),
            )
        elif directive.kind is Kind.INCLUDE and not take(directive.kind, selector, content).text.strip():
            where = f"{directive.path}:{found[0].opening}"
            message = Text("the anchor `{anchor}` of {file} encloses no text, so the page shows nothing").of(
                anchor=selector, file=where
            )
            hint = Text("move `ANCHOR_END: {anchor}` below the lines to show, or remove the directive").of(
                anchor=selector
            )
            self._report(Fault.EMPTY_RANGE, directive, frame, message, hint, fatal=False)

    def _report_unreadable(
        self, directive: Directive, frame: _Frame, target: str, error: OSError | UnicodeDecodeError
    ) -> None:
        if isinstance(error, UnicodeDecodeError):
            message, hint = (
                Text("{path} is not UTF-8 text").of(path=directive.path),
                Text("only text can be included"),
            )
            self._report(Fault.NOT_TEXT, directive, frame, message, hint)
            return
        if isinstance(error, IsADirectoryError):
            message, hint = Text("{path} is a folder").of(path=directive.path), Text("name a file in it")
        else:
            message = Text("there is no file {path}").of(path=os.path.normpath(target))
            hint = Text("paths start at the folder of the file that includes, {folder}").of(
                folder=str(frame.folder)
            )
            if not isinstance(error, FileNotFoundError):
                message = Text("{page} cannot be read: {why}").of(page=directive.path, why=error.strerror)
                if isinstance(error, (NotRegular, OutsideRoot)):
                    hint = Text("include a regular file of the checkout")
            elif len(directive.text.split()) > 2:
                hint = Text("{hint}; a path ends at its first space").of(hint=hint)
        self._report(Fault.MISSING_FILE, directive, frame, message, hint)

    def _report(
        self,
        fault: Fault,
        directive: Directive,
        frame: _Frame,
        message: Text,
        hint: Text,
        *,
        fatal: bool = True,
    ) -> None:
        self.problems.append(IncludeProblem(fault, frame.location(directive.start), message, hint, fatal))

    def _check_likely_directives(self, frame: _Frame) -> None:
        """Reports text that mdBook shows as it is although it was probably meant as a directive."""
        if "{{" not in frame.text:
            return
        known = {found.start: found for found in find_directives(frame.text) if found.kind is not Kind.OTHER}
        escaped = [(found.start, found.end) for found in known.values() if found.kind is Kind.ESCAPED]
        for match in _LIKE_A_DIRECTIVE.finditer(frame.text):
            directive = known.get(match.start())
            if directive is not None and directive.name == "playpen":
                message = Text("`playpen` is an old name")
                hint = Text("write `{form}`").of(form="playground")
                self._report_misspelt(Fault.OLD_NAME, match, frame, message, hint)
            elif directive is None and _means_one_of_ours(match.group(1)):
                if any(start <= match.start() < end for start, end in escaped):
                    continue
                self._report_misspelt(
                    Fault.MISSPELT,
                    match,
                    frame,
                    Text("`{found}…` is not a directive, so readers will see it as text").of(
                        found=match.group()
                    ),
                    Text("write `{{#include path:anchor}}`: no space after `#`, lower case, a path"),
                )

    def _report_misspelt(
        self, fault: Fault, match: re.Match[str], frame: _Frame, message: Text, hint: Text
    ) -> None:
        where = frame.location(match.start())
        self.problems.append(IncludeProblem(fault, where, message, hint, fatal=False))


_LIKE_A_DIRECTIVE = re.compile(r"\{\{\s*#\s*([A-Za-z_]+)")
_OURS = ("include", "rustdoc_include", "playground", "title")


def _means_one_of_ours(name: str) -> bool:
    import difflib  # noqa: PLC0415 - few pages contain braces that are not a directive

    return bool(difflib.get_close_matches(name.lower(), _OURS, n=1, cutoff=0.8))


def _holds_lines(selector: LineRange, content: str) -> bool:
    count = len(rust.lines(content))
    return selector.start < count and (selector.stop is None or selector.stop > selector.start)


def check(text: str, path: Path, files: Files) -> tuple[tuple[IncludeProblem, ...], frozenset[Use]]:
    """The problems and uses of a page, without its expanded text."""
    expander = _Expander(files, only_check=True)
    expander.expand(_Frame(text, path.parent, path, 0))
    return tuple(expander.problems), frozenset(expander.uses)


def unused_anchors(uses: Iterable[Use], paths: Iterable[Path], files: Files) -> list[tuple[Path, Region]]:
    """The regions of these files that no page shows, not counting includes of whole files.

    Raises:
        OSError, UnicodeDecodeError: one of the files cannot be read.
    """
    used = {(use.path, use.anchor) for use in uses if use.anchor is not None}
    unused: list[tuple[Path, Region]] = []
    for path in paths:
        real = files.real(path.parent, path.name)
        for name, found in files.regions(real).items():
            if (real, name) not in used:
                unused += [(path, region) for region in found]
    return unused


def expand(text: str, path: Path, files: Files) -> Expansion:
    """Expands the directives of a page exactly as mdBook 0.5.4 does.

    Args:
        text: the page.
        path: its file; paths in directives are taken from its folder.
        files: caches what is read.
    """
    expander = _Expander(files)
    expanded = expander.expand(_Frame(text, path.parent, path, 0))
    return Expansion(expanded, expander.title, tuple(expander.problems), frozenset(expander.uses))
