"""Builds a command's argument parser from its options class, and reads command lines into that class."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin, overload

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from tooling.commandline.fields import BadValue, Flags, Option, Positional
from tooling.platform.errors import ToolingError
from tooling.platform.suggestions import alternatives, nearest, proposal
from tooling.text import ENGLISH, Sentence, Text
from tooling.text.width import wrapped

_Options = TypeVar("_Options", bound=Struct)
_USUAL_COLUMNS = 80
_USAGE = Text("usage: ")
ARGUMENTS = Text("positional arguments")
_OPTIONS = Text("options")
_SHOW_HELP = Text("show this help message and exit")
_WHERE_HELP_IS = Text("`{command} --help` shows what there is")
_OWN_HELP = Text("`--help` shows what there is")
_UNKNOWN = Text("unknown argument {word}")
_DOES_NOT_TAKE = Text("{option} does not take `{text}`")
_TAKES = Text("it takes {choices}")
_ARGUMENT = Text("argument {name}: {problem}")
_MESSAGES: tuple[tuple[str, Text], ...] = (
    (
        r"the following arguments are required: (?P<names>.*)",
        Text("the following arguments are required: {names}"),
    ),
    (r"argument (?P<name>.*): expected one argument", Text("argument {name}: expected one argument")),
    (
        r"argument (?P<name>.*): expected at least one argument",
        Text("argument {name}: expected at least one argument"),
    ),
    (
        r"argument (?P<name>.*): not allowed with argument (?P<other>.*)",
        Text("argument {name}: not allowed with argument {other}"),
    ),
    (
        r"argument (?P<name>.*): invalid (?P<kind>\w+) value: (?P<value>.*)",
        Text("argument {name}: invalid {kind} value: {value}"),
    ),
    (
        r"argument (?P<name>.*): ignored explicit argument (?P<value>.*)",
        Text("argument {name}: ignored explicit argument {value}"),
    ),
)
"""The messages of argparse, as patterns of their English text."""


class UsageError(ToolingError):
    """The command line is wrong."""


class HelpFormatter(argparse.HelpFormatter):
    """As wide as the terminal, which is looked at once; argparse's own words are in the help's language,
    and lines are broken by columns, of which Hangul takes two.

    argparse makes a formatter for every option, and each would load `shutil` with all its compression to ask.
    """

    language = ENGLISH

    def __init__(self, prog: str, indent_increment: int = 2, max_help_position: int = 24) -> None:
        super().__init__(prog, indent_increment, max_help_position, width=_columns() - 2)

    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, _USAGE.render(self.language) if prefix is None else prefix)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in wrapped(text, width))


class RawHelpFormatter(argparse.RawDescriptionHelpFormatter, HelpFormatter):
    """The same, which leaves description and epilogue as they are written."""


@cache
def _columns() -> int:
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _USUAL_COLUMNS
    except (ValueError, OSError):
        return _USUAL_COLUMNS  # closed, or no terminal


class Parser(argparse.ArgumentParser):
    """An argparse parser with errors and help in a language of the tool, and without abbreviations."""

    def __init__(
        self,
        *,
        language: str = ENGLISH,
        formatter_class: type[HelpFormatter] = HelpFormatter,
        description: Text | None = None,
        epilog: Text | None = None,
        typed: Callable[[str], str] = str,
        prog: str = "",
        **settings: Any,
    ) -> None:
        """A parser of the command `prog`.

        Args:
            typed: gives the commands in a text the form in which the reader types them.
        """
        # What is not given is left out of the result: the options class knows its defaults.
        self.language = language
        self._typed = typed
        super().__init__(
            prog=typed(prog),
            formatter_class=formatter_class,
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
            description=typed(self.say(description) or "") or None,
            epilog=typed(self.say(epilog) or "") or None,
            **settings | {"add_help": False},
        )
        self._positionals.title = self.say(ARGUMENTS)
        self._optionals.title = self.say(_OPTIONS)
        if settings.get("add_help", True):
            self.add_argument("-h", "--help", action="help", help=self.say(_SHOW_HELP))

    @overload
    def say(self, sentence: Text) -> str: ...
    @overload
    def say(self, sentence: Text | None) -> str | None: ...
    def say(self, sentence: Text | None) -> str | None:
        """A sentence of the help in its language."""
        return sentence.render(self.language) if sentence else None

    def _get_formatter(self) -> argparse.HelpFormatter:
        formatter = super()._get_formatter()
        assert isinstance(formatter, HelpFormatter)
        formatter.language = self.language
        return formatter

    def error(self, message: str) -> NoReturn:
        raise UsageError(_own_message(message), hint=self.where_help_is)

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stdout).write(message)  # argparse ignores that it cannot be written

    @property
    def where_help_is(self) -> Text:
        return _WHERE_HELP_IS.of(command=self.prog)


def _own_message(message: str) -> str | Text:
    """A message of argparse as a sentence of the tool, unless it is not one of `_MESSAGES`."""
    for pattern, sentence in _MESSAGES:
        if match := re.fullmatch(pattern, message):
            return sentence.of(**match.groupdict())
    return message


def option_names(options: type[Struct]) -> tuple[str, ...]:
    """The names of a command's options, such as `--no-check`."""
    own = (option_name(each) for each in fields(options) if isinstance(_description(each), Option))
    return (*own, "--help")


