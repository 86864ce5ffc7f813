"""`tooling cache`."""

from __future__ import annotations

import os

from tooling.cli.learner_options import CacheOptions
from tooling.exit_codes import ExitCode
from tooling.text import Text

_CACHE = Text("{path}: {count} builds, {size:.1f} MB")
_EMPTIED = Text("{path}: {count} builds removed, {size:.1f} MB")
_HOW_TO_EMPTY = Text("`{tool} cache empty` removes them; a program is then built again when it runs")


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
    from tooling.errors import Location
    from tooling.reports.terminal import open_terminal
    from tooling.toolchain import open_cache
    from tooling.toolchain.cache import CacheUnusable

    cache = open_cache()
    count, size = cache.usage()
    try:
        cache.empty()
    except OSError as error:
        where = Location(cache.root)
        raise CacheUnusable("the build cache cannot be emptied", where=where, why=str(error)) from error
    emptied = _EMPTIED.of(path=cache.root, count=count, size=size / 1e6)
    open_terminal().wrapped(emptied.render(options.lang))
    return ExitCode.PASSED
