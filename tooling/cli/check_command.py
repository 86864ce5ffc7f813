"""`tooling check`: everything about the repository that can be checked without a GPU, in one go."""

from __future__ import annotations

import sys

from tooling.commandline.options import CheckOptions
from tooling.platform.exit_codes import ExitCode


def check_command(options: CheckOptions) -> int:
    from tooling.project import find_project
    from tooling.reports.annotations import in_workflow
    from tooling.reports.files import write_json, write_junit
    from tooling.reports.records import ReportRecord
    from tooling.reports.step_summary import add_to_summary, records_markdown
    from tooling.reports.terminal import open_terminal
    from tooling.repository_checks import CheckResult, run_checks

    terminal = open_terminal(sys.stderr if "-" in (options.json, options.junit) else sys.stdout)
    status = {CheckResult.NOTHING: "passed", CheckResult.SOMETHING: "failed", CheckResult.NOT_RUN: "error"}
    signs = {
        CheckResult.NOTHING: ("✅", "green"),
        CheckResult.SOMETHING: ("❌", "red"),
        CheckResult.NOT_RUN: ("error:", "red"),
    }
    records = []
    for outcome in run_checks(find_project()):
        check, finding = outcome.check, outcome.finding
        sign, style = signs[finding]
        last = outcome.output.splitlines()[-1] if outcome.output else ""
        tail = last if finding is CheckResult.NOTHING else f"{finding.value} (`{check.command}`)"
        terminal.line(f"{terminal.paint(sign, style)} {check.name}: {tail}")
        if finding is not CheckResult.NOTHING:
            for line in outcome.output.splitlines():
                terminal.line("     " + line)
        terminal.stream.flush()
        if in_workflow():
            for line in outcome.annotations:
                terminal.line(line)
        message = "" if finding is CheckResult.NOTHING else f"{check.command}: {finding.value}"
        data = {"command": check.command}
        records.append(
            ReportRecord("check", check.name, status[finding], outcome.seconds, message, outcome.output, data)
        )
    if options.json:
        write_json(options.json, "check", records)
    if options.junit:
        write_junit(options.junit, "check", records)
    add_to_summary(records_markdown("tooling check", records))
    if any(record.status == "failed" for record in records):
        return ExitCode.WRONG
    return ExitCode.NOT_POSSIBLE if any(each.status == "error" for each in records) else ExitCode.PASSED
