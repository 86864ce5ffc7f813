"""`tooling profile`: what a kernel does to memory, counted on the simulated GPU."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.commandline.options import ProfileOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.cli.subject import Subject
    from tooling.target_run import TargetRun
    from tooling.targets.model import TargetKind


def profile_command(options: ProfileOptions) -> int:
    from tooling.cli.subject import (
        chosen_gpus,
        chosen_subject,
        copy_lines,
        exit_code_of,
        link_lines,
        simulated_gpu,
    )
    from tooling.commandline.parser import UsageError, option_names
    from tooling.execution.program import without_noise
    from tooling.reports.files import write_report
    from tooling.reports.terminal import open_terminal
    from tooling.simulator.counters.difference import read_baseline, show_difference
    from tooling.simulator.counters.document import to_csv, to_json
    from tooling.simulator.counters.page import to_html
    from tooling.simulator.counters.table import show
    from tooling.simulator.counters.texts import say
    from tooling.simulator.gpu.stop_texts import NO_TIMES
    from tooling.simulator.listings.document import listing_document
    from tooling.simulator.listings.listing import listing_of
    from tooling.simulator.listings.page import listings_page
    from tooling.simulator.listings.table import show_listing
    from tooling.simulator.nvidia.machine_code.tools import find_tools, has_tools
    from tooling.simulator.timing.benchmark import (
        benchmark_of,
        document_of_benchmark,
        show_benchmark,
        show_largest,
    )
    from tooling.simulator.timing.parameters import GPUS
    from tooling.simulator.timing.profiler import TimingProfiler
    from tooling.simulator.timing.report import document_of, show_times, times_of
    from tooling.simulator.timing.sampling import SAMPLE_VARIABLE
    from tooling.target_run import RunOptions, simulated_run
    from tooling.targets.model import TargetKind

    baseline = read_baseline(options.baseline) if options.baseline else None
    terminal = open_terminal(sys.stderr if "-" in (options.json, options.csv) else sys.stdout)
    target = simulated_gpu(TargetKind(options.target))
    if options.html and target.kind is not TargetKind.SIM:
        raise UsageError(
            Text("--html draws the sectors and banks of an NVIDIA GPU"),
            hint=Text("use the table, --json or --csv"),
        )
    if options.sass and target.kind is not TargetKind.SIM:
        raise UsageError(
            Text("--sass shows the machine code of an NVIDIA GPU"),
            hint=Text("--ptx shows an AMD GPU's, which is what runs on the simulated GPU"),
        )
    if options.full_size:
        _require_benchmark(options, target.kind)
    tools = find_tools(_with_extra(options)) if options.sass else None
    subject, unfinished = chosen_subject(options, target, option_names(ProfileOptions))
    profiler = TimingProfiler(
        selection=options.launches,
        tools=tools or (find_tools() if has_tools() else None),
        sampled=options.full_size,
    )
    # The memory check keeps a faulty access from ending the kernel; the order of the copies is shown.
    settings = RunOptions(
        gpus=chosen_gpus(options.gpus, subject.gpus),
        environment={**subject.environment, **({SAMPLE_VARIABLE: "1"} if options.full_size else {})},
        time_limit=options.timeout,
        stream=terminal.streamer(),
        error_output=lambda text: sys.stderr.write(without_noise(text)),
        checks=frozenset({"memory"}),
        host_order=True,
        language=options.lang,
        graphs=subject.graphs,
        instruction_set=target.instruction_set,
        executor=profiler,
        selection=options.launches,
    )
    run = simulated_run(subject.command, settings)
    kernels = list(profiler.profiles.kernels)
    ran = bool(kernels or profiler.launches)
    _require_selected(run, ran, options)
    terminal.stream.flush()
    console = terminal.console()
    listings = [listing_of(kernel, tools) for kernel in kernels] if tools else []
    for listing in listings:
        listing.kernel.registers = listing.code.resources.registers
    benchmark = benchmark_of(run.transcript.stdout, profiler.launches, GPUS[0])
    times = []
    if options.full_size:
        show_largest(benchmark, GPUS[0], console, options.lang)
    else:
        show(kernels, console, options.lang, instructions=options.ptx)
        for line in (*link_lines(run), *copy_lines(run)):
            terminal.line(line.render(options.lang))
        times = times_of(kernels, profiler.launches, GPUS[0])
        show_times(times, GPUS[0], console, options.lang)
    show_benchmark(benchmark, console, options.lang)
    for listing in listings:
        show_listing(listing, console, options.lang)
    if baseline and options.baseline:
        show_difference(baseline, kernels, console, options.lang, options.baseline)
    warnings = _warnings(run, subject, unfinished, options)
    for warning in warnings:
        terminal.line(terminal.paint(warning, "red"))
    if run.asked_for_times:
        terminal.line(NO_TIMES.render(options.lang))
    status = run.transcript.status
    if options.json:
        documents = [listing_document(listing) for listing in listings]
        estimated = [document_of(time, GPUS[0]) for _, time in times]
        rows = document_of_benchmark(benchmark, GPUS[0])
        document = to_json(
            kernels, subject.name, status, documents, estimated, benchmark=rows, copies=run.copies
        )
        write_report(options.json, document)
    if options.csv:
        write_report(options.csv, to_csv(kernels))
    if options.html:
        pages = listings_page(listings, options.lang) if listings else None
        write_report(options.html, to_html(kernels, subject.name, options.lang, warnings, pages))
    code = exit_code_of(run.transcript)
    if code is ExitCode.PASSED and not ran:  # without a kernel there is nothing that could pass
        terminal.line(terminal.paint(say("not_launched", options.lang), "red"))
        return ExitCode.NOT_POSSIBLE
    return code


def _with_extra(options: ProfileOptions) -> str:
    """The command of this process with the extra `sass`."""
    import shlex

    from tooling.reports.invocation import tool_prefix

    prefix = tool_prefix(os.environ, extra="sass")
    if "sass" not in prefix:  # the environment is not one of uv or pixi
        prefix = "uv run --extra sass tooling"
    solution = ("--solution",) if options.solution else ()
    return shlex.join((*prefix.split(), "profile", options.puzzle, *options.flags, "--sass", *solution))


def _require_benchmark(options: ProfileOptions, target: TargetKind) -> None:
    """`--full-size` is for a benchmark on the simulated NVIDIA GPU, and counts nothing.

    Raises:
        UsageError: the other options are for something else.
    """
    from tooling.commandline.parser import UsageError
    from tooling.targets.model import TargetKind

    if "--benchmark" not in options.flags:
        raise UsageError(
            Text("--full-size is for the mode --benchmark"),
            hint=Text("tooling profile p31 --benchmark --full-size"),
        )
    counting = (options.html, options.csv, options.baseline, options.ptx, options.sass)
    if any(counting) or target is not TargetKind.SIM or options.gpus:
        raise UsageError(
            Text("--full-size estimates times on one NVIDIA GPU, and counts nothing"),
            hint=Text("without the other options, but for --json"),
        )


def _require_selected(run: TargetRun, found: bool, options: ProfileOptions) -> None:
    if run.launches and not found:
        from tooling.commandline.parser import UsageError

        names = ", ".join(dict.fromkeys(run.launched))
        raise UsageError(
            Text("--kernel-name, --launch-skip and --launch-count select no launch"),
            why=Text("there were: {names}").of(names=names),
        )


def _warnings(
    run: TargetRun, subject: Subject, unfinished: Path | None, options: ProfileOptions
) -> list[str]:
    """What makes the counts doubtful."""
    from tooling.cli.subject import how_it_ended
    from tooling.execution.program import Ending
    from tooling.reports.invocation import as_typed
    from tooling.simulator.counters.texts import say

    language, command = options.lang, as_typed(subject.again, os.environ)
    errors = [
        finding
        for finding in run.findings
        if finding.check.value == "memory" and finding.severity.value == "error"
    ]
    transcript = run.transcript
    found = []
    if unfinished:
        found.append(say("unfinished", language, file=unfinished.name))
    if errors:
        found.append(say("memory_errors", language, n=len(errors), command=command))
    if transcript.limited:
        found.append(how_it_ended(transcript, options.timeout).render(language))
    elif transcript.ending is Ending.SIGNALLED:
        found.append(say("program_failed", language, status=transcript.signal_name))
    elif transcript.status:
        found.append(say("program_failed", language, status=transcript.status))
        if options.full_size:
            found.append(say("full_size_failed", language))
    if not options.solution and subject.again.startswith("tooling run"):
        found.append(say("not_judged", language, command=command))
    return found
