"""`tooling simulate`: any Mojo GPU program on the simulated GPU, with all its checks."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tooling.cli.options import CHECKS, add_checks, add_language, seconds
from tooling.exit_codes import ExitCode


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "simulate",
        help="run any Mojo GPU program on the simulated GPU",
        description="Runs a program on the simulated GPU and prints what its checks find. The program may be "
        "an executable built for sm_90a, a .mojo file, or a command such as `mojo run file.mojo`. A run in "
        "which no kernel is launched ends with status 4: nothing was checked.",
        epilog="Example: tooling simulate -- ./my_program --its-flag",
        allow_abbrev=False,
    )
    add_checks(parser)
    parser.add_argument(
        "--schedule", default="lockstep", help="lockstep (default), random:SEED or adversarial"
    )
    parser.add_argument("--timeout", type=seconds, metavar="S", default=600.0, help="time limit in seconds")
    parser.add_argument("--json", metavar="FILE", help="write the findings as JSON")
    add_language(parser)
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="-- COMMAND …", help="what to run")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from tooling.cli.parser import UsageError
    from tooling.errors import ToolingError
    from tooling.execution.program import Ending
    from tooling.reports.terminal import open_terminal
    from tooling.target_run import RunOptions, simulated_run
    from tooling.targets.model import Absence, TargetKind
    from tooling.targets.probing import probe
    from tooling.targets.selection import TargetAbsent

    program = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    if not program:
        raise UsageError("no program to simulate", hint="tooling simulate -- ./my_program")
    simulated = probe(TargetKind.SIM)
    if isinstance(simulated, Absence):
        raise TargetAbsent("there is no simulated GPU here", why=simulated.reason, hint=simulated.hint)

    from tooling.simulator.checks.findings import render
    from tooling.simulator.gpu.stop_texts import NOT_LAUNCHED, STOPPED

    if program[0].endswith(".mojo"):
        program = [_built(Path(program[0]), simulated.accelerator), *program[1:]]
    terminal = open_terminal()
    chosen = CHECKS if arguments.check is None else arguments.check
    try:
        options = RunOptions(
            time_limit=arguments.timeout,
            output_limit=1 << 30,
            kept_output=0,  # it is shown as it comes
            stream=terminal.streamer(),
            error_output=sys.stderr.write,
            language=arguments.lang,
            checks=frozenset(chosen),
            schedule=arguments.schedule,
        )
        run = simulated_run(program, options)
    except ValueError as error:  # a schedule that does not exist
        raise ToolingError(f"unknown schedule `{arguments.schedule}`", why=str(error)) from error
    transcript, findings, stopped = run.transcript, run.findings, run.stopped
    for finding in findings:
        terminal.line(render(finding, arguments.lang))
    errors = [finding for finding in findings if finding.severity.value == "error"]
    if stopped and not errors:  # a fault that is no mistake in memory or at barriers: a trap, a wrong call
        told = STOPPED.of(kernel=stopped.name, place=stopped.place, why=stopped.why).render(arguments.lang)
        terminal.line(told)
    ended = {
        Ending.EXITED: f"the program ended with status {transcript.status}",
        Ending.SIGNALLED: f"the program was ended by {transcript.signal_name}",
        Ending.TIME_LIMIT: f"the program did not end: stopped after {arguments.timeout:g} s (--timeout)",
        Ending.OUTPUT_LIMIT: "the program printed too much: stopped",
    }[transcript.ending]
    counts = f"{_count(run.launches or 0, 'launch', 'launches')}, {_count(len(findings), 'finding')}"
    terminal.line(terminal.paint(f"{counts}; {ended}", "dim"))
    if arguments.json:
        _write_json(arguments.json, [finding.to_json() for finding in findings], transcript.status)
    if transcript.ending in (Ending.TIME_LIMIT, Ending.OUTPUT_LIMIT):
        return ExitCode.TIME_LIMIT
    failed = transcript.ending is Ending.SIGNALLED or transcript.status != 0
    if errors or failed:
        return ExitCode.WRONG
    if not run.launches:  # a check that could not run has not passed
        terminal.line(NOT_LAUNCHED.render(arguments.lang))
        return ExitCode.NOT_POSSIBLE
    return ExitCode.PASSED


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _built(source: Path, accelerator: str) -> str:
    from tooling.project import ProjectNotFound, find_project
    from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache

    try:
        includes: tuple[Path, ...] = (find_project().problems,)
    except ProjectNotFound:
        includes = ()  # any Mojo file, anywhere
    request = BuildRequest(source, accelerator=accelerator, includes=includes)
    return str(build(request, find_toolchain(), open_cache()).path)


def _write_json(path: str, findings: list[dict[str, object]], status: int) -> None:
    import json

    from tooling.reports.files import write_report

    text = json.dumps({"version": 1, "status": status, "findings": findings}, indent=2, ensure_ascii=False)
    write_report(path, text + "\n")
