"""`tooling doctor`, `tooling editor` and `tooling cache`."""

from __future__ import annotations

import os

from tooling.commandline.learner_options import CacheOptions, DoctorOptions, EditorOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

_CACHE = Text("{path}: {count} builds, {size:.1f} MB")
_EMPTIED = Text("{path}: {count} builds removed, {size:.1f} MB")
_HOW_TO_EMPTY = Text("`{tool} cache empty` removes them; a program is then built again when it runs")
_TRY = Text("try")
_BAD = Text(
    "{count} thing keeps the puzzles from running", plural="{count} things keep the puzzles from running"
)
_ALL_GOOD = Text("this machine is ready")
_WROTE = Text("wrote {path}")
_CURRENT = Text("{path} is as it should be")
_KEPT = Text("what was there is kept: {copy}")


def show_command(options: CacheOptions) -> int:
    from tooling.reports.invocation import tool_prefix
    from tooling.reports.terminal import open_terminal
    from tooling.toolchain import open_cache

    cache, terminal = open_cache(), open_terminal()
    count, size = cache.usage()
    terminal.wrapped(_CACHE.of(path=cache.root, count=count, size=size / 1e6).render(options.lang))
    if size:
        terminal.wrapped("  " + _HOW_TO_EMPTY.of(tool=tool_prefix(os.environ)).render(options.lang))
    return ExitCode.PASSED


def empty_command(options: CacheOptions) -> int:
    from tooling.platform.errors import Location
    from tooling.reports.terminal import open_terminal
    from tooling.toolchain import open_cache
    from tooling.toolchain.cache import CacheUnusable

    cache = open_cache()
    count, size = cache.usage()
    try:
        cache.empty()
    except OSError as error:
        where = Location(cache.root)
        raise CacheUnusable(Text("the build cache cannot be emptied"), where=where, why=str(error)) from error
    emptied = _EMPTIED.of(path=cache.root, count=count, size=size / 1e6)
    open_terminal().wrapped(emptied.render(options.lang))
    return ExitCode.PASSED


def doctor_command(options: DoctorOptions) -> int:
    import json
    import sys

    from tooling.learning.doctor import CheckState, examine
    from tooling.project import find_project
    from tooling.reports.invocation import as_typed
    from tooling.reports.terminal import open_terminal
    from tooling.text.sentences import in_language

    checks = list(examine(find_project(), sys.stdout))
    bad = sum(check.state is CheckState.BAD for check in checks)

    def say(sentence: object) -> str:
        return as_typed(str(in_language(sentence, options.lang)), os.environ)

    if options.json:
        listed = [
            {
                "name": check.name,
                "state": check.state.value,
                "found": say(check.found),
                "advice": say(check.advice) if check.advice else None,
            }
            for check in checks
        ]
        from tooling.reports.files import write_report

        report = {"version": 1, "good": not bad, "checks": listed}
        write_report(options.json, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    if options.json != "-":
        terminal = open_terminal()
        signs = {
            CheckState.GOOD: ("✓", "green"),
            CheckState.NOTE: ("!", "yellow"),
            CheckState.BAD: ("✗", "red"),
        }
        for check in checks:
            sign, style = signs[check.state]
            terminal.headed(sign, f" {say(check.found)}", style)
            if check.advice:
                terminal.labelled(_TRY.render(options.lang), say(check.advice), "cyan")
        terminal.line((_BAD.of(count=bad) if bad else _ALL_GOOD).render(options.lang))
    return ExitCode.WRONG if bad else ExitCode.PASSED


def editor_command(options: EditorOptions) -> int:
    from tooling.commandline.parser import UsageError
    from tooling.learning.editors import EDITORS, write_settings
    from tooling.platform.suggestions import did_you_mean
    from tooling.project import find_project
    from tooling.reports.invocation import typed_path
    from tooling.reports.terminal import open_terminal

    if options.editor not in EDITORS:
        hint = did_you_mean(options.editor, EDITORS)
        raise UsageError(
            Text("there are no settings for the editor `{editor}`").of(editor=options.editor), hint=hint
        )
    terminal = open_terminal()
    written, then = write_settings(options.editor, find_project())
    for file in written:
        path = typed_path(file.path, os.environ)
        terminal.line((_WROTE if file.changed else _CURRENT).of(path=path).render(options.lang))
        if file.copy:
            copy = typed_path(file.copy, os.environ)
            terminal.line("  " + _KEPT.of(copy=copy).render(options.lang))
    terminal.wrapped(then.render(options.lang))
    return ExitCode.PASSED
