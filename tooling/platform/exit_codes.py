"""Exit codes of all `tooling` commands."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit status of a command.

    PASSED: the programs were judged right (or the check found nothing).
    WRONG: a program was judged wrong (or the check found something).
    USAGE: the command line, a manifest or another input is wrong.
    BUILD_FAILED: the Mojo compiler rejected a program.
    NOT_POSSIBLE: this machine or target cannot do it (no GPU, gated mode, missing tool).
    TIME_LIMIT: a program exceeded its limit of time, output, memory or threads.
    INTERNAL: a defect of the tool itself (EX_SOFTWARE of sysexits.h).
    """

    PASSED = 0
    WRONG = 1
    USAGE = 2
    BUILD_FAILED = 3
    NOT_POSSIBLE = 4
    TIME_LIMIT = 5
    INTERNAL = 70
