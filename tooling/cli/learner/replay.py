"""`tooling replay`: a page on which one block of a kernel runs step by step."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.cli.options import ReplayOptions
from tooling.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.cli.subject import Subject
    from tooling.execution.program import Transcript
    from tooling.replay.trace import Trace
    from tooling.simulator.checks.findings import Finding
    from tooling.target_run import TargetRun

UNFINISHED = Text(
    "`{file}` still contains the line `FILL ME IN`, so its kernel does not do its work yet; `--solution` "
    "shows the solution"
)
FAILED = Text("the program ended with status {status}")
WRITTEN = Text("replay of {kernel}, {steps} steps, {findings} findings: {file}")
NOT_LAUNCHED = Text("error: no kernel was launched, so nothing was recorded")


def replay_command(options: ReplayOptions) -> int:
    from msgspec.structs import replace

    from tooling.cli.parser import UsageError, option_names
    from tooling.cli.subject import chosen_subject, exit_code_of, simulated_gpu
    from tooling.reports.files import write_report
    from tooling.reports.terminal import open_terminal

    if options.html == "-" and options.open:
        raise UsageError("--open needs a file", why="with `--html -` the page is written to standard output")
    terminal = open_terminal(sys.stderr if options.html == "-" else sys.stdout)
    subject, unfinished = chosen_subject(options, simulated_gpu(), option_names(ReplayOptions))
    run, trace = _recorded(subject, options, terminal.streamer())
    code = exit_code_of(run.transcript)
    if trace is None:
        terminal.line(terminal.paint(NOT_LAUNCHED.render(options.lang), "red"))
        return code or ExitCode.NOT_POSSIBLE
    trace = replace(trace, launches=run.launches or trace.launch)
    from tooling.replay.page import to_html

    warnings = _warnings(run.transcript, unfinished, options.lang)
    page = to_html(trace, subject.name, options.lang, warnings)
    file = options.html or str(_default_file(subject.name))
    write_report(file, page)
    findings = len(trace.marks) + trace.elsewhere
    facts = {"kernel": trace.kernel, "steps": len(trace.steps), "findings": findings, "file": file}
    for warning in warnings:
        terminal.line(terminal.paint(warning, "red"))
    terminal.line(WRITTEN.of(**facts).render(options.lang))
    if options.open:
        import webbrowser

        webbrowser.open(Path(file).absolute().as_uri())
    errors = [finding for finding in run.findings if finding.severity.value == "error"]
    return code or (ExitCode.WRONG if errors else ExitCode.PASSED)


def _warnings(transcript: Transcript, unfinished: Path | None, language: str) -> list[str]:
    from tooling.execution.program import Ending

    found = [UNFINISHED.of(file=unfinished.name)] if unfinished else []
    if transcript.status or transcript.ending is Ending.SIGNALLED:
        signalled = transcript.ending is Ending.SIGNALLED
        found.append(FAILED.of(status=transcript.signal_name if signalled else transcript.status))
    return [text.render(language) for text in found]


def _recorded(
    subject: Subject, options: ReplayOptions, stream: Callable[[bytes], None] | None
) -> tuple[TargetRun, Trace | None]:
    """Runs the program; once more if its first finding is in another launch or block than was recorded."""
    run, trace = _record(subject, options, stream, options.launch or 1, options.block or (0, 0, 0))
    if trace is None or trace.marks or options.block or options.launch:
        return run, trace
    place = _place(run.findings)
    if place is None or place == (trace.launch, trace.position):
        return run, trace
    again, found = _record(subject, options, None, *place)
    return (again, found) if found is not None else (run, trace)


def _place(findings: tuple[Finding, ...]) -> tuple[int, tuple[int, ...]] | None:
    """Launch and block of the first finding that names a thread, errors before warnings."""
    named = [finding for finding in findings if finding.parties and finding.launch]
    named.sort(key=lambda finding: finding.severity.value != "error")
    return (named[0].launch, named[0].parties[0].block) if named else None


def _record(
    subject: Subject,
    options: ReplayOptions,
    stream: Callable[[bytes], None] | None,
    launch: int,
    block: tuple[int, ...],
) -> tuple[TargetRun, Trace | None]:
    from tooling.cli.parser import UsageError
    from tooling.replay.recorder import ReplayEngine
    from tooling.simulator.gpu.launch import Dim3
    from tooling.target_run import RunOptions, simulated_run

    engine = ReplayEngine(launch, Dim3(*block), options.lang)
    settings = RunOptions(
        environment=subject.environment,
        time_limit=options.timeout,
        stream=stream,
        error_output=sys.stderr.write if stream else None,
        language=options.lang,
        graphs=subject.graphs,
        executor=engine,
    )
    run = simulated_run(subject.command, settings)
    if run.launches and engine.grid is None:
        raise UsageError(f"--launch: there is no launch {launch}", why=f"the program makes {run.launches}")
    if engine.grid is not None and engine.trace is None:
        raise UsageError(
            f"--block: launch {launch} has no block {Dim3(*block)}",
            why=f"its grid is {engine.grid}, and blocks are counted from 0",
        )
    return run, engine.trace


def _default_file(name: str) -> Path:
    from tooling.toolchain.cache import usable_cache

    folder = usable_cache().root / "replays"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)}.html"
