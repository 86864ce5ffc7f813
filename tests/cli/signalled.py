"""Runs `tooling`, and sends this process a signal at a certain event: deterministic moments for trials.

usage: signalled.py SIGNAL NUMBER EVENT... -- ARGUMENTS

The signal arrives at the event of this number among the audit events of these names, counted from 1. The last
line of stderr is `events: N`, unless the signal ended the process.
"""

import atexit
import os
import signal
import sys

from tooling.__main__ import main


def run() -> int:
    number, wanted, *words = sys.argv[1:]
    separator = words.index("--")
    events, arguments = frozenset(words[:separator]), words[separator + 1 :]
    count = 0

    def hook(event: str, _: object) -> None:
        nonlocal count
        if event in events:
            count += 1
            if count == int(wanted):
                os.kill(os.getpid(), signal.Signals[number])

    def tell() -> None:
        sys.stderr.write(f"events: {count}\n")

    sys.addaudithook(hook)
    sys.argv[1:] = arguments
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` has it ignored
    atexit.register(tell)
    return main()


if __name__ == "__main__":
    sys.exit(run())
