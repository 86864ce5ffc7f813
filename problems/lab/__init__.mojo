"""What the puzzle programs share: the channel to the judge and the command line.

    from lab import choose_mode, stage, submit

`stage` and `submit` do nothing unless a judge runs the program (see channel.mojo): run by hand, a
program does exactly what the book prints.
"""

from .channel import stage, submit
from .usage import choose_mode, expect_no_flags
