"""`tooling clean`: removes what runs have left on another machine."""

from __future__ import annotations

from tooling.commandline.options import CleanOptions, host_of
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

_NO_HOST = Text("no machine is named")
_NAME_IT = Text("add `--on HOST`, or set PUZZLE_ON")
_REMOVED = Text("removed {folder} on {host}: {size:.1f} MB")


def clean_command(options: CleanOptions) -> int:
    from tooling.commandline.parser import UsageError
    from tooling.remote.connection import connection
    from tooling.remote.runs import remove_everything
    from tooling.reports.terminal import open_terminal

    host = host_of(options.on, None)
    if not host:
        raise UsageError(_NO_HOST, hint=_NAME_IT)
    folder, size = remove_everything(connection(host))
    removed = _REMOVED.of(folder=folder, host=host, size=size / 1e6)
    open_terminal().wrapped(removed.render(options.lang))
    return ExitCode.PASSED
