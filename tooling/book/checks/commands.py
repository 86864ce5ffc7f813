"""Checks that the tasks, environments and flags of commands in the text exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator

from msgspec import Struct

from tooling.book.checks.context import CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.catalog.model import Extra, ProgramLanguage, Vendor
from tooling.commandline.commands import COMMANDS, find_action, parser_of
from tooling.commandline.options import ProfileOptions, PuzzleRunOptions, ReplayOptions
from tooling.commandline.parser import read
from tooling.mdbook.markup import Fence
from tooling.platform.errors import ToolingError
from tooling.platform.regular_files import names_something, read_text

_SHELLS = {"bash", "sh", "console", "shell"}
_HARMLESS = {"python3", "cd", "git", "nvidia-smi"}
_ENVIRONMENTS = {"amd": Vendor.AMD, "apple": Vendor.APPLE, None: Vendor.NVIDIA}
_COMMAND_START = re.compile(r"^(?:pixi|uv|poe|tooling)\s")


class Tasks(Struct, frozen=True):
    """The names of the tasks, of pixi's environments, and of uv's dependency groups and extras."""

    poe: frozenset[str]
    pixi: frozenset[str]
    environments: frozenset[str]
    groups: frozenset[str]
    extras: frozenset[str]

    @classmethod
    def of(cls, context: CheckContext) -> Tasks:
        pyproject = tomllib.loads(read_text(context.project.root / "pyproject.toml"))
        pixi = tomllib.loads(read_text(context.project.root / "pixi.toml"))
        return cls(
            frozenset(pyproject["tool"]["poe"]["tasks"]),
            frozenset(pixi["tasks"]),
            frozenset(pixi["environments"]),
            frozenset(pyproject["dependency-groups"]),
            frozenset(pyproject["project"]["optional-dependencies"]),
        )


def check_commands(context: CheckContext) -> Iterator[BookFinding]:
    """Shell blocks, and commands in the text."""
    tasks = Tasks.of(context)
    for chapter in context.chapters:
        structure = chapter.page.structure
        for mark in structure.marks:
            if isinstance(mark, Fence) and mark.language in _SHELLS:
                for offset, line in enumerate(mark.code.splitlines(), 1):
                    for rule, message in _problems(context, tasks, line, strict=True):
                        yield context.finding(chapter, mark.line + offset, rule, message)
        for code in structure.codes:
            if _COMMAND_START.match(code.text):
                for rule, message in _problems(context, tasks, code.text, strict=False):
                    yield context.finding(chapter, code.line, rule, message)


def _problems(
    context: CheckContext, tasks: Tasks, line: str, *, strict: bool, extra: str = ""
) -> Iterator[tuple[str, str]]:
    line = line.removeprefix("$ ").strip().removeprefix(".uv/bin/")  # where the quick start installs uv
    if not line or line.startswith("#"):
        return
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        yield "command", f"`{line}` is not a valid shell command: {error}"
        return
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    match words:
        case ["pixi", "run", ("-e" | "--environment"), environment, *rest] if rest:
            if environment not in tasks.environments:
                known = ", ".join(sorted(tasks.environments))
                yield "command", f"pixi has no environment `{environment}` (it has {known})"
            yield from _task(context, tasks, "pixi", rest, _ENVIRONMENTS.get(environment), environment)
        case ["pixi", "run", *rest] if rest:
            yield from _task(context, tasks, "pixi", rest, Vendor.NVIDIA, extra)
        case ["uv", "run", "--group", group, *rest]:
            if group not in tasks.groups:
                yield "command", f"pyproject.toml has no group `{group}`"
            yield from _problems(context, tasks, shlex.join(["uv", "run", *rest]), strict=strict, extra=extra)
        case ["uv", "run", "--extra", named, *rest]:
            if named not in tasks.extras:
                yield "command", f"pyproject.toml has no extra `{named}`"
            yield from _problems(context, tasks, shlex.join(["uv", "run", *rest]), strict=strict, extra=named)
        case ["uv", "run", "poe", *rest] | ["poe", *rest] if rest:
            yield from _task(context, tasks, "poe", rest, None, extra)
        case ["uv", "run", "tooling", *rest] | ["tooling", *rest]:
            yield from _with_extra(context, "poe", rest, None, extra)
        case ["uv", "run", "pytest", *tests]:
            for word in tests:
                if word.startswith("tests/") and not names_something(context.project.root / word):
                    yield "command", f"there is no test `{word}`"
        case ["uv", ("sync" | "pip" | "python" | "self"), *_] | ["pixi", ("install" | "shell" | "list"), *_]:
            return
        case [program, *_] if program not in _HARMLESS and strict:
            yield "command", f"`{program}` is a command that nothing checks"
        case ["uv" | "pixi" | "poe", *_]:
            yield "command", f"`{line}` does not run anything in this repository"


def _task(  # noqa: PLR0917 - the parts of a command
    context: CheckContext, tasks: Tasks, runner: str, words: list[str], vendor: Vendor | None, extra: str
) -> Iterator[tuple[str, str]]:
    task, *rest = words
    if task == "tooling":
        yield from _with_extra(context, runner, rest, vendor, extra)
        return
    if task not in (tasks.pixi if runner == "pixi" else tasks.poe):
        yield "command", f"{runner} has no task `{task}`"
        return
    try:
        context.puzzle_index.program(task)
    except ToolingError:
        return  # a task of the repository itself, such as `test`
    yield from _with_extra(context, runner, ["run", task, *rest], vendor, extra)


def _with_extra(
    context: CheckContext, runner: str, words: list[str], vendor: Vendor | None, extra: str
) -> Iterator[tuple[str, str]]:
    """A command of `tooling` in an environment with an extra or without one."""
    for name in words[1:2] if words[:1] == ["run"] else ():
        try:
            _, program = context.puzzle_index.program(name)
        except ToolingError:
            break  # reported below
        if program.language is ProgramLanguage.PYTHON and extra not in {
            program.extra.value,
            Extra.TORCH.value,
        }:
            option = "--extra" if runner == "poe" else "-e"
            yield (
                "command",
                f"`{name}` drives a MAX graph: without `{option} {program.extra.value}` it cannot run",
            )
    yield from _tooling(context, words, vendor)


def _tooling(
    context: CheckContext, words: list[str], vendor: Vendor | None = None
) -> Iterator[tuple[str, str]]:
    command = next((command for command in COMMANDS if words and command.name == words[0]), None)
    if command is None:
        if words not in (["--version"], ["--help"]):
            yield "command", f"`tooling` has no command `{words[0] if words else ''}`"
        return
    if len(words) == 1 or "--help" in words:
        return  # a command that is only named
    try:
        action, rest = find_action(command, words[1:])
        assert action.options
        options = read(parser_of(action), action.options, rest) if rest else None
        named: tuple[tuple[str, tuple[str, ...]], ...] = ()
        if isinstance(options, PuzzleRunOptions):
            named = options.named
        elif isinstance(options, ProfileOptions | ReplayOptions) and not options.puzzle.endswith(".mojo"):
            named = ((options.puzzle, options.flags),)
        for puzzle, flags in named:
            selection = context.puzzle_index.selection(puzzle, flags)
            if vendor and selection.mode.requirement(vendor).unsupported:
                yield "vendor", f"`{selection.command}` does not run on {vendor.value}"
    except ToolingError as error:
        yield "command", error.what
