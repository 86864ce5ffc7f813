"""`tooling completion`: what a shell completes after `tooling`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from msgspec.structs import fields

from tooling.commandline.commands import COMMANDS, Command, parser_of
from tooling.commandline.fields import Option
from tooling.commandline.learner_options import CompletionOptions
from tooling.commandline.parser import UsageError, choices_of
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.catalog.model import Puzzle

_SHELLS = ("bash", "zsh", "fish")
_FILES = ("json", "junit", "html", "output", "folder", "judge")


def completion_command(options: CompletionOptions) -> int:
    import shtab

    from tooling.catalog.catalogue import load_catalogue
    from tooling.platform.suggestions import did_you_mean
    from tooling.project import find_project

    if options.shell not in _SHELLS:
        hint = did_you_mean(options.shell, _SHELLS)
        raise UsageError(Text("there is no completion for `{shell}`").of(shell=options.shell), hint=hint)
    print(shtab.complete(_whole_parser(load_catalogue(find_project()), options.lang), options.shell))
    return ExitCode.PASSED


def _whole_parser(puzzles: Sequence[Puzzle], language: str) -> argparse.ArgumentParser:
    """A parser of all commands, which knows the names of puzzles and modes; it only describes them."""
    parser = argparse.ArgumentParser("tooling", add_help=True)
    listed = parser.add_subparsers()
    for command in COMMANDS:
        own = listed.add_parser(
            command.name, help=command.help.render(language), add_help=not command.options
        )
        if command.options:
            _describe(own, command, puzzles, language)
            continue
        actions = own.add_subparsers()
        for action in command.actions:
            own_action = actions.add_parser(action.name, help=action.help.render(language), add_help=False)
            _describe(own_action, action, puzzles, language)
    return parser


def _describe(
    parser: argparse.ArgumentParser, command: Command, puzzles: Sequence[Puzzle], language: str
) -> None:
    import shtab

    assert command.options
    described = {each.name: get_args(each.type) for each in fields(command.options)}
    names = [program.name for puzzle in puzzles for program in puzzle.programs]
    for action in parser_of(command, language)._actions:
        kind, option, *_ = described.get(action.dest, (None, None))
        choices = choices_of(kind, option) if isinstance(option, Option) else ()
        if action.dest in ("puzzle", "puzzles"):
            action.choices = names
        elif choices:
            action.choices, action.metavar = choices, None
        elif action.dest == "editor":
            action.choices = ("vscode", "neovim", "zed", "helix")
        elif action.dest == "shell":
            action.choices = _SHELLS
        if action.dest in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined] # read by shtab
        parser._add_action(action)
    if "flags" in described:
        own = [flag for action in parser._actions for flag in action.option_strings]
        for flag, users in _modes(puzzles).items():
            if flag not in own:
                parser.add_argument(flag, action="store_true", help=", ".join(users))


def _modes(puzzles: Sequence[Puzzle]) -> dict[str, list[str]]:
    """The flags of all modes, with the puzzles that have them."""
    found: dict[str, list[str]] = {}
    for puzzle in puzzles:
        for flag in dict.fromkeys(flag for mode in puzzle.modes for flag in mode.flags):
            found.setdefault(flag, []).append(puzzle.id)
    return found
