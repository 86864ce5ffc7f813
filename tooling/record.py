"""Small value classes that cost nothing to define: `class Register(Record): name: str`.

A record is what a slotted dataclass is (frozen unless it says `frozen=False`), and type checkers treat it as
one. A dataclass, however, compiles half a dozen methods when it is defined, and the simulator defines some
sixty of them before its first launch, a build of the book some fifty; a record shares all methods but
`__init__`, which is put together when the first one is made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, NoReturn, TypeVar, dataclass_transform


class _Factory:
    """A default value to be made anew for each record."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def made(*, default_factory: Callable[[], Any]) -> Any:
    """The default of a field that no two records share: `names: list[str] = made(default_factory=list)`."""
    return _Factory(default_factory)


@dataclass_transform(frozen_default=True, field_specifiers=(made,))
class RecordType(type):
    """Makes slots of the annotated names of a class.

    Args:
        frozen: fields are not assigned to once the record is made.
        eq: equal when all fields are; otherwise a record is equal to itself alone.
    """

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        frozen: bool = True,
        eq: bool = True,
    ) -> RecordType:
        own = tuple(n for n, kind in namespace.get("__annotations__", {}).items() if "ClassVar" not in kind)
        inherited: tuple[str, ...] = getattr(bases[0], "__match_args__", ()) if bases else ()
        defaults = dict(getattr(bases[0], "_defaults", {})) if bases else {}
        defaults |= {field: namespace.pop(field) for field in own if field in namespace}
        names = inherited + own
        namespace |= {"__slots__": own, "__match_args__": names, "_defaults": defaults}
        namespace["_values"] = attrgetter(*names) if len(names) > 1 else None
        if bases:
            namespace["__init__"] = _make_and_initialise
        if bases and not frozen:
            namespace["__setattr__"] = object.__setattr__
            namespace["__delattr__"] = object.__delattr__
        if bases and not eq:
            namespace["__eq__"], namespace["__hash__"] = object.__eq__, object.__hash__
        elif bases and not frozen:
            namespace["__hash__"] = None
        return super().__new__(mcs, name, bases, namespace)

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_options: bool
    ) -> None:
        super().__init__(name, bases, namespace)


class Record(metaclass=RecordType):
    """A value with named fields. Subclass it; see the module."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} does not change: {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} does not change: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _values(self) == _values(other)

    def __hash__(self) -> int:
        return hash(_values(self))

    def __repr__(self) -> str:
        fields = zip(_names(self), _values(self), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in fields)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), _values(self)


R = TypeVar("R", bound=Record)


def replace(record: R, **changes: Any) -> R:
    """The same record with some fields changed.

    Raises:
        TypeError: there is no such field.
    """
    return type(record)(**dict(zip(_names(record), _values(record), strict=True)) | changes)


def as_plain(value: Any) -> Any:
    """Records inside `value` as dictionaries by field name, tuples as lists: what JSON can hold."""
    if isinstance(value, Record):
        return {name: as_plain(inner) for name, inner in zip(_names(value), _values(value), strict=True)}
    if isinstance(value, tuple | list):
        return [as_plain(inner) for inner in value]
    return value


def _names(record: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = type(record).__match_args__
    return names


def _values(record: Any) -> tuple[Any, ...]:
    values: Callable[[Any], tuple[Any, ...]] | None = type(record)._values
    # Of less than two names `attrgetter` makes no tuple.
    return values(record) if values else tuple([getattr(record, name) for name in _names(record)])


def _make_and_initialise(self: Any, /, *arguments: Any, **named: Any) -> None:
    """The first record of a class: make its `__init__`, and use that from now on."""
    cls = type(self)
    cls.__init__ = _initialiser(cls)
    cls.__init__(self, *arguments, **named)


def _initialiser(cls: Any) -> Callable[..., None]:
    """`__init__` of a record class. Slots are set by their descriptors: the class may forbid assignment."""
    names: tuple[str, ...] = cls.__match_args__
    with_default = [name in cls._defaults for name in names]
    if with_default != sorted(with_default):
        raise TypeError(f"{cls.__name__}: a field without a default follows one that has one")
    defaults = tuple(cls._defaults[name] for name in names if name in cls._defaults)
    made_anew = tuple(isinstance(cls._defaults.get(name), _Factory) for name in names)
    code = _shape(made_anew).replace(co_varnames=("self", *names))
    setters = {f"set{place}": getattr(cls, name).__set__ for place, name in enumerate(names)}
    return FunctionType(code, {**setters, "Factory": _Factory}, "__init__", defaults)


@cache
def _shape(made_anew: tuple[bool, ...]) -> CodeType:
    """The code of `__init__` for so many fields, as they are called `field0`, …

    Compiling takes longer than all else about a class, and most of them have the shape of another.

    Args:
        made_anew: for each field, whether its default is made anew for each record.
    """
    parameters, body = ["self"], []
    for place, made_here in enumerate(made_anew):
        name = f"field{place}"
        parameters.append(name)
        value = f"{name}.make() if isinstance({name}, Factory) else {name}" if made_here else name
        body.append(f"    set{place}(self, {value})\n")
    scope: dict[str, Any] = {}
    exec(f"def __init__({', '.join(parameters)}):\n{''.join(body) or '    pass'}", scope)
    code: CodeType = scope["__init__"].__code__
    return code
