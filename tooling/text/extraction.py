"""Extracts the sentences of the tool, and checks and updates catalogues.

Every call `Text("…")` in the syntax trees is a sentence.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from msgspec import Struct

from tooling.text.catalogues import FOLDER, catalogue_files
from tooling.text.sentences import Text


class CatalogueProblem(Struct, frozen=True):
    """A problem with one entry of a catalogue."""

    file: Path
    line: int
    message: str


def sentences(root: Path) -> dict[Text, list[str]]:
    """Every sentence of the Python files below a folder, with its files.

    Raises:
        ValueError: a sentence is not a literal, so it cannot be translated.
    """
    found: dict[Text, list[str]] = {}
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        for call in _calls(ast.parse(path.read_text(encoding="utf-8"))):
            names = ("english", "plural", "context")
            arguments = dict(zip(names, call.args, strict=False))
            arguments |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg in names}
            try:
                text = Text(**{key: ast.literal_eval(value) for key, value in arguments.items()})
            except ValueError:
                raise ValueError(f"{name}:{call.lineno}: a sentence must be a literal") from None
            files = found.setdefault(text, [])
            if name not in files:
                files.append(name)
    return found


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    nodes = list(ast.walk(tree))
    if not any(isinstance(node, ast.ImportFrom) and node.module == "tooling.text" for node in nodes):
        return  # another class named `Text`
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Text":
            yield node


def check_catalogue(file: Path, known: dict[Text, list[str]]) -> list[CatalogueProblem]:
    """Missing and unused entries of a catalogue, and translations with facts that the sentence lacks."""
    import polib  # noqa: PLC0415 - English runs do not need it

    problems = []
    missing = dict(known)
    for entry in polib.pofile(str(file), encoding="utf-8"):
        text = Text(entry.msgid, entry.msgid_plural or "", entry.msgctxt or "")
        versions = list(entry.msgstr_plural.values()) if text.plural else [entry.msgstr]
        if text not in known:
            message = "the tool no longer has this sentence"
        elif not all(versions) or entry.fuzzy:
            message = "not translated"
        elif any(_facts(version) - _facts(text.english + text.plural) for version in versions):
            message = "the translation names a fact that the sentence does not have"
        else:
            message = ""
        missing.pop(text, None)
        if message:
            problems.append(CatalogueProblem(file, entry.linenum or 0, f"“{entry.msgid}”: {message}"))
    for text, files in missing.items():
        problems.append(
            CatalogueProblem(file, 0, f"“{text.english}” ({', '.join(files)}): not in the catalogue")
        )
    return problems


def update_catalogue(file: Path, known: dict[Text, list[str]]) -> None:
    """Adds missing sentences to a catalogue, untranslated, and removes those that the tool no longer has.

    Creates the file if it does not exist.
    """
    import polib  # noqa: PLC0415 - English runs do not need it

    old = polib.pofile(str(file), encoding="utf-8") if file.exists() else polib.POFile()
    entries = {(entry.msgid, entry.msgctxt or ""): entry for entry in old}
    new = polib.POFile(wrapwidth=old.wrapwidth if file.exists() else 78)
    new.header = old.header
    new.metadata = old.metadata or {
        "Language": file.stem,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": "nplurals=2; plural=(n != 1);",
    }
    for text, files in sorted(known.items(), key=lambda item: item[1]):
        entry = entries.get((text.english, text.context)) or polib.POEntry(
            msgid=text.english,
            msgid_plural=text.plural,
            msgctxt=text.context or None,
            msgstr_plural={0: "", 1: ""} if text.plural else {},
        )
        entry.occurrences = [(f"tooling/{name}", "") for name in files]
        new.append(entry)
    new.save(str(file))


def _facts(sentence: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def update_catalogues() -> None:
    """Updates every catalogue of the tool, and prints the sentences that are not translated."""
    known = sentences(FOLDER.parent)
    for file in catalogue_files().values():
        update_catalogue(file, known)
        for problem in check_catalogue(file, known):
            sys.stdout.write(f"{problem.file}:{problem.line}: {problem.message}\n")
