"""What `tooling simulate`, `profile` and `replay` run: a puzzle's program, a Mojo file or an executable."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field
from msgspec.structs import asdict

from tooling.catalog.catalogue import Selection, select
from tooling.commandline.fields import BadValue
from tooling.commandline.options import gpu_count
from tooling.commandline.parser import UsageError
from tooling.execution.program import Ending, Transcript, excess_facts
from tooling.generate.skeletons import FILL_MARK
from tooling.judging.texts import EXPLANATIONS
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.regular_files import read_text
from tooling.project import Project, ProjectNotFound, find_project
from tooling.replay.names import functions_between
from tooling.targets.executables import require_code_for
from tooling.targets.model import Absence, Target, TargetKind
from tooling.targets.probing import probe
from tooling.targets.selection import TargetAbsent
from tooling.text import ENGLISH, Text
from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache
from tooling.trials import build_program, environment_of

if TYPE_CHECKING:
    from tooling.target_run import TargetRun


class NotBuiltHere(ToolingError):
    """Options for the compiler were given for a program that is already built."""


class Subject(Struct, frozen=True):
    """A built program with its arguments.

    Attributes:
        name: what to call it in messages.
        command: its command line.
        environment: variables that it needs.
        graphs: whether it compiles MAX graphs.
        again: how the tool is called to see all findings, without the program's name for it.
        written: of a puzzle, the functions that a learner writes.
        gpus: that it needs.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    graphs: bool = False
    again: str = ""
    written: frozenset[str] = frozenset()
    gpus: int = 1


GPUS_VARIABLE = "PUZZLE_GPUS"


def chosen_gpus(given: int | None, needed: int = 1) -> int:
    """How many GPUs to simulate: as `--gpus` says, else PUZZLE_GPUS, else as many as the program needs.

    Raises:
        UsageError: PUZZLE_GPUS is not a number of GPUs that can be simulated.
    """
    text = os.environ.get(GPUS_VARIABLE, "")
    if given is not None or not text:
        return given or needed
    try:
        return gpu_count(text)
    except BadValue as error:
        raise UsageError(Text("{name}: {what}").of(name=GPUS_VARIABLE, what=error.what)) from error


def simulated_gpu(kind: TargetKind = TargetKind.SIM) -> Target:
    """A simulated GPU of this machine.

    Raises:
        TargetAbsent: it cannot run here.
    """
    found = probe(kind)
    if isinstance(found, Absence):
        raise TargetAbsent(Text("there is no simulated GPU here"), why=found.reason, hint=found.hint)
    return found


def link_lines(run: TargetRun) -> list[Text]:
    """What went over the links between the GPUs of a program, in each direction."""
    from tooling.simulator.gpu.stop_texts import LINK

    links = run.links.items()
    return [LINK.of(gpu=gpu, other=other, **asdict(traffic)) for (gpu, other), traffic in links]


def copy_lines(run: TargetRun) -> list[Text]:
    """How far the copies between host and GPU overlap, for a program with several streams."""
    from tooling.simulator.gpu.stop_texts import COPIES

    copies = run.copies
    if copies is None or not copies.streams:
        return []
    return [COPIES.of(to_gpu=copies.to_gpu, to_host=copies.to_host, times=copies.relative)]


class ProgramOptions(Protocol):
    """The options that name a program: a puzzle with the flags of a mode, or any other program."""

    @property
    def puzzle(self) -> str: ...
    @property
    def solution(self) -> bool: ...
    @property
    def flags(self) -> tuple[str, ...]: ...
    @property
    def define(self) -> tuple[str, ...]: ...
    @property
    def include(self) -> tuple[Path, ...]: ...
    @property
    def lang(self) -> str: ...


def chosen_subject(
    options: ProgramOptions, target: Target, own_options: Sequence[str]
) -> tuple[Subject, Path | None]:
    """The program that options name, built; the second is the file of a puzzle that is not solved yet.

    Args:
        own_options: the names of the command's options, of which a misspelled flag may be one.

    Raises:
        UsageError: -D or -I was given with a puzzle.
        UnknownPuzzle, UnknownMode, ManifestError: as `catalog` does.
        NotBuiltHere and the errors of building: as `program_subject`.
    """
    word = options.puzzle
    if word.endswith(".mojo") or os.sep in word:
        words = (word, *options.flags)
        return program_subject(words, target, options.define, options.include, options.lang), None
    if options.define or options.include:
        raise UsageError(
            Text("-D and -I are for a .mojo file"), hint=Text("a puzzle is built as `tooling run` builds it")
        )
    project = find_project()
    selection = select(project, word, options.flags, own_options)
    source = selection.program.solution if options.solution else selection.program.problem
    folder = selection.program.folder_of(source)
    unfinished = next(
        (
            folder / each.name
            for each in selection.program.sources
            if FILL_MARK in read_text(folder / each.name, errors="replace")
        ),
        None,
    )
    return puzzle_subject(selection, source, project, target, options.lang), unfinished


