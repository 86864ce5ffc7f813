"""Finds included code that has changed since the pin.

Both languages show the new code, so only the prose around it may be out of date. A text that the translation
has a copy of is different: the copy is older than the source.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tooling.mdbook.files import Files
from tooling.mdbook.includes import Directive, LineRange, find_directives, take
from tooling.mdbook.pages import Page
from tooling.platform.regular_files import read_regular
from tooling.text import Text
from tooling.translations.findings import TranslationFinding
from tooling.translations.git.pins import Answer, PinReader, Question
from tooling.translations.marker import read_marker
from tooling.translations.model import FreshnessSeverity, PageStatus
from tooling.translations.pages import blob_ids
from tooling.translations.roots import Roots


class IncludeUse(Struct, frozen=True):
    """A directive of the pinned source, the file that it names, and its line in the translation.

    Attributes:
        own: the file that the translation includes instead, without a marker; its state is that of the page.
    """

    page: str
    target: str
    commit: str
    file: str  # real path
    directive: Directive
    line: int | None
    own: str | None = None


def uses_of(status: PageStatus, pinned: Page, target: Page, files: Files) -> tuple[IncludeUse, ...]:
    """The includes of a page that can be compared with those at the pin, which must name a commit."""
    commit = (status.pin.commit if status.pin else None) or status.canonical
    if commit is None or "{{" not in pinned.text:
        return ()
    lines = {
        (files.real(target.path.parent, one.path), one.selector): target.text.count("\n", 0, one.start) + 1
        for one in find_directives(target.text)
        if one.includes
    }
    found: list[IncludeUse] = []
    for directive in find_directives(pinned.text):
        if directive.includes:
            file = files.real(pinned.path.parent, directive.path)
            line = lines.get((file, directive.selector))
            own = None if line is not None else _own_copy(file, pinned, target, files)
            if own is not None:
                line = lines.get((own, directive.selector))
            use = IncludeUse(status.key, status.target or status.key, commit, file, directive, line, own)
            found.append(use)
    return tuple(found)


def _own_copy(file: str, pinned: Page, target: Page, files: Files) -> str | None:
    """The translation of an included text; None where it has none, or one with a marker of its own."""
    root = os.path.realpath(pinned.root) + os.sep
    if not file.endswith(".md") or not file.startswith(root):
        return None
    own = files.real(target.root, file.removeprefix(root))
    if own == file or not files.exists(own):
        return None
    try:
        text = files.text_once(own)
    except (OSError, UnicodeDecodeError):
        return None  # reported by the check of includes
    return own if read_marker(text.encode()).line is None else None


def included_paths(page: Page, files: Files, top: Path) -> frozenset[str]:
    """The files of the checkout that a page includes, by path from its top folder."""
    prefix = os.path.realpath(top) + os.sep
    real = {files.real(page.path.parent, one.path) for one in find_directives(page.text) if one.includes}
    return frozenset(Path(path).relative_to(prefix).as_posix() for path in real if path.startswith(prefix))


def find_drift(
    reader: PinReader, top: Path, roots: Roots, uses: Sequence[IncludeUse]
) -> tuple[list[TranslationFinding], frozenset[str]]:
    """The uses whose included lines have changed since the pin, and the pinned commits not in this clone.

    Files outside the checkout are skipped.

    Raises:
        GitError: git ended without answering.
    """
    real_top = os.path.realpath(top)
    inside = [use for use in uses if use.file.startswith(real_top + os.sep)]
    questions = {
        (use.commit, use.file): Question(use.commit, Path(use.file).relative_to(real_top).as_posix())
        for use in inside
    }
    answers = dict(zip(questions, reader.resolve(list(questions.values())), strict=True))
    today = {file: _read(file) for file in {use.file for use in inside}}
    ids = {file: blob_ids(data) for file, data in today.items() if data is not None}
    changed = [
        (use, blob)
        for use in inside
        if (blob := answers[use.commit, use.file].blob) is not None and blob not in ids.get(use.file, (blob,))
    ]
    texts = reader.texts(blob for _, blob in changed)
    findings: list[TranslationFinding] = []
    for use, blob in changed:
        now, then = today[use.file], texts.get(blob)
        if now is not None and then is not None and _shown(use.directive, then) != _shown(use.directive, now):
            findings.append(_finding(use, roots))
    return findings, frozenset(
        question.commit
        for question, answer in zip(questions.values(), answers.values(), strict=True)
        if answer.answer is Answer.NO_COMMIT
    )


def _read(file: str) -> bytes | None:
    try:
        return read_regular(file)
    except OSError:
        return None  # a missing file is an error of its own, reported by the check of includes


def _shown(directive: Directive, data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return take(directive.kind, directive.selector, text).text


def _finding(use: IncludeUse, roots: Roots) -> TranslationFinding:
    selector = use.directive.selector
    anchor = "" if isinstance(selector, LineRange) else f":{selector}"
    name = f"{roots.name(Path(use.file))}{anchor}"
    shown = f"git diff {use.commit[:12]} -- {shlex.quote(roots.name(Path(use.file)))}"
    if use.own is not None:
        return TranslationFinding(
            "include:fragment",
            FreshnessSeverity.ERROR,
            use.page,
            use.target,
            use.line,
            None,
            Text("the included text {name} changed since the pin; the translation includes {own}").of(
                name=name, own=roots.name(Path(use.own))
            ),
            Text("{shown}; translate it, then {command}").of(
                shown=shown, command=roots.command("stamp", roots.target_argument(use.page))
            ),
            f"include:fragment/{use.page}/{name}",
        )
    return TranslationFinding(
        "include:drift",
        FreshnessSeverity.INFO,
        use.page,
        use.target,
        use.line,
        None,
        Text("included code changed since the pin: {name}").of(name=name),
        Text("{shown}; reread the prose around it, then {command}").of(
            shown=shown, command=roots.command("stamp", "--reviewed", roots.target_argument(use.page))
        ),
        f"include:drift/{use.page}/{name}",
    )
