"""JSON files that the tool reads back: a type says what each holds, and msgspec checks that it does.

`read_json` and `read_cached` decode any such file. A `StateFile` is one that is worth keeping from run to
run: it is written whole or not at all, and a damaged one is moved aside, never overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_regular
from tooling.text import ENGLISH, Text

Content = TypeVar("Content")

_MOST_BYTES = 1 << 28


_DELETE = Text("delete it: it could not be moved aside ({why})")


class StateError(ToolingError):
    """A state file cannot be used."""


class StateDamaged(StateError):
    """It does not hold what it should, and was moved aside; `where` says where to."""


class StateNotReadable(StateError):
    """It cannot be read now, perhaps for a passing reason, and stays where it is."""


class StateOfNewerVersion(StateError):
    """A newer version of this tool wrote it; it stays as it is."""


class _Versioned(Struct):
    version: int


class _TooOld(ValueError):
    """The version is no longer read."""

    def __init__(self, why: Text) -> None:
        super().__init__(why.render(ENGLISH))
        self.why = why


class StateFile(Struct, Generic[Content], frozen=True):
    """A file of the tool's own with a version.

    Attributes:
        schema: what it holds; one of the fields is `version: int`.
        version: the only one that is read; the one of the content that is written.
        what: the file's name in messages, such as `the record of the last run`.
        older: for earlier versions, what converts the bytes of the file; raises ValueError for damaged ones.
    """

    path: Path
    schema: type[Content]
    version: int
    what: Text
    older: Mapping[int, Callable[[bytes], Content]] = {}

    def load(self) -> Content | None:
        """What the file holds; None where there is none.

        Raises:
            StateDamaged, StateNotReadable, StateOfNewerVersion.
        """
        try:
            data = read_regular(self.path, limit=_MOST_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StateNotReadable(
                Text("{what} cannot be read").of(what=self.what),
                where=Location(self.path),
                why=error.strerror or str(error),
            ) from error
        try:
            return self.content(data)
        except _TooOld as error:
            raise self._moved_aside(error.why) from error
        except ValueError as error:
            raise self._moved_aside(str(error)) from error

    def content(self, data: bytes) -> Content:
        """What the bytes of such a file hold.

        Raises:
            ValueError: they are damaged, or of a version that is no longer read.
            StateOfNewerVersion.
        """
        version = decoded(data, _Versioned).version
        if version == self.version:
            return decoded(data, self.schema)
        if version in self.older:
            return self.older[version](data)
        if version < self.version:
            raise _TooOld(
                Text("it is of version {version}, not {known}").of(version=version, known=self.version)
            )
        raise StateOfNewerVersion(
            Text("{what} was written by a newer version of this tool, and left as it is").of(what=self.what),
            where=Location(self.path),
            why=Text("it is of version {version}; this tool knows version {known}").of(
                version=version, known=self.version
            ),
            hint=Text("update this checkout (`git pull`)"),
        )

    def save(self, content: Content) -> None:
        """Writes the whole file.

        Raises:
            OSError: it cannot be written; an older one is still there.
        """
        write_atomically(self.path, encoded(content, indent=1))

    def _moved_aside(self, why: str | Text) -> StateDamaged:
        aside = self.path.with_name(f"{self.path.name}.damaged")
        count = 1
        while aside.exists():
            count += 1
            aside = self.path.with_name(f"{self.path.name}.damaged-{count}")
        hint = None
        try:
            self.path.replace(aside)
        except OSError as error:
            aside, hint = self.path, _DELETE.of(why=error.strerror or str(error))
        return StateDamaged(
            Text("{what} is damaged").of(what=self.what), where=Location(aside), why=why, hint=hint
        )


def read_json(path: Path, schema: type[Content]) -> Content:
    """What a JSON file holds, checked against a type.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not JSON, or holds something else; the text says where in the document.
    """
    return decoded(read_regular(path, limit=_MOST_BYTES), schema)


def read_cached(path: Path, schema: type[Content]) -> Content | None:
    """The same; None where that fails: what a cache has lost is found anew."""
    try:
        return read_json(path, schema)
    except (OSError, ValueError):
        return None


def decoded(data: bytes, schema: type[Content]) -> Content:
    """The value that JSON text stands for.

    Raises:
        ValueError: as `read_json`.
    """
    try:
        return msgspec.json.decode(data, type=schema, dec_hook=_from_plain)
    except RecursionError as error:
        raise ValueError("JSON is nested too deeply") from error


def encoded(value: object, indent: int = 0) -> bytes:
    """A value as JSON text, which ends with a newline where it is indented; the same for equal values."""
    text = msgspec.json.encode(value, enc_hook=_to_plain, order="deterministic")
    return msgspec.json.format(text, indent=indent) + b"\n" if indent else text


def _from_plain(kind: type, value: Any) -> Any:
    if kind is not Path:
        raise NotImplementedError(f"a field of type {kind.__name__} cannot be read from JSON")
    return Path(value)  # TypeError: msgspec says where in the document


def _to_plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"a {type(value).__name__} cannot be written as JSON")
