"""Why launches are refused, kernels stopped and programs not understood, in both languages."""

from __future__ import annotations

from tooling.text import Text

# Refusals of a launch: the driver's rules (`launch_rules`), and the engine's own.

REFUSED = Text("{kernel} cannot be launched: {why}")
EMPTY = Text("grid {grid} and block {block} must be at least 1 everywhere")
GRID_TOO_LARGE = Text("grid {grid} is larger than {most}")
BLOCK_TOO_LARGE = Text("block {block} is larger than {most}")
TOO_MANY_THREADS = Text("a block of {threads} threads; at most {most} are possible")
OTHER_BLOCK = Text("block {block}; the kernel was compiled for blocks of {required}")
TOO_MUCH_SHARED = Text(
    "{dynamic} bytes of dynamic shared memory besides {static} of the kernel's own; at most {most} are "
    "possible (more than {plain} in all, up to {opt_in}, must be asked for: MAX_DYNAMIC_SHARED_SIZE_BYTES)"
)
ATTRIBUTE_TOO_LARGE = Text(
    "{kernel}: MAX_DYNAMIC_SHARED_SIZE_BYTES cannot be {value}: a block has at most {most} bytes of dynamic "
    "shared memory besides {static} of the kernel's own"
)
TOO_MUCH_OWN_SHARED = Text(
    "the kernel reserves {shared} bytes of shared memory; a block has {most} "
    "(more only as dynamic shared memory)"
)
OTHER_CLUSTER = Text("a cluster of {cluster}; the kernel was compiled for clusters of {required}")
WRONG_CLUSTER = Text("a cluster of {blocks} blocks; 1 to {most} are possible")
NO_MULTIPLE = Text("grid {grid} is not a multiple of the cluster {cluster}")
NOT_SIMULATED = Text("the simulated GPU cannot run this launch of {kernel}")
ON_A_REAL_GPU = Text("run this program on a real GPU (--target nvidia)")
NO_MEMORY = Text("this machine has too little memory for the launch and what the checks record of it")
TOO_MANY_BLOCKS = Text("a grid of {blocks} blocks; the checks support at most {most}")
WITHOUT_CHECKS = Text("use fewer blocks, or run it without checks (--no-check)")
EMPTY_CLUSTER = Text("grid {grid}, block {block} and cluster {cluster} must be at least 1")
TOO_MUCH_SHARED_IN_ALL = Text("{shared} bytes of shared memory; at most {most} are possible")
TOO_MUCH_LOCAL = Text(
    "the kernel uses {local} bytes of local memory for each thread; at most {most} are possible"
)
TOO_MANY_PARAMETERS = Text("the parameters of {kernel} take {bytes} bytes; at most {most} are possible")
TOO_FEW_PARAMETERS = Text("{given} bytes of parameters; the kernel takes {taken}")

# Faults: what stops a kernel.

STOPPED = Text("error: {kernel} was stopped at {position}\n  why: {why}")

LARGE_LAUNCH = Text(
    "{blocks:,} blocks of {threads:,} threads are too many for the time limit: {finished:,} blocks had ended"
)
FEWER_THREADS = Text("  try: launch fewer threads, or give it more time with --timeout")

NOT_LAUNCHED = Text(
    "error: no kernel was launched, so nothing was checked\n"
    "  why: only kernels that a Mojo program launches through `DeviceContext` run on the simulated GPU\n"
    "  try: name a Mojo program that launches a kernel on every path, or the flags with which it does"
)

LINES_CUT = Text(
    "note: the time limit (--timeout) did not suffice to look up the lines of the host\n"
    "  try: a larger limit, or a program without the debug information of libraries (`--debug-level "
    "line-tables`)"
)

NO_LINES = Text(
    "note: findings without a line of the source: the program was built without line tables\n"
    "  try: give the .mojo file instead of a command, or build with `mojo build --debug-level line-tables`"
)

NO_TIMES = Text(
    "note: the program asks for times, and the simulated GPU has none\n"
    "  why: a simulation says nothing about the speed of a GPU; each time that the program asks for is an "
    "hour\n"
    "  try: ignore the program's times; `tooling profile` counts what determines them, and a real GPU "
    "measures them; with the argument `-t`, `Bench` of std.benchmark runs each kernel once"
)

NO_SECOND_GPU = Text(
    "error: the program asks for more GPUs than there are: the simulated GPU is one device by default\n"
    "  try: `--gpus 2`, or PUZZLE_GPUS=2, for two simulated GPUs; at most {most}",
)
FEWER_GPUS = Text(
    "error: the program asks for more GPUs than the {count} simulated ones\n"
    "  try: a larger `--gpus`; at most {most}"
)

LINK = Text(
    "GPU {gpu} → GPU {other}: {loaded} bytes loaded, {stored} stored, {copied} copied, {atomics} atomics"
)

COPIES = Text(
    "copies: {to_gpu:,} bytes to the GPU, {to_host:,} back; as their order allows, all take {times:.3g} "
    "times as long as those of the longer direction"
)

ORDER_UNCHECKED = Text(
    "note: the order of the host and the GPU was not checked: streams, events, and memory that a copy still "
    "uses\n"
    "  why: this program is not an executable built by Mojo, so questions of the program about events cannot "
    "be told apart from those of Mojo's runtime\n"
    "  try: for a Mojo file, give the file itself: `tooling simulate x.mojo`"
)
REPEATED = Text(
    "note: {count} launch repeats an earlier one on unchanged data, and was not simulated again",
    "note: {count} launches repeat an earlier one on unchanged data, and were not simulated again",
)
REPEATED_WHY = Text(
    "  why: their effect is the same, as in a benchmark; if the program measures their time, it is a time of "
    "the simulation, not of a GPU"
)

