"""`tooling verify`: every solution passes, every skeleton fails, every wrong answer is rejected."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

from tooling.cli.options import add_reports, add_target
from tooling.exit_codes import ExitCode

if TYPE_CHECKING:
    from tooling.reports.records import ReportRecord

_MOST_NAMED = 5  # trials


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "verify",
        help="judge every solution, skeleton and mutant",
        description="Judges our own programs: every solution must pass, every skeleton must fail, and every "
        "mutant must be rejected with a diagnosis that its file expects.",
        allow_abbrev=False,
    )
    parser.add_argument("puzzles", nargs="*", help="p15, or a variant such as p15_tile_tensor (default: all)")
    parser.add_argument("--mode", action="append", default=[], help="only modes of this name")
    parser.add_argument("--part", action="append", default=[], help="only puzzles of this part, such as VI")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        choices=("solution", "skeleton", "mutant"),
        help="only programs of this kind",
    )
    parser.add_argument("--failed", action="store_true", help="only what failed last time")
    parser.add_argument(
        "--require-all",
        action="store_true",
        help="fail where something cannot be tried because this machine lacks what it needs: a GPU, MAX, "
        "PyTorch; gates and benchmarks are skipped all the same",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="programs at a time")
    add_target(parser)
    add_reports(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.project import find_project
    from tooling.reports.files import write_json, write_junit
    from tooling.reports.step_summary import publish
    from tooling.reports.terminal import open_terminal
    from tooling.toolchain import find_toolchain
    from tooling.toolchain.cache import usable_cache
    from tooling.verify.last_run import load_failures, load_seconds, save_run
    from tooling.verify.ordering import longest_first
    from tooling.verify.plan import Filter, Subject, make_plan
    from tooling.verify.trying import try_all

    project = find_project()
    cache = usable_cache()
    memory = cache.root / "last-verify.json"
    wanted = Filter(
        puzzles=tuple(arguments.puzzles),
        modes=tuple(mode if mode.startswith("--") else mode.lstrip("-") for mode in arguments.mode),
        parts=tuple(arguments.part),
        subjects=tuple(map(Subject, arguments.only)) or tuple(Subject),
        ids=frozenset(load_failures(memory)) if arguments.failed else None,
    )
    if arguments.failed and not wanted.ids:
        print("nothing failed last time")
        return ExitCode.PASSED
    tasks = make_plan(project, load_catalogue(project), wanted, cache)
    total = sum(len(task.trials) for task in tasks)
    terminal = open_terminal(sys.stderr if "-" in (arguments.json, arguments.junit) else sys.stdout)
    records: list[ReportRecord] = []
    for record in try_all(
        longest_first(tasks, load_seconds(memory)),
        project=project,
        toolchain=find_toolchain(),
        cache=cache,
        target=arguments.target,
        jobs=max(1, arguments.jobs),
    ):
        records.append(record)
        if record.status in ("failed", "error"):
            sign = "❌" if record.status == "failed" else "error:"
            terminal.line(f"{terminal.paint(sign, 'red')} {record.name}: {record.message}")
            for line in record.details.splitlines():
                terminal.line(f"     {line}")
        elif terminal.stream.isatty():
            terminal.stream.write(f"\r{len(records)}/{total}\r")
        terminal.stream.flush()
    records.sort(key=lambda record: record.name)
    note = save_run(
        memory,
        # What was skipped is what it was: a failure that could not be tried again stays one.
        {record.name: record.seconds for record in records if record.status != "skipped"},
        [record.name for record in records if record.status in ("failed", "error")],
    )
    if note:
        terminal.line(terminal.paint(f"note: {note}", "dim"))
    _show_table(records, terminal.stream is sys.stderr)
    for reason, count in Counter(each.message for each in records if each.status == "skipped").items():
        terminal.line(terminal.paint(f"skipped, {count}: {reason}", "dim"))
    if arguments.json:
        write_json(arguments.json, "verify", records)
    if arguments.junit:
        write_junit(arguments.junit, "verify", records)
    publish("tooling verify", records, project.root, terminal)
    if any(record.status in ("failed", "error") for record in records):
        return ExitCode.WRONG
    missing = [record.name for record in records if record.data and record.data.get("missing")]
    if missing and arguments.require_all:
        shown = ", ".join(missing[:_MOST_NAMED]) + (", …" if len(missing) > _MOST_NAMED else "")
        terminal.line(
            f"{terminal.paint('error:', 'red')} --require-all: {len(missing)} not tried, since this machine "
            f"lacks what is named above: {shown}"
        )
        return ExitCode.NOT_POSSIBLE
    if all(record.status == "skipped" for record in records):
        return ExitCode.NOT_POSSIBLE  # a check that could not run has not passed
    return ExitCode.PASSED


def _show_table(records: list[ReportRecord], to_stderr: bool) -> None:
    from rich.console import Console
    from rich.table import Table

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
            cells.append(f"[red]{text}[/red]" if good < len(tried) else text)
        skipped = sum(record.status == "skipped" for record in own)
        seconds = sum(record.seconds for record in own)
        table.add_row(suite, *cells, str(skipped or "-"), f"{seconds:.1f}")
    stream = sys.stderr if to_stderr else sys.stdout
    Console(file=stream, width=None if stream.isatty() else 100).print(table)
