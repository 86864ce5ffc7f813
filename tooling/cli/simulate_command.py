"""`tooling simulate`: any Mojo GPU program on the simulated GPU, with all its checks."""

from __future__ import annotations

import sys
from pathlib import Path

from tooling.cli.options import SimulateOptions
from tooling.exit_codes import ExitCode


def command(options: SimulateOptions) -> int:
    from tooling.cli.parser import UsageError
    from tooling.execution.program import Ending
    from tooling.reports.terminal import open_terminal
    from tooling.target_run import RunOptions, simulated_run
    from tooling.targets.model import Absence, TargetKind
    from tooling.targets.probing import probe
    from tooling.targets.selection import TargetAbsent

    program = list(options.program[1:] if options.program[:1] == ("--",) else options.program)
    if not program:
        raise UsageError("no program to simulate", hint="tooling simulate -- ./my_program")
    simulated = probe(TargetKind.SIM if options.gpu == "nvidia" else TargetKind.SIM_AMD)
    if isinstance(simulated, Absence):
        raise TargetAbsent("there is no simulated GPU here", why=simulated.reason, hint=simulated.hint)

    from tooling.simulator.checks.findings import render
    from tooling.simulator.gpu.stop_texts import NOT_LAUNCHED, STOPPED

    if program[0].endswith(".mojo"):
        program = [_built(Path(program[0]), simulated.accelerator), *program[1:]]
    terminal = open_terminal()
    settings = RunOptions(
        time_limit=options.timeout,
        output_limit=1 << 30,
        kept_output=0,  # it is shown as it comes
        stream=terminal.streamer(),
        error_output=sys.stderr.write,
        language=options.lang,
        checks=options.checks,
        schedule=options.schedule,
        instruction_set=simulated.instruction_set,
    )
    run = simulated_run(program, settings)
    transcript, findings, stopped = run.transcript, run.findings, run.stopped
    for finding in findings:
        terminal.line(render(finding, options.lang))
    errors = [finding for finding in findings if finding.severity.value == "error"]
    if stopped and not errors:  # a fault that is no mistake in memory or at barriers: a trap, a wrong call
        told = STOPPED.of(kernel=stopped.name, position=stopped.position, why=stopped.why).render(
            options.lang
        )
        terminal.line(told)
    ended = {
        Ending.EXITED: f"the program ended with status {transcript.status}",
        Ending.SIGNALLED: f"the program was ended by {transcript.signal_name}",
        Ending.TIME_LIMIT: f"the program did not end: stopped after {options.timeout:g} s (--timeout)",
        Ending.OUTPUT_LIMIT: "the program printed too much: stopped",
    }[transcript.ending]
    counts = f"{_count(run.launches or 0, 'launch', 'launches')}, {_count(len(findings), 'finding')}"
    terminal.line(terminal.paint(f"{counts}; {ended}", "dim"))
    if options.json:
        _write_json(options.json, [finding.to_json() for finding in findings], transcript.status)
    if transcript.ending in (Ending.TIME_LIMIT, Ending.OUTPUT_LIMIT):
        return ExitCode.TIME_LIMIT
    failed = transcript.ending is Ending.SIGNALLED or transcript.status != 0
    if errors or failed:
        return ExitCode.WRONG
    if not run.launches:  # a check that could not run has not passed
        terminal.line(NOT_LAUNCHED.render(options.lang))
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
