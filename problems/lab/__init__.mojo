"""Helpers of the puzzle programs: the channel to the judge and the command line.

    from lab import choose_mode, stage, submit

`stage` and `submit` have no effect unless the judge runs the program (see channel.mojo).
"""

from .channel import stage, submit
from .usage import choose_mode, expect_no_flags
