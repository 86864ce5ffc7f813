"""`tooling watch`: a puzzle is judged at every save."""

from __future__ import annotations

import signal
import sys

from tooling.cli.learner.choice import chosen_step
from tooling.commandline.learner_options import WatchOptions
from tooling.commandline.options import host_of
from tooling.commandline.parser import UsageError
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text


def watch_command(options: WatchOptions) -> int:
    from tooling.project import find_project

    project = find_project()
    step = chosen_step(project, options.words, WatchOptions)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            Text("`tooling watch` needs a terminal"),
            hint=Text("`tooling run {command}` judges the puzzle once").of(command=step.command),
        )
    from tooling.learning.watching import Watch

    run_options = ["--target", options.target] if options.target else []
    run_options += ["--timeout", f"{options.timeout:g}"] if options.timeout else []
    watch = Watch(project, step, run_options, options.lang)
    if host := host_of(options.on, options.target):
        from tooling.remote.connection import kept_open

        run_options += ["--on", host]
        with kept_open(host):
            quit_by_reader = watch.loop()
    else:
        quit_by_reader = watch.loop()
    return ExitCode.PASSED if quit_by_reader else 128 + signal.SIGHUP
