"""`tooling init` and `tooling update`."""

from __future__ import annotations

import os

from tooling.commandline.learner_options import InitOptions, UpdateOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

_MADE = Text("{path} has {count} puzzles")
_THEN = Text("type")
_CARRIED = Text("{path}: your answer was carried over")
_NOT_CARRIED = Text("{path}: your answer was not carried over, because {why}")
_RESTORED = Text("{path} was missing, and is the skeleton again")
_COPY = Text("your file as it was: {copy}")
_COMPARE = Text("compare the two files, and copy what you need")
_CURRENT = Text("the puzzles are up to date, and no file that you have edited had to change")


def init_command(options: InitOptions) -> int:
    import shlex

    from tooling.learning.own_folder import create
    from tooling.reports.invocation import typed_path
    from tooling.reports.terminal import open_terminal

    project = create(options.folder)
    terminal = open_terminal()
    puzzles = len(list(project.problems.glob("p[0-9]*")))
    path = typed_path(project.root, os.environ)
    terminal.wrapped(_MADE.of(path=path, count=puzzles).render(options.lang))
    terminal.line(_THEN.render(options.lang) + ":")
    terminal.line(f"  cd {shlex.quote(str(options.folder))}")
    terminal.line(f"  {'pixi run' if 'PIXI_ENVIRONMENT_NAME' in os.environ else 'uv run'} tooling start")
    return ExitCode.PASSED


def update_command(options: UpdateOptions) -> int:
    from tooling.learning.own_folder import is_own_folder, refresh
    from tooling.learning.updating import pull
    from tooling.project import find_project
    from tooling.reports.invocation import typed_path
    from tooling.reports.terminal import open_terminal

    project = find_project()
    update = refresh(project) if is_own_folder(project) else pull(project)
    terminal = open_terminal()
    carried = update.carried
    for restored in update.restored:
        text = _RESTORED.of(path=typed_path(restored, os.environ))
        terminal.wrapped(text.render(options.lang))
    for each in carried:
        facts = {"path": typed_path(each.path, os.environ), "why": each.obstacle}
        text = _NOT_CARRIED if each.obstacle else _CARRIED
        terminal.wrapped(text.of(**facts).render(options.lang), "red" if each.obstacle else None)
        terminal.wrapped("  " + _COPY.of(copy=typed_path(each.copy, os.environ)).render(options.lang))
        if each.obstacle:
            terminal.wrapped("  " + _COMPARE.render(options.lang))
    if not carried:
        terminal.wrapped(_CURRENT.render(options.lang))
    return ExitCode.WRONG if any(each.obstacle for each in carried) else ExitCode.PASSED
