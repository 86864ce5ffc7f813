"""The flags of puzzles' modes are not taken for options of the commands that accept them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tooling.catalog.catalogue import load_catalogue
from tooling.commandline.commands import COMMANDS, Command, parser_of
from tooling.commandline.parser import read
from tooling.project import find_project

WITH_FLAGS = [
    action
    for action in COMMANDS
    if action.options and any(field.name == "flags" for field in msgspec.structs.fields(action.options))
]


def test_run_and_profile_take_flags() -> None:
    assert {"run", "profile"} <= {action.name for action in WITH_FLAGS}


@pytest.mark.parametrize("action", WITH_FLAGS, ids=lambda action: action.name)
def test_every_mode_of_every_puzzle_is_reached(action: Command) -> None:
    assert action.options is not None
    parser = parser_of(action)
    for puzzle in load_catalogue(find_project()):
        for mode in puzzle.modes:
            options: Any = read(parser, action.options, [mode.programs[0], *mode.flags])
            assert options.flags == mode.flags, (puzzle.id, mode.flags)
