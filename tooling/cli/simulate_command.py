"""`tooling simulate`: any Mojo GPU program on the simulated GPU, with all its checks."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooling.commandline.options import SimulateOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.reports.terminal import Terminal
    from tooling.simulator.checks.findings import Finding
    from tooling.simulator.checks.suppressions import Suppression
    from tooling.target_run import TargetRun

_SUMMARY = Text("{count} launch, {findings}; {ended}", "{count} launches, {findings}; {ended}")
_FINDINGS = Text("{count} finding", "{count} findings")
_MORE = Text(
    "  and {count} more finding of this kind (--all-findings shows it)",
    "  and {count} more findings of this kind (--all-findings shows them)",
)
_ESTIMATES = Text("note: the last bits of these results may differ on a real GPU: {names}")


MOST_OF_A_KIND = 3
"""Findings of one kind that are printed without --all-findings."""


def simulate_command(options: SimulateOptions) -> int:
    from tooling.cli.subject import chosen_gpus, how_it_ended, link_lines, program_subject, simulated_gpu
    from tooling.commandline.parser import UsageError
    from tooling.execution.program import Ending
    from tooling.reports.terminal import open_terminal
    from tooling.simulator.checks.suppressions import read_suppressions
    from tooling.target_run import RunOptions, simulated_run
    from tooling.targets.model import TargetKind

    program = list(options.program[1:] if options.program[:1] == ("--",) else options.program)
    if not program:
        raise UsageError(Text("no program to simulate"), hint=Text("tooling simulate -- ./my_program"))
    accepted = read_suppressions(options.suppressions) if options.suppressions else ()
    kinds = {"nvidia": TargetKind.SIM, "gfx942": TargetKind.SIM_AMD, "gfx1100": TargetKind.SIM_GFX1100}
    simulated = simulated_gpu(kinds[options.gpu])
    subject = program_subject(program, simulated, options.define, options.include, options.lang)

    from tooling.simulator.gpu.stop_texts import NOT_LAUNCHED

    terminal = open_terminal()
    settings = RunOptions(
        environment=subject.environment,
        time_limit=options.timeout,
        output_limit=1 << 30,
        kept_output=0,  # it is shown as it comes
        stream=terminal.streamer(),
        error_output=sys.stderr.write,
        language=options.lang,
        checks=options.checks,
        schedule=options.schedule,
        instruction_set=simulated.instruction_set,
        selection=options.launches,
        unused_memory=options.unused_memory,
        skip_repeats=True,
        gpus=chosen_gpus(options.gpus),
    )
    run = simulated_run(subject.command, settings)
    transcript = run.transcript
    _require_selected(run, options)
    findings, notes = _without(list(run.findings), accepted, options)
    errors = [finding for finding in findings if finding.severity.value == "error"]
    most = None if options.all_findings else MOST_OF_A_KIND
    show_run(run, findings, errors, terminal, options.lang, most, verbose=options.verbose)
    for note in notes:
        terminal.line(note)
    for line in link_lines(run):
        terminal.line(terminal.paint(line.render(options.lang), "dim"))
    ended = how_it_ended(transcript, options.timeout)
    found = _FINDINGS.of(count=len(findings))
    summary = _SUMMARY.of(count=run.launches or 0, findings=found, ended=ended)
    terminal.line(terminal.paint(summary.render(options.lang), "dim"))
    if options.json:
        _write_json(options.json, [finding.to_json() for finding in findings], run)
    if run.lacked_a_gpu and not errors:
        terminal.line(_more_gpus(run).render(options.lang))
        return ExitCode.NOT_POSSIBLE
    if transcript.limited:
        return ExitCode.TIME_LIMIT
    failed = transcript.ending is Ending.SIGNALLED or transcript.status != 0
    if errors or failed or notes:
        return ExitCode.WRONG
    if not run.launches and not run.ordered_copies:  # a check that could not run has not passed
        terminal.line(NOT_LAUNCHED.render(options.lang))
        return ExitCode.NOT_POSSIBLE
    return ExitCode.PASSED


def _more_gpus(run: TargetRun) -> Text:
    """How a program gets the GPUs that it asked for."""
    from tooling.commandline.options import MOST_GPUS
    from tooling.simulator.gpu.stop_texts import FEWER_GPUS, NO_SECOND_GPU

    if run.gpus == 1:
        return NO_SECOND_GPU.of(most=MOST_GPUS)
    return FEWER_GPUS.of(count=run.gpus, most=MOST_GPUS)


def _require_selected(run: TargetRun, options: SimulateOptions) -> None:
    """Checks that the options select a launch that was made.

    Raises:
        UsageError: they select none.
    """
    if run.launches and not options.launches.numbers(run.launched):
        from tooling.commandline.parser import UsageError

        names = ", ".join(dict.fromkeys(run.launched))
        raise UsageError(
            Text("--kernel-name, --launch-skip and --launch-count select no launch"),
            why=Text("there were: {names}").of(names=names),
        )


def _without(
    findings: list[Finding], accepted: Sequence[Suppression], options: SimulateOptions
) -> tuple[list[Finding], list[str]]:
    from tooling.simulator.checks.suppressions import suppress

    if not options.suppressions:
        return findings, []
    kept, notes = suppress(findings, accepted, options.suppressions)
    return kept, [note.render(options.lang) for note in notes]


def show_run(  # noqa: PLR0917 - what is shown, and how
    run: TargetRun,
    findings: Sequence[Finding],
    errors: Sequence[Finding],
    terminal: Terminal,
    language: str,
    most: int | None = None,
    *,
    verbose: bool = False,
) -> None:
    """Shows the findings of a run, what stopped it, and what its output does not say.

    Args:
        most: findings of one kind that are shown; None: all.
        verbose: show also which instructions of its kernels may have other last bits on a real GPU.
    """
    from tooling.simulator.checks.findings import render
    from tooling.simulator.checks.texts import LAUNCHED
    from tooling.simulator.gpu.stop_texts import (
        FEWER_THREADS,
        LARGE_LAUNCH,
        LINES_CUT,
        NO_LINES,
        NO_TIMES,
        ORDER_UNCHECKED,
        REPEATED,
        REPEATED_WHY,
        STOPPED,
    )

    of_kind = Counter(finding.kind for finding in findings)
    shown: Counter[str] = Counter()
    for finding in findings:
        shown[finding.kind] += 1
        if most is not None and shown[finding.kind] > most:
            continue
        terminal.line(render(finding, language))
        if finding.launched:
            terminal.line(LAUNCHED.of(position=finding.launched).render(language))
        left = of_kind[finding.kind] - shown[finding.kind]
        if shown[finding.kind] == most and left:
            terminal.line(_MORE.of(count=left).render(language))
    if any(party.position.line <= 0 for finding in findings for party in finding.parties[:1]):
        terminal.line(NO_LINES.render(language))
    if run.lines_cut:
        terminal.line(LINES_CUT.render(language))
    stopped = run.stopped
    if stopped and not errors:  # a fault that is no mistake in memory or at barriers: a trap, a wrong call
        why = stopped.why
        if stopped.large_launch:
            facts = {"blocks": stopped.blocks, "threads": stopped.threads, "finished": stopped.finished}
            why = LARGE_LAUNCH.of(**facts)
        stop = STOPPED.of(kernel=stopped.name, position=stopped.position, why=why)
        terminal.line(stop.render(language))
        if stopped.large_launch:
            terminal.line(FEWER_THREADS.render(language))
    if run.order_unchecked and run.launches:
        terminal.line(ORDER_UNCHECKED.render(language))
    if run.asked_for_times:
        terminal.line(NO_TIMES.render(language))
    if run.repeated:
        terminal.line(REPEATED.of(count=run.repeated).render(language))
        terminal.line(REPEATED_WHY.render(language))
    if verbose and run.estimates:
        names = ", ".join(f"`{name}`" for name in run.estimates)
        terminal.line(_ESTIMATES.of(names=names).render(language))


def _write_json(path: str, findings: list[dict[str, object]], run: TargetRun) -> None:
    import json

    from msgspec.structs import asdict

    from tooling.reports.files import write_report

    report: dict[str, object] = {
        "version": 1,
        "status": run.transcript.status,
        "launches": run.launches,
        "repeated": run.repeated,
        "order_checked": not run.order_unchecked,
        "asked_for_times": run.asked_for_times,
        "last_bits_may_differ": list(run.estimates),
        "findings": findings,
    }
    if run.gpus > 1:
        links = run.links.items()
        report["links"] = [{"gpu": gpu, "memory_of": other, **asdict(each)} for (gpu, other), each in links]
    write_report(path, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
