"""Runs `tooling` as its entry point does, with a GPU that needs no driver.

TEST_GPU is `sm_90a` and so on for an NVIDIA GPU of that kind; without it the machine is as it is.
"""

import os
import signal
import sys

from tooling.cli import main
from tooling.targets import probing, selection
from tooling.targets.model import Absence, Target, TargetKind

real_probe = probing.probe


def probe(kind: TargetKind) -> Target | Absence:
    gpu = os.environ.get("TEST_GPU")
    if gpu and kind is TargetKind.NVIDIA:
        major, minor = divmod(int(gpu.removeprefix("sm_").removesuffix("a")), 10)
        return Target(kind, "test GPU", gpu, (major, minor))
    return real_probe(kind)


for module in (probing, selection):
    vars(module)["probe"] = probe
if __name__ == "__main__":  # worker processes import this file too
    # A shell lets what it starts in the background ignore interrupts; tests that send one must not notice.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
