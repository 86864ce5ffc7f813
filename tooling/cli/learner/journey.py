"""`tooling start`, `tooling next` and `tooling progress`."""

from __future__ import annotations

from tooling.commandline.learner_options import ProgressOptions, StartOptions
from tooling.platform.exit_codes import ExitCode


def start_command(options: StartOptions) -> int:
    from tooling.learning.journey import open_journey
    from tooling.learning.screens import show_start
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    show_start(open_journey(find_project()), open_terminal(), options.lang)
    return ExitCode.PASSED


def next_command(options: StartOptions) -> int:
    from tooling.learning.journey import open_journey
    from tooling.learning.screens import show_next_with_commands
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    show_next_with_commands(open_journey(find_project()), open_terminal(), options.lang)
    return ExitCode.PASSED


def progress_command(options: ProgressOptions) -> int:
    from tooling.learning.journey import open_journey
    from tooling.learning.screens import progress_record, show_progress
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    journey = open_journey(find_project())
    if options.json:
        import json

        from tooling.reports.files import write_report

        write_report(options.json, json.dumps(progress_record(journey), indent=2, ensure_ascii=False) + "\n")
    else:
        show_progress(journey, open_terminal(), options.lang)
    return ExitCode.PASSED
