"""What a field of an options class says of the command line.

An options class is a `msgspec.Struct` whose fields are annotated with `Annotated[TYPE, Option(…)]`,
`Annotated[TYPE, Positional(…)]` or `Annotated[tuple[str, ...], Flags()]`; `tooling.commandline.parser` builds
the parser from them. The field's name gives the option's (`no_check`: `--no-check`; `import_`: `--import`),
its default the default, and its type how the text is read:

- `bool`: an option without a value.
- `str`, `int`, `float`, `Path`; with `| None` where there is no default.
- `Literal["a", "b"]`: one of these.
- `tuple[T, ...]`: an option that may be given several times, or the remaining positional arguments.
- another type: `Option.read` makes it from the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from tooling.text import ENGLISH, Sentence, Text, in_language


class BadValue(Exception):
    """The text that was given cannot be the value of an option or positional argument.

    Attributes:
        what: why not.
        hint: what to write instead, where that can be guessed.
    """

    def __init__(self, what: Sentence, hint: Sentence | None = None) -> None:
        super().__init__(in_language(what, ENGLISH))
        self.what = what
        self.hint = hint


class Option(Struct, frozen=True):
    """An option that begins with `--`.

    Attributes:
        help: its line of the help.
        metavar: what stands for the value in the help.
        group: the heading of the help that it is under; None: `options`.
        alternative: options of a command with the same word here exclude each other.
        read: makes the value from the text. Raises ValueError or BadValue.
        choices: the texts that it takes, where only the environment decides which; else `Literal` says it.
        bare: the value where the option is given without one; None: it always needs one.
        follows: with `bare`, a regular expression of the words that are its value if they follow it.
        short: a letter that also names it, such as the D of `-D NAME=VALUE`.
    """

    help: Text | None = None
    metavar: str | None = None
    group: Text | None = None
    alternative: str = ""
    read: Callable[[str], object] | None = None
    choices: Callable[[], Sequence[str]] | None = None
    bare: str | None = None
    follows: str = r"\d+"
    short: str = ""


class Positional(Struct, frozen=True):
    """An argument that is known by its position.

    Attributes:
        help: its line of the help.
        metavar: its name in the help.
        remainder: it takes everything from its position on, options too.
    """

    help: Text | None = None
    metavar: str | None = None
    remainder: bool = False


class Flags(Struct, frozen=True):
    """What no option and no positional argument takes, such as the flags of a puzzle's modes."""
