"""The entry point of the command `tooling` and of `python -m tooling`.

It imports little, so that an interrupt that arrives while the rest is imported ends with one line too.
"""

import contextlib
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def main() -> int:
    """Runs the command line; returns its exit status, 130 after an interrupt at any moment."""
    handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell's `&` has it ignored
    if handled:
        signal.signal(signal.SIGINT, _end)
    from tooling import cli  # noqa: PLC0415

    try:
        if handled:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return cli.main()
    except KeyboardInterrupt:  # a second one, while the first was handled
        _end()
    except cli.Terminated as ended:
        return ended.status
    finally:
        if handled:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own end is silent as well


def _end(_number: int = signal.SIGINT, _frame: FrameType | None = None) -> NoReturn:
    """Ends this process, which has started nothing yet or has ended what it started."""
    with contextlib.suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)


if __name__ == "__main__":  # worker processes import this file too
    sys.exit(main())