OUTPUT_LOST = Text(
    "[{lost} earlier prints are lost: a GPU keeps the last {most} bytes that kernels print until the program "
    "synchronises]"
)
THREAD = Text("thread {thread} of block {block}")
SPACES = {
    "global": Text("global"),
    "shared": Text("shared"),
    "local": Text("local"),
    "parameter": Text("parameter"),
}
ILLEGAL_ADDRESS = Text(
    "{thread} accessed {bytes} bytes at {space} address {address:#x}, where there is no {space} memory"
)
READ_ONLY = Text(
    "{thread} wrote {bytes} bytes at global address {address:#x}, where the memory is mapped read-only"
)
MISALIGNED = Text("{thread} accessed {space} address {address:#x}, which is not a multiple of {bytes}")
TRAPPED = Text("{thread} stopped the kernel itself (trap)")
BROKEN_WARP = Text("{thread} executed {opcode} without all 32 lanes of its warp")
WRONG_BARRIER = Text("{thread} executed {opcode} with wrong operands: {why}")
NO_BARRIER = Text("a block has the barriers 0 to {last}, and no barrier {number}")
NO_WHOLE_WARPS = Text("the number of threads at a barrier must be a multiple of {size}, not {threads}")
NO_THREADS = Text("`arrive` must say for how many threads the barrier waits, not 0")
DIFFERENT_BARRIERS = Text("another lane of its warp names another barrier or another number of threads")
NO_END = Text("the kernel did not end within its limit")
DEADLOCK = Text("{threads} threads wait for each other and none can continue")
ENDLESS_WAIT = Text("{threads} threads wait for a value that no thread will write")
WAIT_FOR_LATER_BLOCKS = Text(
    "{threads} threads wait for a value that no running block will write, and further blocks start only when "
    "these have ended"
)
NO_TENSOR_MAP = Text(
    "no valid tensor map at {address:#x}: it must be made by cuTensorMapEncodeTiled or "
    "cuTensorMapEncodeIm2col, and be in global memory or be a kernel parameter that is not copied "
    "(nvvm.grid_constant)"
)
OTHER_MODE = Text("the tensor map was made for copies in {mode} mode, which this one is not")
BEFORE_THE_PIXELS = Text("the first pixel {pixel} is outside the bounding box of the tensor map")
BEFORE_THE_TENSOR = Text("a box cannot be stored at {start}: it starts before the tensor")
UNEVEN_BOX = Text(
    "the box begins {bytes} bytes from the tensor's edge, which is not a multiple of {alignment}"
)
NO_REDUCTION = Text("unknown reduction `{operation}` of {kind} elements")
TOO_DEEP = Text("the calls of {function} are too deep: {calls} of them fill the thread's stack")
NO_FUNCTION = Text("a call of address {address:#x}, where there is no function with this prototype")

# Instructions that cannot be executed.

FROM = Text(", from {source}")
CANNOT_EXECUTE = Text("cannot execute `{form}`")
NEVER_GUESSES = Text(
    "the simulated GPU never guesses: run this program on a real GPU (--target nvidia), write the line "
    "another way, or report the instruction so that it can be added"
)
UNKNOWN_FORM = Text("the simulator does not know this form")
WRONG_VECTOR = Text("its vector has the wrong number of elements")
NARROW_REGISTER = Text("its register is narrower than its type")
WRONG_RESULT = Text("its result has the wrong number of registers")
OTHER_OPERANDS = Text("it does not take these operands or types")
OPERAND_COUNT = Text("it has {given} operands; {known} are supported")
NO_OPERANDS = Text("it has no operands")
NO_SOURCE = Text("it has no source operand")
NO_REGISTER = Text("its destination is not a register")
DOES_NOT_FIT = Text("its result does not fit into {register}")
OTHER_OPERAND = Text("an operand that this instruction cannot take")
NO_ADDRESS = Text("an address in brackets is expected")
OTHER_SPACE = Text(
    "`{name}` is a variable of the state space `.{space}`, which the instruction does not access"
)
NO_PREDICATE = Text("its guard {register} is not a predicate register")
OUTSIDE_PARAMETERS = Text("it reads outside the {bytes} bytes of the kernel's parameters")
COPY_SIZE = Text("a copy must be of 4, 8 or 16 bytes (with `.cg` of 16), not {bytes}")
NARROW_ADDRESS = Text("addresses of global memory, of functions and generic ones have 64 bits")
NOT_OF_A_BARRIER = Text("its operands are not those of a barrier")
NOT_SO_MANY_COORDINATES = Text("a tensor map with {rank} coordinates is expected")
NOT_SO_MANY_OFFSETS = Text("{count} offsets in braces are expected")
UNKNOWN_FUNCTION = Text("unknown function `{name}`")
OTHER_ARGUMENTS = Text("its arguments are not those of `{name}`")
ONLY_PARAM = Text("only `.param` variables are passed to functions")
UNKNOWN_PARAM = Text("unknown `.param` variable `{name}`")
UNKNOWN_LABEL = Text("unknown label `{name}`")
UNKNOWN_VARIABLE = Text("unknown variable `{name}`")
UNKNOWN_REGISTER = Text("unknown register `{name}`")
