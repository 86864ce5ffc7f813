"""Runs `tooling` as its entry point does, with a GPU that needs no driver.

TEST_GPU is `sm_90a` and so on for an NVIDIA GPU of that kind; without it the machine is as it is.
TEST_NO_SIMULATION makes it the GPU of `--target sim`, too.
TEST_STARTED names a folder that shows that Python has started.
"""

import os
import signal
import sys

signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the tool handles it
if started := os.environ.get("TEST_STARTED"):
    os.makedirs(started, exist_ok=True)  # noqa: PTH103
from tooling.__main__ import main  # noqa: E402
from tooling.targets import probing, selection  # noqa: E402
from tooling.targets.model import Absence, Target, TargetKind  # noqa: E402

real_probe = probing.probe


def probe(kind: TargetKind) -> Target | Absence:
    gpu = os.environ.get("TEST_GPU")
    if gpu and (kind is TargetKind.NVIDIA or (kind is TargetKind.SIM and "TEST_NO_SIMULATION" in os.environ)):
        major, minor = divmod(int(gpu.removeprefix("sm_").removesuffix("a")), 10)
        return Target(TargetKind.NVIDIA, "test GPU", gpu, (major, minor))
    return real_probe(kind)


for module in (probing, selection):
    vars(module)["probe"] = probe
if __name__ == "__main__":  # worker processes import this file too
    # A shell lets what it starts in the background ignore interrupts; tests that send one must not notice.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
