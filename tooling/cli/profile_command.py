"""`tooling profile`: what a kernel does to memory, counted on the simulated GPU."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.cli.options import ProfileOptions
from tooling.exit_codes import ExitCode

if TYPE_CHECKING:
    from tooling.catalog.model import Program
    from tooling.execution.program import Transcript
    from tooling.reports.terminal import Terminal
    from tooling.simulator.checks.findings import Finding
    from tooling.simulator.counters.profile import KernelProfile


def command(options: ProfileOptions) -> int:
    from tooling.reports.files import write_report
    from tooling.reports.terminal import open_terminal
    from tooling.simulator.counters.document import to_json
    from tooling.simulator.counters.page import to_html
    from tooling.simulator.counters.texts import say

    terminal = open_terminal(sys.stderr if options.json == "-" else sys.stdout)
    subject = _chosen(options)
    name = subject.name
    kernels, findings, transcript = _profile(subject, options.timeout, terminal, options.lang)
    _show(kernels, terminal, options.lang)
    if findings:
        terminal.line(terminal.paint(say("memory_errors", options.lang, n=len(findings)), "red"))
    status = transcript.status
    if status:
        terminal.line(terminal.paint(say("program_failed", options.lang, status=status), "yellow"))
    if options.json:
        write_report(options.json, to_json(kernels, name, status))
    if options.html:
        write_report(options.html, to_html(kernels, name, options.lang))
    code = _exit_code(transcript)
    if code is ExitCode.PASSED and not kernels:  # without a kernel there is nothing that could pass
        terminal.line(terminal.paint(say("not_launched", options.lang), "red"))
        return ExitCode.NOT_POSSIBLE
    return code


class _Subject(Struct, frozen=True):
    """What is profiled."""

    source: Path
    flags: tuple[str, ...]
    name: str  # what to call it
    program: Program | None = None  # None: a file that is no puzzle's


def _chosen(options: ProfileOptions) -> _Subject:
    if options.puzzle.endswith(".mojo"):
        return _Subject(Path(options.puzzle), options.flags, Path(options.puzzle).name)
    from tooling.catalog.catalogue import select
    from tooling.cli.parser import option_names
    from tooling.project import find_project

    selection = select(find_project(), options.puzzle, options.flags, option_names(ProfileOptions))
    source = selection.program.solution if options.solution else selection.program.problem
    return _Subject(source, selection.mode.flags, selection.command, selection.program)


def _profile(
    subject: _Subject, time_limit: float, terminal: Terminal, language: str
) -> tuple[list[KernelProfile], list[Finding], Transcript]:
    from tooling.project import ProjectNotFound, find_project
    from tooling.target_run import RunOptions, simulated_run
    from tooling.targets.model import Absence, TargetKind
    from tooling.targets.probing import probe
    from tooling.targets.selection import TargetAbsent
    from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache
    from tooling.trials import build_program, environment_of

    simulated = probe(TargetKind.SIM)
    if isinstance(simulated, Absence):
        raise TargetAbsent("there is no simulated GPU here", why=simulated.reason, hint=simulated.hint)
    toolchain, cache = find_toolchain(), open_cache()
    if subject.program:
        executable = build_program(
            subject.program, subject.source, simulated.accelerator, find_project(), toolchain, cache
        )
    else:
        try:
            includes: tuple[Path, ...] = (find_project().problems,)
        except ProjectNotFound:
            includes = ()  # any Mojo file, anywhere
        request = BuildRequest(subject.source, accelerator=simulated.accelerator, includes=includes)
        executable = build(request, toolchain, cache)
    # The memory check alone: it keeps a faulty access from ending the kernel.
    options = RunOptions(
        environment=environment_of(executable),
        time_limit=time_limit,
        stream=terminal.streamer(),
        error_output=sys.stderr.write,
        checks=frozenset({"memory"}),
        language=language,
        graphs=executable.interpreter is not None,
        count=True,
    )
    run = simulated_run([*executable.command, *subject.flags], options)
    errors = [finding for finding in run.findings if finding.severity.value == "error"]
    return list(run.kernels or ()), errors, run.transcript


def _show(kernels: list[KernelProfile], terminal: Terminal, language: str) -> None:
    from rich.console import Console

    from tooling.simulator.counters.table import show

    width = None if terminal.stream.isatty() or "COLUMNS" in os.environ else 140
    terminal.stream.flush()
    show(kernels, Console(file=terminal.stream, width=width, no_color=not terminal.colour), language)


def _exit_code(transcript: Transcript) -> ExitCode:
    from tooling.execution.program import Ending

    if transcript.ending in (Ending.TIME_LIMIT, Ending.OUTPUT_LIMIT):
        return ExitCode.TIME_LIMIT
    failed = transcript.ending is Ending.SIGNALLED or transcript.status != 0
    return ExitCode.WRONG if failed else ExitCode.PASSED
