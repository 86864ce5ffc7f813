"""The command `tooling`: finds the command's module, parses, calls it, and turns errors into exit codes."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import FrameType

from msgspec import Struct

from tooling.commandline.commands import COMMANDS, Command, add_list, find_action, parser_of
from tooling.commandline.options import preset_language
from tooling.commandline.parser import Parser, UsageError, read
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.regular_files import UnusableFile
from tooling.platform.temporary_space import MACHINE_ERRORS
from tooling.text import ENGLISH, Sentence, Text, languages
from tooling.text.catalogues import CatalogueError, require_usable

# Python looks for garbage once more when it ends: with nothing to look through, a short command ends sooner.
atexit.register(gc.freeze)

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_FULL = (errno.ENOSPC, errno.EDQUOT)
_ENDING = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # SIGHUP: the terminal was closed; Windows lacks it
_BROKEN_PIPE = 141  # 128 + SIGPIPE
_STREAMS = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
"""How the null device takes the place of a closed stream. Writes to stdout must fail, since its output is
missed; the failure of a write to stderr could not be reported anywhere."""


_FIRST_STEPS = Text("""\
GPU puzzles in Mojo: run them, judge them, keep the book in step.

  {tool} start      show where you are and what to type
  {tool} watch      build, run and judge the next puzzle at every save
  {tool} run p01    build your program of puzzle 1, run it and judge it
  {tool} hint p01   show a hint
  {tool} list       show all puzzles

`{tool} --help` shows all commands.""")


_DESCRIPTION = Text("GPU puzzles in Mojo: run them, judge them, keep the book in step.")
_EXIT_STATUS = Text(
    "Exit status: 0 passed, 1 wrong, 2 usage, 3 build failed, 4 not possible here, 5 limit of time, "
    "output, memory or threads, "
    "70 a defect of the tool."
)
_SHOW_VERSIONS = Text("show the versions of the tool, Mojo, MAX and mdBook")
_COMMANDS = Text("commands")
_ERROR, _WHY, _TRY = Text("error"), Text("why"), Text("try")
_INTERRUPTED = Text("interrupted")
_NO_COMMAND = Text("there is no command `{name}`")
_NO_OPTION = Text("unknown option {option}")
_OPTION_AFTER = Text("an option belongs after the command: `{command}`")
_NO_OUTPUT = Text("the output cannot be written")
_CLOSED = Text("stdout is closed")
_GIVE_OUTPUT = Text("redirect it to a file, or to `/dev/null` if no output is wanted")
_NO_FILE = Text("a file cannot be written")
_NOT_READ = Text("this file cannot be read")
_NOT_WRITTEN = Text("{path}: cannot be written")
_FREE_SPACE = Text("free space there, and run it again")
_NO_ACCESS = Text("{path}: cannot be read or written")
_USE_OWNER = Text("run it as the user to whom the file belongs, or change its permissions (`ls -ld`)")
_NO_RESOURCES = Text("the system refuses what the tool needs")
_LIMITS = Text("`ulimit -a` shows the limits of this shell")
_DEFECT = Text("this is a defect of `tooling` itself, not of your program.")
_REPORT = Text("report it in the issue tracker of the repository (`git remote -v`) with the lines above")
_NOT_ON_WINDOWS = Text("the puzzles do not run on Windows itself")
_NO_MOJO = Text("Mojo exists for Linux and macOS")
_USE_WSL = Text(
    "install WSL2 (`wsl --install` in a terminal of Windows), open its Linux shell and follow the quick "
    "start there; an NVIDIA GPU is available in it, and so is the simulated GPU"
)


class SystemNotSupported(ToolingError):
    """The operating system has no Mojo."""

    exit_code = ExitCode.NOT_POSSIBLE


class Terminated(BaseException):
    """SIGTERM or SIGHUP arrived: unwinds the stack, so that every child is ended on the way."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