def puzzle_subject(
    selection: Selection, source: Path, project: Project, target: Target, language: str = ENGLISH
) -> Subject:
    """The program of a puzzle, built. Raises: as `build_program`."""
    toolchain, cache = find_toolchain(), open_cache(language=language)
    executable = build_program(selection.program, source, target.accelerator, project, toolchain, cache)
    folder = selection.program.folder_of(source)
    texts = [read_text(folder / each.name, errors="replace") for each in selection.program.sources]
    anchors = selection.mode.anchors.get(selection.program.name, ())
    return Subject(
        selection.command,
        (*executable.command, *selection.mode.flags),
        environment_of(executable),
        executable.interpreter is not None,
        f"tooling run {selection.command}",
        functions_between("\n".join(texts), anchors),
        selection.mode.gpus,
    )


def program_subject(
    words: Sequence[str],
    target: Target,
    defines: Sequence[str] = (),
    includes: Sequence[Path] = (),
    language: str = ENGLISH,
) -> Subject:
    """A Mojo file, built here, or another command; `words` are its name and its arguments.

    Args:
        defines, includes: for the compiler: `NAME` or `NAME=VALUE`, and folders.

    Raises:
        NotBuiltHere: there are some, and the command is not a Mojo file.
        OtherAccelerator: an executable was built for another GPU.
        BuildFailed and the other errors of `tooling.toolchain.build`.
    """
    first, *arguments = words
    again = f"tooling simulate -- {' '.join(words)}"
    if not first.endswith(".mojo"):
        if defines or includes:
            raise NotBuiltHere(_BUILT_ALREADY.of(program=first), why=_ONLY_FILES, hint=_GIVE_THE_FILE)
        found = shutil.which(first)
        if found:
            require_code_for(Path(found), target.accelerator)
        elif os.sep in first:
            raise ToolingError(_NO_SUCH_PROGRAM.of(program=first), where=Location(Path(first)))
        return Subject(Path(first).name, tuple(words), again=again)
    try:
        own: tuple[Path, ...] = (find_project().problems,)
    except ProjectNotFound:
        own = ()  # any Mojo file, anywhere
    request = BuildRequest(
        Path(first),
        accelerator=target.accelerator,
        includes=(*(folder.absolute() for folder in includes), *own),  # Mojo runs in another folder
        defines=tuple(defines),
    )
    executable = build(request, find_toolchain(), open_cache(language=language))
    return Subject(Path(first).name, (*executable.command, *arguments), again=again)


_EXITED = Text("the program ended with status {status}")
_SIGNALLED = Text("the program was ended by {signal}")
_LIMITS = {
    Ending.TIME_LIMIT: Text("the program did not end: stopped after {seconds} s (--timeout)"),
    Ending.OUTPUT_LIMIT: Text("the program printed too much: stopped"),
    Ending.MEMORY_LIMIT: EXPLANATIONS["memory-limit"].what,
    Ending.THREAD_LIMIT: EXPLANATIONS["thread-limit"].what,
    Ending.MEMORY_ALLOWANCE: EXPLANATIONS["memory-allowance"].what,
    Ending.FILES_LIMIT: EXPLANATIONS["files-limit"].what,
}


def how_it_ended(transcript: Transcript, timeout: float) -> Text:
    """How a program ended that is only observed, and not judged.

    Args:
        timeout: its time limit in seconds.
    """
    if transcript.ending is Ending.EXITED:
        return _EXITED.of(status=transcript.status)
    if transcript.ending is Ending.SIGNALLED:
        return _SIGNALLED.of(signal=transcript.signal_name)
    facts = excess_facts(transcript.excess) if transcript.excess else {"seconds": f"{timeout:g}"}
    return _LIMITS[transcript.ending].of(**facts)


def exit_code_of(transcript: Transcript) -> ExitCode:
    """The command's exit status after a program that is only observed, and not judged."""
    if transcript.limited:
        return ExitCode.TIME_LIMIT
    failed = transcript.ending is Ending.SIGNALLED or transcript.status != 0
    return ExitCode.WRONG if failed else ExitCode.PASSED


_BUILT_ALREADY = Text("-D and -I have no effect on `{program}`")
_ONLY_FILES = Text("they are options for the compiler, and only a .mojo file is built here")
_GIVE_THE_FILE = Text("give the .mojo file, or build the program with them and `--debug-level line-tables`")
_NO_SUCH_PROGRAM = Text("`{program}` is not an executable file")
