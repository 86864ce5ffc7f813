"""The README's two commands are the ones that CI and newcomers run."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def commands() -> list[str]:
    return [
        line for block in re.findall(r"```bash\n(.*?)```", README, re.DOTALL) for line in block.splitlines()
    ]


def test_there_are_exactly_two_commands_to_start_with() -> None:
    first, second = commands()
    assert first.endswith("uv run tooling start")
    assert second.endswith("poe check")


def test_ci_runs_the_readmes_test_command_and_nothing_else() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    lines = [line for line in script if line and not line.startswith(("#", "set ", "cd "))]
    assert lines == [commands()[1]]


def test_the_commands_named_in_the_table_exist() -> None:
    from tooling.commandline.commands import COMMANDS

    named = set(re.findall(r"`tooling ([a-z-]+)", README))
    known = {command.name for command in COMMANDS}
    assert named <= known, named - known