class CommandEnded(Exception):
    """Code called by a command ended the process before the command had a result."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Returns:
        An exit status: see `ExitCode`; 130 after an interrupt.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 is no reason to fail
    # What is ignored stays so: `nohup` ignores SIGHUP.
    previous = {each: signal.getsignal(each) for each in _ENDING}
    for number, handler in previous.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _terminate)
    try:
        return _guarded(arguments)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _open_closed_streams() -> None:
    """Opens the null device where the caller closed stdin, stdout or stderr, for which Python has None.

    The next file to be opened would get the free descriptor, which children take for one of these streams.
    """
    for name, mode in _STREAMS.items():  # by descriptor: the lowest free one is taken
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, mode)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", encoding="utf-8"))


def _guarded(arguments: list[str]) -> int:
    language = _language_of(arguments)
    try:
        _require_supported_system()
        require_usable(language)
        try:
            status = _dispatch(arguments, language)
        except SystemExit:  # the help was shown
            sys.stdout.flush()
            raise
        sys.stdout.flush()
        return int(status)
    except ToolingError as error:
        _show(error, next((each for each in arguments if not each.startswith("-")), ""), language)
        return int(error.exit_code)
    except CatalogueError as error:
        _end_children()
        unusable = ToolingError(
            "the catalogue cannot be used",
            where=Location(error.path),
            why=error.why,
            hint="correct the file, or unset PUZZLE_CATALOGUES",
        )
        _show(unusable, "", ENGLISH)
        return int(unusable.exit_code)
    except KeyboardInterrupt:
        _end_children()
        print(_INTERRUPTED.render(language), file=sys.stderr)
        return INTERRUPTED
    except Terminated as ended:
        _end_children()
        return ended.status
    except BrokenPipeError:
        _end_children()
        _discard_output()
        return _BROKEN_PIPE
    except OSError as error:
        _end_children()
        if isinstance(error, UnusableFile) or (error.errno == errno.ELOOP and error.filename):
            where = Location(Path(os.fsdecode(error.filename)))
            refusal = ToolingError(_NOT_READ, where=where, why=error.strerror)
            _show(refusal, next((each for each in arguments if not each.startswith("-")), ""), language)
            return int(refusal.exit_code)
        # A failed write leaves nothing behind that would fail again: one more shows whether it was stdout's.
        if error.filename is None and (failure := _output_failure("\n")):
            lines = [f"{_ERROR.render(language)}: {_NO_OUTPUT.render(language)}"]
            if failure.errno == errno.EBADF:
                lines.append(f"  {_WHY.render(language)}: {_CLOSED.render(language)}")
                lines.append(f"  {_TRY.render(language)}: {_GIVE_OUTPUT.render(language)}")
            else:
                lines.append(f"  {_WHY.render(language)}: {failure.strerror}")
            print(*lines, sep="\n", file=sys.stderr)
            return ExitCode.NOT_POSSIBLE
        if error.errno in _FULL:
            what = _NOT_WRITTEN.of(path=error.filename) if error.filename else _NO_FILE
            full = ToolingError(what, why=error.strerror, hint=_FREE_SPACE)
            _show(full, next((each for each in arguments if not each.startswith("-")), ""), language)
            return ExitCode.NOT_POSSIBLE
        if error.errno in MACHINE_ERRORS:
            what = _NO_ACCESS.of(path=error.filename) if error.filename else _NO_RESOURCES
            hint = _USE_OWNER if error.filename else _LIMITS
            refused = ToolingError(what, why=error.strerror, hint=hint)
            _show(refused, next((each for each in arguments if not each.startswith("-")), ""), language)
            return ExitCode.NOT_POSSIBLE
        _show_defect(error, language)
        return ExitCode.INTERNAL
    except Exception as error:  # noqa: BLE001 - the one place where a defect of the tool ends
        _end_children()
        _show_defect(error, language)
        return int(ExitCode.INTERNAL)


def _require_supported_system() -> None:
    """Refuses Windows, for which there is no Mojo.

    Raises:
        SystemNotSupported: with the way to run the tool there.
    """
    if sys.platform == "win32":
        raise SystemNotSupported(_NOT_ON_WINDOWS, why=_NO_MOJO, hint=_USE_WSL)


def _output_failure(more: str = "") -> OSError | None:
    """Why stdout takes no more output, such as a full disk; None where it does."""
    try:
        sys.stdout.write(more)
        sys.stdout.flush()
    except OSError as error:
        _discard_output()
        return error
    return None


def _discard_output() -> None:
    """Python flushes stdout once more when it exits, and what is left there cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _language_of(arguments: Sequence[str]) -> str:
    """The language of help and errors: that of `--lang` where it names one, else the environment's."""
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    named = [after for word, after in pairwise(words) if word == "--lang"]
    named += [word.removeprefix("--lang=") for word in words if word.startswith("--lang=")]
    spoken = "check-translations" not in words  # there it names a translation
    return named[-1] if spoken and named and named[-1] in languages() else preset_language()


