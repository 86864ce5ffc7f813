"""Reads YAML with the source position of every value, so that errors name line, column and key."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeVar

import yaml
from msgspec import Struct

from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_text
from tooling.platform.suggestions import did_you_mean
from tooling.text import Sentence

_Choice = TypeVar("_Choice", bound=Enum)
_Made = TypeVar("_Made")
_Other = TypeVar("_Other")
_NULL = "tag:yaml.org,2002:null"
_NULLS = ("", "~", "null", "Null", "NULL")
_MOST_NESTED = 200
_TEXT = "tag:yaml.org,2002:str"


class _Loader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """Loads every value as text, without conversion to numbers or dates; only null is distinguished."""

    def resolve(self, _kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool]) -> str:
        return _NULL if value in _NULLS and implicit[0] else _TEXT  # a quoted value is not implicit


class ManifestError(ToolingError):
    """A YAML file of the project is not valid."""

    def __init__(
        self,
        what: str,
        *,
        where: Location,
        key: str,
        why: str | None = None,
        hint: str | Sentence | None = None,
    ) -> None:
        super().__init__(f"{key}: {what}" if key else what, where=where, why=why, hint=hint)
        self.where: Location = where
        self.key = key


class _AlreadyReported(ManifestError):
    """A key is needed whose mistake is among the collected ones."""


class ManifestErrors(ManifestError):
    """Several mistakes of one file."""

    def __init__(self, errors: Sequence[ManifestError]) -> None:
        first = min(errors, key=lambda error: (error.where.line or 0, error.where.column or 0))
        ToolingError.__init__(self, f"{first.where.path.name} has {len(errors)} mistakes", where=first.where)
        self.key = first.key
        self.errors = tuple(errors)

    @property
    def details(self) -> str:
        """Every mistake, in the order of the file."""
        ordered = sorted(self.errors, key=lambda error: (error.where.line or 0, error.where.column or 0))
        return "\n".join(map(str, ordered))


class Errors:
    """Collects the mistakes of a file, so that one run shows all of them."""

    def __init__(self) -> None:
        self._found: list[ManifestError] = []

    def attempt(self, make: Callable[[], _Made], default: _Other) -> _Made | _Other:
        """What `make` returns, or the default after a mistake."""
        try:
            return make()
        except ManifestError as error:
            self.add(error)
            return default

    def each(self, items: Iterable[Value], make: Callable[[Value], _Made]) -> tuple[_Made, ...]:
        """What `make` returns for the items without a mistake."""
        found = [self.attempt(lambda item=item: (make(item),), ()) for item in items]  # type: ignore[misc]
        return tuple(made for each in found for made in each)

    def add(self, error: ManifestError) -> None:
        if isinstance(error, _AlreadyReported):
            return
        self._found += error.errors if isinstance(error, ManifestErrors) else (error,)

    def raise_all(self) -> None:
        """Raises what was found, if anything.

        Raises:
            ManifestErrors, or the only ManifestError.
        """
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            raise ManifestErrors(self._found)


class Keys(dict[str, "Value"]):
    """The usable keys of a mapping whose mistakes are collected; a missing one is no further mistake."""

    def __init__(self, owner: Value, values: Mapping[str, Value]) -> None:
        super().__init__(values)
        self._owner = owner

    def __missing__(self, name: str) -> Value:
        raise _AlreadyReported("the key is missing", where=self._owner.location, key=name)


class Value(Struct, frozen=True):
    """One node of the file with its key path, such as `modes[1].hints`."""

    path: Path
    key: str
    node: yaml.Node

    @property
    def location(self) -> Location:
        mark = self.node.start_mark
        return Location(self.path, mark.line + 1, mark.column + 1)

    def error(
        self, what: str, *, why: str | None = None, hint: str | Sentence | None = None
    ) -> ManifestError:
        return ManifestError(what, where=self.location, key=self.key, why=why, hint=hint)

    # scalars

    def text(self) -> str:
        """Any non-empty scalar, unconverted."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.error(f"must be a text, not a {_kind(self.node)}")
        value = str(self.node.value)
        if not value.strip():
            raise self.error("must not be empty")
        return value

    def integer(self, lowest: int = 0) -> int:
        try:
            value = int(self.text())
        except ValueError:
            raise self.error(f"must be an integer, not `{self.text()}`") from None
        if value < lowest:
            raise self.error(f"must be at least {lowest}, not {value}")
        return value

    def number(self) -> float:
        try:
            value = float(self.text())
        except ValueError:
            raise self.error(f"must be a number, not `{self.text()}`") from None
        if not math.isfinite(value) or value < 0:
            raise self.error(f"must be finite and not negative, not {value}")
        return value

    def flag(self) -> bool:
        if self.text() not in ("true", "false"):
            raise self.error(f"must be true or false, not `{self.text()}`")
        return self.text() == "true"

    def one_of(self, allowed: Iterable[str], noun: str = "value") -> str:
        value = self.text()
        choices = list(allowed)
        if value not in choices:
            raise self.error(f"unknown {noun} `{value}`", hint=did_you_mean(value, choices))
        return value

    def member(self, enum: type[_Choice]) -> _Choice:
        """The member of an enumeration with this value."""
        try:
            return enum(self.text())
        except ValueError:
            return enum(
                self.one_of([str(member.value) for member in enum])
            )  # raises, with the allowed values

    # containers

    def items(self) -> tuple[Value, ...]:
        if not isinstance(self.node, yaml.SequenceNode):
            value = f"`{self.node.value}`" if isinstance(self.node, yaml.ScalarNode) else ""
            hint = f"write [{value[1:-1]}]" if value else None
            raise self.error(f"must be a list, not {value or 'a mapping'}", hint=hint)
        return tuple(
            Value(self.path, f"{self.key}[{index}]", node) for index, node in enumerate(self.node.value)
        )

    def texts(self) -> tuple[str, ...]:
        return tuple(item.text() for item in self.items())

    def entries(self) -> dict[str, Value]:
        """The keys of a mapping, whatever they are."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"must be a mapping, not a {_kind(self.node)}")
        found: dict[str, Value] = {}
        for key_node, value_node in self.node.value:
            name = str(key_node.value)
            inner = f"{self.key}.{name}" if self.key else name
            if name in found:
                raise Value(self.path, inner, key_node).error("the key is given twice")
            found[name] = Value(self.path, inner, value_node)
        return found

    def mapping(
        self, required: Sequence[str], optional: Sequence[str] = (), errors: Errors | None = None
    ) -> dict[str, Value]:
        """The keys of a mapping; others than the known ones, and missing ones, are errors.

        Args:
            errors: collects them, and the usable keys are returned; None: they are raised.
        """
        found = self.entries()
        known = [*required, *optional]
        collected = errors or Errors()
        usable = Keys(self, found)
        for name, value in found.items():
            if name not in known:
                collected.add(self._at_key(name).error("unknown key", hint=did_you_mean(name, known)))
            elif isinstance(value.node, yaml.ScalarNode) and value.node.tag == _NULL:
                collected.add(value.error("has no value", hint=f"give `{name}` a value, or remove the key"))
            else:
                continue
            del usable[name]
        for name in required:
            if name not in found:
                collected.add(self.error(f"the key `{name}` is missing", hint=f"add `{name}: …` here"))
        if errors is None:
            collected.raise_all()
        return usable

    def _at_key(self, name: str) -> Value:
        assert isinstance(self.node, yaml.MappingNode)
        node = next(key for key, _ in self.node.value if str(key.value) == name)
        return Value(self.path, f"{self.key}.{name}" if self.key else name, node)


def read_document(path: Path) -> Value:
    """The one YAML document of a file.

    Raises:
        ManifestError: the file cannot be read, is empty, or is not YAML.
    """
    try:
        content = read_text(path)
    except OSError as error:
        raise ManifestError(
            "the file cannot be read", where=Location(path), key="", why=error.strerror
        ) from error
    except UnicodeDecodeError as error:
        raise ManifestError("the file is not UTF-8", where=Location(path), key="", why=str(error)) from error
    if _too_deep(content):  # composing it would overflow the stack
        raise ManifestError("not valid YAML: nested too deeply", where=Location(path), key="")
    try:
        node = yaml.compose(content, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = Location(path, mark.line + 1, mark.column + 1) if mark else Location(path)
        raise ManifestError(
            f"not valid YAML: {error.problem}", where=where, key="", why=error.context
        ) from error
    except yaml.YAMLError as error:
        raise ManifestError("not valid YAML", where=Location(path), key="", why=str(error)) from error
    if node is None:
        raise ManifestError("the file is empty", where=Location(path, 1, 1), key="")
    return Value(path, "", node)


def _too_deep(content: str) -> bool:
    """Whether collections are nested more than MOST_NESTED deep."""
    if sum(content.count(mark) for mark in ("[", "{", "- ", "? ")) <= _MOST_NESTED:
        return False  # deeper nesting needs more marks, or indentation, which makes the file long
    depth = 0
    with contextlib.suppress(yaml.YAMLError):  # composing it will report that
        for event in yaml.parse(content, Loader=_Loader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > _MOST_NESTED:
                return True
    return False


def _kind(node: yaml.Node) -> str:
    kinds = {yaml.MappingNode: "mapping", yaml.SequenceNode: "list", yaml.ScalarNode: "text"}
    return kinds.get(type(node), "value")
