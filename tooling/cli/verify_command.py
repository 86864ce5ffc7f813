"""`tooling verify`: every solution passes, every skeleton fails, every wrong answer is rejected."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from tooling.commandline.options import VerifyOptions, host_of
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tooling.project import Project
    from tooling.reports.records import ReportRecord
    from tooling.reports.terminal import Terminal
    from tooling.verify.plan import Task

_MOST_NAMED = 5  # trials


def verify_command(options: VerifyOptions) -> int:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.platform.workers import WorkerDied
    from tooling.project import find_project
    from tooling.remote.slurm import is_slurm
    from tooling.reports.records import error_record
    from tooling.reports.step_summary import publish
    from tooling.reports.terminal import open_terminal
    from tooling.toolchain import find_toolchain
    from tooling.toolchain.cache import usable_cache
    from tooling.verify.last_run import RunRecord, is_lost, load_seconds
    from tooling.verify.ordering import longest_first
    from tooling.verify.plan import Filter, Subject, make_plan
    from tooling.verify.trying import try_all

    project = find_project()
    cache = usable_cache()
    memory = cache.root / "last-verify.json"
    wanted = Filter(
        puzzles=options.puzzles,
        modes=tuple(mode if mode.startswith("--") else mode.lstrip("-") for mode in options.mode),
        parts=options.part,
        subjects=tuple(map(Subject, options.only)) or tuple(Subject),
        ids=_again(options, memory),
    )
    if wanted.ids is not None and not wanted.ids:
        print("nothing failed last time" if options.failed else "the last run has tried everything")
        return ExitCode.PASSED
    tasks = make_plan(project, load_catalogue(project), wanted, cache)
    if options.judge:
        return _judge(options, tasks, project)
    total = sum(len(task.trials) for task in tasks)
    terminal = open_terminal(sys.stderr if "-" in (options.json, options.junit) else sys.stdout)
    records: list[ReportRecord] = []
    hosts = [host.strip() for host in host_of(options.on, options.target).split(",")]
    if len(hosts) == 1 and is_slurm(hosts[0]):
        from tooling.bundle.cluster import try_on_cluster

        tried: Iterable[ReportRecord] = try_on_cluster(
            hosts[0],
            tasks,
            project=project,
            toolchain=find_toolchain(),
            cache=cache,
            jobs=max(1, options.jobs),
            progress=lambda line: _replace_line(terminal, line),
        )
    else:
        tried = try_all(
            longest_first(tasks, load_seconds(memory)),
            project=project,
            toolchain=find_toolchain(),
            cache=cache,
            target=options.target,
            hosts=hosts,
            jobs=max(1, options.jobs),
        )
    run = RunRecord(memory, [trial.id for task in tasks for trial in task.trials])
    try:
        for record in run.kept(tried):
            records.append(record)
            if record.status in ("failed", "error") and not is_lost(record):
                sign = "❌" if record.status == "failed" else "error:"
                terminal.line(f"{terminal.paint(sign, 'red')} {record.name}: {record.message}")
                for line in record.details.splitlines():
                    terminal.line(f"     {line}")
            elif terminal.stream.isatty():
                terminal.stream.write(f"\r{len(records)}/{total}\r")
            terminal.stream.flush()
    except WorkerDied as died:
        _write(options, [*records, error_record("verify", "tooling verify", died)])
        raise
    records.sort(key=lambda record: record.name)
    if note := run.save():
        terminal.line(terminal.paint(f"note: {note}", "dim"))
    _show_table(records, terminal.stream is sys.stderr)
    for reason, count in Counter(each.message for each in records if each.status == "skipped").items():
        terminal.line(terminal.paint(f"skipped, {count}: {reason}", "dim"))
    _write(options, records)
    publish("tooling verify", records, project.root, terminal)
    lost = [record for record in records if is_lost(record)]
    if lost:
        terminal.line(f"{terminal.paint('error:', 'red')} {len(lost)} of {total} were not tried")
        for reason in dict.fromkeys(record.details for record in lost):
            for line in reason.splitlines():
                terminal.line(f"  {line}")
        terminal.line("  try: `tooling verify --resume` with the same --on tries only these")
    if any(record.status in ("failed", "error") and not is_lost(record) for record in records):
        return ExitCode.WRONG
    if lost:
        return ExitCode.NOT_POSSIBLE
    missing = [record.name for record in records if record.data and record.data.get("missing")]
    if missing and options.require_all:
        shown = ", ".join(missing[:_MOST_NAMED]) + (", …" if len(missing) > _MOST_NAMED else "")
        terminal.line(
            f"{terminal.paint('error:', 'red')} --require-all: {len(missing)} not tried, since this machine "
            f"lacks what is named above: {shown}"
        )
        return ExitCode.NOT_POSSIBLE
    if all(record.status == "skipped" for record in records):
        return ExitCode.NOT_POSSIBLE  # a check that could not run has not passed
    return ExitCode.PASSED


def _again(options: VerifyOptions, memory: Path) -> frozenset[str] | None:
    """The ids of the trials of the last run that are wanted; None: all trials."""
    from tooling.verify.last_run import load_failures, load_untried

    if options.failed or options.resume:
        return frozenset((load_failures if options.failed else load_untried)(memory))
    return None


def _replace_line(terminal: Terminal, text: str) -> None:
    """Shows a step of the work, in a terminal only, where the next one replaces it."""
    if terminal.stream.isatty():
        terminal.stream.write(f"\r\x1b[K{text[: terminal.width or 79]}\r")
        terminal.stream.flush()


def _judge(options: VerifyOptions, tasks: Sequence[Task], project: Project) -> int:
    """Judges results that bundles brought back, instead of running anything."""
    from rich.console import Console

    from tooling.bundle.artifacts import judged_records
    from tooling.commandline.parser import UsageError
    from tooling.reports.step_summary import add_to_summary, publish
    from tooling.reports.terminal import open_terminal
    from tooling.reports.vendor_table import vendors_markdown, vendors_table
    from tooling.text import Text

    given = {"failed": options.failed, "resume": options.resume, "on": options.on, "target": options.target}
    if without_meaning := [f"--{name}" for name, value in given.items() if value]:
        raise UsageError(
            Text("--judge runs nothing: {option} has no meaning with it").of(option=without_meaning[0]),
            hint=Text("leave it out; puzzles, --mode, --part and --only select what is judged"),
        )
    terminal = open_terminal(sys.stderr if "-" in (options.json, options.junit) else sys.stdout)
    records = [record for artifact in options.judge for record in judged_records(artifact, tasks)]
    lacking = [record for record in records if record.data and record.data.get("missing")]
    for record in records:
        if record.status == "failed":
            terminal.line(f"{terminal.paint('❌', 'red')} {record.name}: {record.message}")
        elif record.status == "skipped" and record not in lacking:
            terminal.line(f"{record.name}: undecided: {record.message}")
    width = None if terminal.stream.isatty() else 100
    Console(file=terminal.stream, width=width).print(vendors_table(records))
    wrong = sum(record.status == "failed" for record in records)
    undecided = sum(record.status == "skipped" for record in records) - len(lacking)
    judged = len(records) - len(lacking)
    terminal.line(f"{judged} judged, {wrong} not as they must be, {undecided} undecided")
    if lacking:
        terminal.line(
            f"{len(lacking)} are not in the results: run all of the bundle, or name what was run, such as p15"
        )
    _write(options, records)
    add_to_summary(vendors_markdown(records))
    publish("tooling verify", records, project.root, terminal)
    if wrong:
        return ExitCode.WRONG
    # A check that could not run has not passed.
    return ExitCode.NOT_POSSIBLE if lacking or undecided == judged else ExitCode.PASSED


def _write(options: VerifyOptions, records: list[ReportRecord]) -> None:
    from tooling.reports.files import write_json, write_junit

    if options.json:
        write_json(options.json, "verify", records)
    if options.junit:
        write_junit(options.junit, "verify", records)


def _show_table(records: list[ReportRecord], to_stderr: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from tooling.text.colours import rich_style

    red = rich_style("red")
    table = Table(box=None, pad_edge=False)
    table.add_column("puzzle")
    for column in ("solutions pass", "skeletons fail", "mutants rejected", "skipped", "seconds"):
        table.add_column(column, justify="right")
    suites = list(dict.fromkeys(sorted(record.suite for record in records)))
    for suite in [*suites, "all"]:
        own = [record for record in records if suite in (record.suite, "all")]
        cells = []
        for subject in ("solution", "skeleton", "mutant"):
            tried = [
                record
                for record in own
                if record.data and record.data["subject"] == subject and record.status != "skipped"
            ]
            good = sum(record.status == "passed" for record in tried)
            text = f"{good}/{len(tried)}" if tried else "-"
            cells.append(f"[{red}]{text}[/{red}]" if good < len(tried) else text)
        skipped = sum(record.status == "skipped" for record in own)
        seconds = sum(record.seconds for record in own)
        table.add_row(suite, *cells, str(skipped or "-"), f"{seconds:.1f}")
    stream = sys.stderr if to_stderr else sys.stdout
    Console(file=stream, width=None if stream.isatty() else 100).print(table)