def takes_arguments(options: type[Struct] | None) -> bool:
    """Whether a command takes more than options."""
    return options is not None and any(
        isinstance(_description(each), Positional | Flags) for each in fields(options)
    )


def add_fields(parser: Parser, options: type[Struct]) -> None:
    """Adds everything that the fields of an options class say to its parser."""
    groups: dict[Text, argparse._ArgumentGroup] = {}
    exclusive: dict[str, argparse._MutuallyExclusiveGroup] = {}
    for each in fields(options):
        kind = get_args(each.type)[0]
        match _description(each):
            case Positional() as positional:
                _add_positional(parser, each, kind, positional)
            case Option() as option:
                container: argparse._ActionsContainer = parser
                if option.group:
                    if option.group not in groups:
                        groups[option.group] = parser.add_argument_group(parser.say(option.group))
                    container = groups[option.group]
                if option.alternative:
                    if option.alternative not in exclusive:
                        exclusive[option.alternative] = container.add_mutually_exclusive_group()
                    container = exclusive[option.alternative]
                _add_option(container, each, kind, option, parser.say(option.help))


def read(parser: Parser, options: type[_Options], words: Sequence[str]) -> _Options:
    """The options that a command line gives.

    Raises:
        UsageError: the command line is wrong.
        SystemExit: the help was asked for, and has been printed.
    """
    descriptions = [(each, _description(each)) for each in fields(options)]
    bare = {
        option_name(each): one
        for each, one in descriptions
        if isinstance(one, Option) and one.bare is not None
    }
    if not any(isinstance(one, Positional) and one.remainder for _, one in descriptions):
        words = _with_values(words, bare)
        _refuse_joined_help(words, options)
    parsed, rest = parser.parse_known_args(words)
    values: dict[str, object] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in vars(parsed).items()
    }
    flags = next((each.name for each, one in descriptions if isinstance(one, Flags)), None)
    many = next((each.name for each, one in descriptions if _takes_many(each, one)), None)
    if flags is not None:
        values[flags] = tuple(rest)
    elif rest and many is not None and not any(word.startswith("-") for word in rest):
        # After an option, argparse takes none for an argument that needs no value: `bundle DIR --jobs 2 p01`.
        values[many] = (*cast("tuple[str, ...]", values.get(many, ())), *rest)
    elif rest:
        raise unknown_argument(rest, options, parser.where_help_is)
    return cast("Callable[..., _Options]", options)(**values)


def unknown_argument(words: Sequence[str], options: type[Struct], where_help_is: Sentence) -> UsageError:
    """The error of words that a command does not take; an option is named before other words."""
    strange = next((word for word in words if word.startswith("-")), words[0])
    near = nearest(strange.partition("=")[0], option_names(options))
    return UsageError(_UNKNOWN.of(word=strange), hint=proposal(near) if near else where_help_is)


