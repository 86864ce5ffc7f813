"""Exit codes of every `tooling` command, in one place."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status says.

    PASSED: the programs were judged right (or the check found nothing).
    WRONG: a program was judged wrong (or the check found something).
    USAGE: the command line, a manifest or another input is wrong.
    BUILD_FAILED: the Mojo compiler rejected a program.
    NOT_POSSIBLE: this machine or target cannot do it (no GPU, gated mode, missing tool).
    TIME_LIMIT: a program ran longer, or printed more, than its limit.
    INTERNAL: a defect of the tool itself (EX_SOFTWARE of sysexits.h).
    """

    PASSED = 0
    WRONG = 1
    USAGE = 2
    BUILD_FAILED = 3
    NOT_POSSIBLE = 4
    TIME_LIMIT = 5
    INTERNAL = 70
