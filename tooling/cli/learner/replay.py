"""`tooling replay`: a page on which a block of a kernel, or a few, run step by step."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.commandline.options import ReplayOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.cli.subject import Subject
    from tooling.execution.program import Transcript
    from tooling.replay.trace import Trace
    from tooling.target_run import TargetRun
    from tooling.targets.model import Target

BOOK = "book"
UNFINISHED = Text(
    "`{file}` still contains the line `FILL ME IN`, so its kernel does not do its work yet; `--solution` "
    "shows the solution"
)
WRITTEN = Text("replay of {kernel}, {steps} steps, {findings} findings: {file}")
NOT_LAUNCHED = Text("error: no kernel was launched, so nothing was recorded")


def replay_command(options: ReplayOptions) -> int:
    from tooling.cli.subject import chosen_subject, exit_code_of, simulated_gpu
    from tooling.commandline.parser import UsageError, option_names
    from tooling.platform.processes import temporary_folder
    from tooling.reports.files import write_report
    from tooling.reports.terminal import open_terminal
    from tooling.targets.model import TargetKind

    if options.html == "-" and options.open:
        raise UsageError(
            Text("--open needs a file"), why=Text("with `--html -` the page is written to standard output")
        )
    terminal = open_terminal(sys.stderr if options.html == "-" else sys.stdout)
    target = simulated_gpu(TargetKind(options.target))
    subject, unfinished = chosen_subject(options, target, option_names(ReplayOptions))
    with temporary_folder("gpu-puzzle-replay-") as lab:
        staged = _stage(options, target, lab) if options.data != BOOK else {}
        run, trace = _recorded(subject, target, options, staged, terminal.streamer())
    code = exit_code_of(run.transcript)
    if trace is None:
        terminal.line(terminal.paint(NOT_LAUNCHED.render(options.lang), "red"))
        return code or ExitCode.NOT_POSSIBLE
    from tooling.replay.page import to_html

    warnings = _warnings(run.transcript, unfinished, options)
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


def _warnings(transcript: Transcript, unfinished: Path | None, options: ReplayOptions) -> list[str]:
    from tooling.cli.subject import how_it_ended
    from tooling.execution.program import Ending

    found = [UNFINISHED.of(file=unfinished.name)] if unfinished else []
    if transcript.status or transcript.ending is Ending.SIGNALLED:
        found.append(how_it_ended(transcript, options.timeout))
    return [text.render(options.lang) for text in found]


def _stage(options: ReplayOptions, target: Target, folder: Path) -> dict[str, str]:
    """Writes the judge's own data for the program; gives back the variable that names the folder.

    Raises:
        UsageError: the program is not a puzzle's, or its mode has no such data.
    """
    from tooling.catalog.catalogue import select
    from tooling.commandline.parser import UsageError
    from tooling.execution.channel import VARIABLE, LabFolder
    from tooling.judging.reference import load_reference
    from tooling.project import find_project

    if options.puzzle.endswith(".mojo") or os.sep in options.puzzle:
        raise UsageError(
            Text("--data {data} is for a puzzle").of(data=options.data),
            why=Text("the judge has no data for other programs"),
        )
    selection = select(find_project(), options.puzzle, options.flags)
    mode = target.sized(selection.mode)
    if options.data not in mode.datasets:
        raise UsageError(
            Text("--data: {command} is not judged with `{data}` data").of(
                command=selection.command, data=options.data
            )
        )
    case = load_reference(selection.puzzle).case(mode, options.data, simulated=True, lanes=target.lanes)
    lab = LabFolder(folder)
    lab.create()
    lab.stage(case.inputs)
    return {VARIABLE: str(folder)}


def _recorded(
    subject: Subject,
    target: Target,
    options: ReplayOptions,
    staged: Mapping[str, str],
    stream: Callable[[bytes], None] | None,
) -> tuple[TargetRun, Trace | None]:
    """Runs the program; once more if its first finding is elsewhere and no block was chosen.

    Raises:
        UsageError: the launch or block that was chosen does not exist.
    """
    from tooling.cli.subject import chosen_gpus
    from tooling.commandline.parser import UsageError
    from tooling.execution.program import without_noise
    from tooling.replay.running import BlockSelection, record, record_finding
    from tooling.simulator.gpu.launch import Dim3
    from tooling.target_run import RunOptions

    x, y, z = options.block or (0, 0, 0)
    blocks = tuple(Dim3(x + more, y, z) for more in range(options.blocks))
    wanted = BlockSelection(options.launch or 1, blocks, frozenset() if options.launch else subject.written)
    settings = RunOptions(
        environment={**subject.environment, **staged},
        time_limit=options.timeout,
        stream=stream,
        error_output=lambda text: sys.stderr.write(without_noise(text)),
        language=options.lang,
        graphs=subject.graphs,
        gpus=chosen_gpus(options.gpus, subject.gpus),
    )
    run = record if options.block or options.launch else record_finding
    found = run(subject.command, target, settings, wanted)
    if found.run.launches and found.grid is None:
        raise UsageError(
            Text("--launch: there is no launch {launch}").of(launch=wanted.launch),
            why=Text("the program makes {launches}").of(launches=found.run.launches),
        )
    if found.grid is not None and found.trace is None:
        absent = next(
            each for each in wanted.blocks if any(a >= b for a, b in zip(each, found.grid, strict=True))
        )
        raise UsageError(
            Text("--block: launch {launch} has no block {absent}").of(launch=wanted.launch, absent=absent),
            why=Text("its grid is {grid}, and blocks are counted from 0").of(grid=found.grid),
        )
    return found.run, found.trace


def _default_file(name: str) -> Path:
    from tooling.toolchain.cache import usable_cache

    folder = usable_cache().root / "replays"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)}.html"