def _dispatch(arguments: list[str], language: str) -> int:
    index = next((index for index, word in enumerate(arguments) if not word.startswith("-")), len(arguments))
    before, words = arguments[:index], arguments[index:]
    if before or not words:
        return _without_command(before, words, language)
    command, rest = find_action(_command_named(words), words[1:], language, _as_typed)
    assert command.options
    chosen = read(parser_of(command, language, _as_typed), command.options, rest)
    function: Callable[[Struct], int] = pkgutil.resolve_name(command.run)
    try:
        return function(chosen)
    except SystemExit as error:  # no command ends this way: what it checked has no verdict
        raise CommandEnded(f"`{command.prog}` was ended by SystemExit({error.code!r})") from error


def _command_named(words: list[str]) -> Command:
    name = words[0]
    for command in COMMANDS:
        if command.name == name:
            return command
    import shlex

    from tooling.catalog.catalogue import is_puzzle_name
    from tooling.platform.suggestions import did_you_mean

    hint: str | Sentence
    if is_puzzle_name(name):
        hint = f"`{shlex.join(('tooling', 'run', *words))}`"
    else:
        hint = did_you_mean(name, [*(command.name for command in COMMANDS), "--help", "--version"])
    raise UsageError(_NO_COMMAND.of(name=name), hint=hint)


def _as_typed(text: str) -> str:
    from tooling.reports.invocation import as_typed

    return as_typed(text, os.environ)


def _without_command(before: list[str], words: list[str], language: str) -> int:
    """What there is without a command: the help, the versions, and a first orientation."""
    from tooling.reports.invocation import tool_prefix

    if not before:
        if sys.stdout.isatty():
            from tooling.cli.learner.journey import start_command
            from tooling.commandline.learner_options import StartOptions

            return start_command(StartOptions())
        print(_FIRST_STEPS.of(tool=tool_prefix(os.environ)).render(language))
        return ExitCode.USAGE
    if before[0] == "--version":
        from tooling.platform import pins

        print(f"tooling {pins.TOOL_VERSION}", f"Mojo {pins.MOJO_VERSION}", sep="\n")
        print(f"MAX {pins.MAX_VERSION}", f"mdBook {pins.MDBOOK_VERSION}", sep="\n")
        return ExitCode.PASSED
    parser = Parser(
        language=language, prog=tool_prefix(os.environ), description=_DESCRIPTION, epilog=_EXIT_STATUS
    )
    parser.add_argument("--version", action="store_true", help=parser.say(_SHOW_VERSIONS))
    add_list(parser, COMMANDS, "COMMAND", _COMMANDS)
    if before[0] in ("-h", "--help"):
        parser.parse_args(["--help"])
    import shlex

    from tooling.platform.suggestions import nearest, proposal

    option = before[0].partition("=")[0]
    named = next((word for word in words if word in {command.name for command in COMMANDS}), None)
    hint: Sentence
    if named:
        others = [word for word in (*before, *words) if word != named]
        hint = _OPTION_AFTER.of(command=shlex.join(("tooling", named, *others)))
    else:
        near = nearest(option, ("--help", "--version"))
        hint = proposal(near) if near else parser.where_help_is
    raise UsageError(_NO_OPTION.of(option=option), hint=hint)


def _show(error: ToolingError, command: str, language: str) -> None:
    from tooling.reports.error_text import show_error
    from tooling.reports.terminal import open_terminal

    _output_failure()  # the error is shown, whatever happens to the rest
    terminal = open_terminal(sys.stderr)
    show_error(error, terminal, language)
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


def _show_defect(error: Exception, language: str) -> None:
    import traceback

    _output_failure()
    traceback.print_exception(error, file=sys.stderr)
    print(
        f"\n{_ERROR.render(language)}: {_DEFECT.render(language)}\n"
        f"  {_TRY.render(language)}: {_REPORT.render(language)}",
        file=sys.stderr,
    )


def _end_children() -> None:
    from tooling.platform.processes import kill_running

    kill_running()


def _terminate(number: int, _frame: FrameType | None) -> None:
    raise Terminated(number)
