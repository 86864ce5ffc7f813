"""The table of commands."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class Command(Struct, frozen=True):
    """One row of the command table."""

    name: str
    help: str

    @property
    def module(self) -> str:
        """A module here with `register(subparsers)`, which sets the parser's default `command`."""
        return self.name.replace("-", "_") + "_command"


COMMANDS = (
    Command("run", "build a puzzle, run it and judge it"),
    Command("list", "show the puzzles, their programs and modes"),
    Command("targets", "show which GPUs can be used here"),
    Command("verify", "judge every solution, skeleton and mutant"),
    Command("matrix", "cross-build every program for every vendor"),
    Command("simulate", "run any Mojo GPU program on the simulated GPU"),
    Command("profile", "count what a kernel does to memory, line by line"),
    Command("generate", "write everything that is derived from manifests and solutions"),
    Command("bundle", "cross-build everything for a machine without a toolchain"),
    Command("check-translations", "compare the translations with their source"),
    Command("book", "build the site"),
    Command("figure", "draw the book's figures"),
    Command("check", "all checks of the repository that need no GPU"),
)


def available_commands() -> tuple[Command, ...]:
    """The rows of the table whose module is part of this installation."""
    folder = Path(__file__).parent
    return tuple(command for command in COMMANDS if (folder / f"{command.module}.py").is_file())