def _refuse_joined_help(words: Sequence[str], options: type[Struct]) -> None:
    """`-hint` is a misspelled `--hint`; argparse takes it for `-h` with something joined to it."""
    for word in words:
        if word == "--":
            return
        if word.startswith("-h") and word != "-h":
            raise unknown_argument([word], options, _OWN_HELP)


def _with_values(words: Sequence[str], bare: dict[str, Option]) -> list[str]:
    """The words, with the value of each of these options joined to it, or with its `bare` value.

    `--hint 2` becomes `--hint=2`, and `--hint` alone `--hint=1`; argparse would take whatever follows.
    """
    joined: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*joined, word, *rest]
        if word in bare:
            follows = rest and re.fullmatch(bare[word].follows, rest[0])
            word += f"={rest.pop(0) if follows else bare[word].bare}"
        joined.append(word)
    return joined


def _description(field: FieldInfo) -> Option | Positional | Flags:
    assert get_origin(field.type) is Annotated, f"{field.name}: nothing says what it is on the command line"
    return cast("Option | Positional | Flags", get_args(field.type)[1])


def _takes_many(field: FieldInfo, description: Option | Positional | Flags) -> bool:
    return isinstance(description, Positional) and get_origin(get_args(field.type)[0]) is tuple


def option_name(field: FieldInfo) -> str:
    """`_` at the end of a field's name distinguishes it from a keyword of Python, such as `import_`."""
    return "--" + field.name.rstrip("_").replace("_", "-")


def _add_positional(parser: Parser, field: FieldInfo, kind: Any, positional: Positional) -> None:
    settings: dict[str, Any] = {"help": parser.say(positional.help)}
    if positional.metavar:
        settings["metavar"] = positional.metavar
    if positional.remainder:
        settings["nargs"] = argparse.REMAINDER
    elif get_origin(kind) is tuple:
        settings["nargs"] = "+" if field.required else "*"
    elif kind is not str:
        settings["type"] = kind
    parser.add_argument(field.name, **settings)


def _add_option(
    container: argparse._ActionsContainer, field: FieldInfo, kind: Any, option: Option, text: str | None
) -> None:
    name = option_name(field)
    settings: dict[str, Any] = {"help": text, "dest": field.name}
    names = [*([f"-{option.short}"] if option.short else []), name]
    if kind is bool:
        container.add_argument(*names, action="store_true", default=argparse.SUPPRESS, **settings)
        return
    if option.metavar:
        settings["metavar"] = option.metavar
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    if get_origin(kind) is tuple:
        settings["action"] = "append"
        kind = get_args(kind)[0]
    choices = choices_of(kind, option)
    if choices:
        settings["metavar"] = "{" + ",".join(choices) + "}"
        settings["type"] = _choice(name, choices)
    elif option.read:
        settings["type"] = _reader(name, option.read)
    elif kind in (int, float, Path):
        settings["type"] = kind
    else:
        assert kind is str, f"{field.name}: nothing says how its value is read"
    container.add_argument(*names, **settings)


def choices_of(kind: object, option: Option) -> Sequence[str]:
    """The texts that an option of this type takes; empty where there is no list of them."""
    if option.choices:
        return option.choices()
    return next((get_args(each) for each in (kind, *get_args(kind)) if get_origin(each) is Literal), ())


def _choice(name: str, choices: Sequence[str]) -> Callable[[str], str]:
    def chosen(text: str) -> str:
        if text in choices:
            return text
        near = nearest(text, choices)
        raise UsageError(
            _DOES_NOT_TAKE.of(option=name, text=text),
            why=_TAKES.of(choices=alternatives((", ".join(choices[:-1]), choices[-1]))),
            hint=proposal(near) if near else None,
        )

    return chosen


def _reader(name: str, make: Callable[[str], object]) -> Callable[[str], object]:
    def value(text: str) -> object:
        try:
            return make(text)
        except BadValue as error:
            raise UsageError(_ARGUMENT.of(name=name, problem=error.what), hint=error.hint) from None

    value.__name__ = make.__name__  # argparse names it when there is a ValueError
    return value
