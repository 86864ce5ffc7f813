"""The source files of a Mojo program: its main file and, transitively, the modules that it imports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(\.*)([A-Za-z_]\w*)?", re.MULTILINE)
_ALSO_IMPORTED = re.compile(rb"^[ \t]*import[ \t]+([^\n#]+)", re.MULTILINE)


def imported_files(source: Path, text: bytes, includes: Sequence[Path]) -> list[Path]:
    """The project's own files that `source` may read, in a stable order.

    A module that is neither in the folder of the importing file nor in an include folder belongs to the
    toolchain, whose version is part of every build key.
    """
    found: dict[Path, None] = {}
    waiting = [(source.parent, text)]
    while waiting:
        folder, content = waiting.pop()
        for name in _imported_names(content):
            for parent in (folder, *includes):
                for path in _module_files(parent, name):
                    if path not in found and path != source:
                        found[path] = None
                        if path.suffix == ".mojo":
                            waiting.append((path.parent, path.read_bytes()))
    return sorted(found)


def _imported_names(content: bytes) -> Iterator[str]:
    for match in _IMPORT.finditer(content):
        if match.group(2):
            yield match.group(2).decode()
    for match in _ALSO_IMPORTED.finditer(content):
        for name in match.group(1).split(b",")[1:]:
            yield name.split(b" as ")[0].strip().split(b".")[0].decode("utf-8", "replace")


def _module_files(parent: Path, name: str) -> Iterator[Path]:
    package = parent / name
    if (package / "__init__.mojo").is_file():
        yield from sorted(package.rglob("*.mojo"))
        return
    for suffix in (".mojo", ".mojoc"):
        module = parent / (name + suffix)
        if module.is_file():
            yield module
