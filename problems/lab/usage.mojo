"""The command line of the puzzle programs: at most one flag, which selects the mode."""

from std.sys import argv, exit, stderr

comptime USAGE_STATUS = 2


def choose_mode(program: String, flags: List[String]) -> String:
    """Returns the flag that the program was called with.

    `--help` prints the usage line and exits with status 0. Without a flag, or with an unknown flag or
    several flags, the program exits with status 2.

    Args:
        program: The program's name as the reader types it, such as p23.
        flags: The flags of its modes, such as --tiled.
    """
    var usage = String(t"usage: {program} ({String(" | ").join(flags)})")
    var arguments = argv()
    if len(arguments) < 2:
        _refuse("no mode given", usage)
    _answer_help(usage)
    if len(arguments) > 2:
        _refuse("one mode at a time", usage)
    var chosen = String(arguments[1])
    if chosen not in flags:
        _refuse(String(t"unknown mode {chosen}"), usage)
    return chosen


def expect_no_flags(program: String):
    """Accepts only an empty command line, for programs with a single mode.

    `--help` prints the usage line and exits with status 0; any other argument exits with status 2.

    Args:
        program: The program's name as the reader types it, such as p15.
    """
    var usage = String(t"usage: {program} (it has one mode and takes no flag)")
    _answer_help(usage)
    if len(argv()) > 1:
        _refuse(String(t"unknown argument {argv()[1]}"), usage)


def _answer_help(usage: String):
    for argument in argv():
        if argument == "--help" or argument == "-h":
            print(usage)
            exit(0)


def _refuse(reason: String, usage: String):
    print(reason, file=stderr)
    print(usage, file=stderr)
    exit(USAGE_STATUS)
