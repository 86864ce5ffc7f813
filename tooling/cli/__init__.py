"""The command `tooling`: finds the command's module, parses, calls it, and turns errors into exit codes."""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from tooling.cli.commands import available_commands
from tooling.cli.parser import Parser, UsageError
from tooling.errors import ToolingError
from tooling.exit_codes import ExitCode

# Python looks for garbage once more when it ends: with nothing to look through, a short command ends sooner.
atexit.register(gc.freeze)

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
TERMINATED = 143  # 128 + SIGTERM
_BROKEN_PIPE = 141  # 128 + SIGPIPE


class Terminated(BaseException):
    """SIGTERM arrived: unwinds the stack, so that every child is ended on the way."""


class CommandEnded(Exception):
    """Code called by a command ended the process before the command had a result."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Returns:
        An exit status: see `ExitCode`; 130 after an interrupt.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 is no reason to fail
    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        return _guarded(arguments)
    finally:
        signal.signal(signal.SIGTERM, previous)


def _guarded(arguments: list[str]) -> int:
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
        return int(status)
    except ToolingError as error:
        _show(error, next((each for each in arguments if not each.startswith("-")), ""))
        return int(error.exit_code)
    except KeyboardInterrupt:
        _end_children()
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Terminated:
        _end_children()
        return TERMINATED
    except BrokenPipeError:
        _end_children()
        # Python flushes stdout once more when it exits; there is nobody left to read it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the one place where a defect of the tool ends
        _end_children()
        _show_defect(error)
        return int(ExitCode.INTERNAL)


def _dispatch(arguments: list[str]) -> int:
    name = next((argument for argument in arguments if not argument.startswith("-")), None)
    parser = Parser(
        prog="tooling",
        description="GPU puzzles in Mojo: run them, judge them, keep the book in step.",
        epilog="Exit status: 0 passed, 1 wrong, 2 usage, 3 build failed, 4 not possible here, "
        "5 time limit, 70 a defect of the tool.",
        allow_abbrev=False,
    )
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command_name", parser_class=Parser
    )
    known = available_commands()
    for command in known:
        if command.name == name:
            importlib.import_module(f"{__name__}.{command.module}").register(subparsers)
        elif arguments[:1] != [name]:  # else nobody asks for the list of all
            subparsers.add_parser(command.name, help=command.help, add_help=False)
    if name is not None and all(command.name != name for command in known):
        from tooling.catalog.nodes import did_you_mean

        near = did_you_mean(name, [command.name for command in known])
        hint = f"`tooling run {name}`" if name[:1] == "p" and name[1:2].isdigit() else near
        raise UsageError(f"there is no command `{name}`", hint=hint)
    parsed, rest = parser.parse_known_args(_join_optional_number(arguments))
    function: Callable[[argparse.Namespace], int] | None = getattr(parsed, "command", None)
    if function is None:
        if rest:
            raise UsageError(f"unknown option {rest[0]}", hint="`tooling --help` shows what there is")
        parser.print_help()
        return ExitCode.USAGE
    if rest and not getattr(parsed, "takes_flags", False):
        raise UsageError(f"unknown argument {rest[0]}", hint=f"`tooling {name} --help` shows what there is")
    parsed.rest = rest
    try:
        return function(parsed)
    except SystemExit as error:  # no command ends this way: what it checked has no verdict
        raise CommandEnded(f"`tooling {name}` was ended by SystemExit({error.code!r})") from error


def _join_optional_number(arguments: list[str]) -> list[str]:
    """`--hint 2` becomes `--hint=2`, and `--hint` alone `--hint=1`: argparse would take what follows."""
    joined: list[str] = []
    for index, argument in enumerate(arguments):
        if argument == "--":
            return joined + arguments[index:]
        if joined and joined[-1] == "--hint" and argument.isdigit():
            joined[-1] = f"--hint={argument}"
        else:
            if joined and joined[-1] == "--hint":
                joined[-1] = "--hint=1"
            joined.append(argument)
    if joined and joined[-1] == "--hint":
        joined[-1] = "--hint=1"
    return joined


def _show(error: ToolingError, command: str) -> None:
    from tooling.reports.terminal import open_terminal

    sys.stdout.flush()
    terminal = open_terminal(sys.stderr)
    head = f"{error.where}: {error.what}" if error.where else error.what
    terminal.line(terminal.paint("error:", "red") + " " + head)
    details = getattr(error, "details", "")
    if details:
        for line in str(details).splitlines():
            terminal.line("  " + line)
    if error.why:
        terminal.labelled("why", error.why)
    if error.hint:
        terminal.labelled("try", error.hint, "cyan")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from tooling.project import ProjectNotFound, find_project
        from tooling.reports.annotations import error_annotation
        from tooling.reports.step_summary import add_to_summary, error_markdown

        try:
            root = find_project().root
        except ProjectNotFound:
            root = None
        terminal.line(error_annotation(error).render(root))  # stdout may hold a report
        add_to_summary(error_markdown(f"tooling {command}".strip(), error))


def _show_defect(error: Exception) -> None:
    import traceback

    sys.stdout.flush()
    traceback.print_exception(error, file=sys.stderr)
    print(
        "\nerror: this is a defect of `tooling` itself, not of your program.\n"
        "  try: report it in the issue tracker of the repository (`git remote -v`) with the lines above",
        file=sys.stderr,
    )


def _end_children() -> None:
    from tooling.processes import kill_running

    kill_running()


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise Terminated
