"""Why code objects cannot be loaded and machine code cannot be executed."""

from __future__ import annotations

from tooling.text import Text

AT_CODE_OFFSET = Text("machine code at {offset}{source}")
NO_CODE_OBJECT = Text("the program loads a module that is not machine code for an AMD GPU")
OTHER_ARCHITECTURE = Text("the program was built for {found}, and the simulated GPU is {wanted}")
OTHER_WAVEFRONT = Text(
    "kernel {kernel} was built for wavefronts of {found} threads, and the simulated {architecture} "
    "has {lanes}"
)
DAMAGED_CODE_OBJECT = Text("the code object cannot be read: {reason}")
NO_CODE_THERE = Text("a jump to {address:#x}, where there is no code of the kernel")
UNKNOWN_ENCODING = Text("this encoding is unknown")
NO_SERVICE = Text(
    "not supported yet on simulated {architecture}: a kernel that calls service {service} of the host"
)
UNSUPPORTED_MODE = Text(
    "floating-point mode {mode}: only rounding to nearest with subnormal numbers is supported"
)
UNSUPPORTED_MODE_SET = Text(
    "it sets another floating-point mode than rounding to nearest with subnormal numbers, and the simulator "
    "supports no other"
)
