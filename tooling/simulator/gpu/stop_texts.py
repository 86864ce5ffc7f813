"""Why launches are refused, kernels stopped and programs not understood, in both languages."""

from __future__ import annotations

from tooling.simulator.gpu.phrases import Phrase

# Refusals of a launch: the driver's rules (`launch_rules`), and the engine's own.

REFUSED = Phrase("{kernel} cannot be launched: {why}", "{kernel} 커널을 실행할 수 없습니다: {why}")
EMPTY = Phrase(
    "grid {grid} and block {block} must be at least 1 everywhere",
    "그리드 {grid}와 블록 {block}의 크기는 어느 방향으로나 1 이상이어야 합니다",
)
GRID_TOO_LARGE = Phrase("grid {grid} is larger than {most}", "그리드 {grid}가 한도 {most}를 넘습니다")
BLOCK_TOO_LARGE = Phrase("block {block} is larger than {most}", "블록 {block}이 한도 {most}를 넘습니다")
TOO_MANY_THREADS = Phrase(
    "a block of {threads} threads; at most {most} are possible",
    "블록 하나의 스레드가 {threads}개입니다. 최대 {most}개까지 가능합니다",
)
OTHER_BLOCK = Phrase(
    "block {block}; the kernel was compiled for blocks of {required}",
    "블록이 {block}이지만, 커널은 {required} 블록에 맞추어 컴파일되었습니다",
)
TOO_MUCH_SHARED = Phrase(
    "{dynamic} bytes of dynamic shared memory besides {static} of the kernel's own; at most {most} are "
    "possible (more than {plain} in all, up to {opt_in}, must be asked for: MAX_DYNAMIC_SHARED_SIZE_BYTES)",
    "커널 자체의 공유 메모리 {static}바이트 외에 동적 공유 메모리가 {dynamic}바이트입니다. 최대 "
    "{most}바이트까지 가능합니다 (모두 합해 {plain}바이트를 넘으면 MAX_DYNAMIC_SHARED_SIZE_BYTES로 "
    "요청해야 하고, {opt_in}바이트가 한도입니다)",
)
TOO_MUCH_OWN_SHARED = Phrase(
    "the kernel reserves {shared} bytes of shared memory; a block has {most} "
    "(more only as dynamic shared memory)",
    "커널이 공유 메모리 {shared}바이트를 잡아 두지만, 블록에는 {most}바이트가 있습니다 "
    "(더 많이 쓰려면 동적 공유 메모리로 요청해야 합니다)",
)
OTHER_CLUSTER = Phrase(
    "a cluster of {cluster}; the kernel was compiled for clusters of {required}",
    "클러스터가 {cluster}이지만, 커널은 {required} 클러스터에 맞추어 컴파일되었습니다",
)
WRONG_CLUSTER = Phrase(
    "a cluster of {blocks} blocks; 1 to {most} are possible",
    "클러스터 하나의 블록이 {blocks}개입니다. 1개부터 {most}개까지 가능합니다",
)
NO_MULTIPLE = Phrase(
    "grid {grid} is no multiple of the cluster {cluster}",
    "그리드 {grid}가 클러스터 {cluster}의 배수가 아닙니다",
)
NOT_SIMULATED = Phrase(
    "the simulated GPU cannot run this launch of {kernel}",
    "시뮬레이션 GPU는 {kernel} 커널을 이렇게 실행할 수 없습니다",
)
ON_A_REAL_GPU = Phrase(
    "run this program on a real GPU (--target nvidia)",
    "이 프로그램은 실제 GPU에서 실행합니다 (--target nvidia)",
)
TOO_MANY_BLOCKS = Phrase(
    "a grid of {blocks} blocks; its checks have room for {most}",
    "그리드의 블록이 {blocks}개이지만, 검사는 {most}개까지만 할 수 있습니다",
)
WITHOUT_CHECKS = Phrase(
    "take fewer blocks, or run it without checks (--no-check)",
    "블록 수를 줄이거나, 검사 없이 실행합니다 (--no-check)",
)
EMPTY_CLUSTER = Phrase(
    "grid {grid}, block {block} and cluster {cluster} must be at least 1",
    "그리드 {grid}, 블록 {block}, 클러스터 {cluster}의 크기는 1 이상이어야 합니다",
)
TOO_MUCH_SHARED_IN_ALL = Phrase(
    "{shared} bytes of shared memory; {most} are possible",
    "공유 메모리가 {shared}바이트입니다. {most}바이트까지 가능합니다",
)
TOO_MUCH_LOCAL = Phrase(
    "the kernel takes {local} bytes of local memory for each thread; {most} are possible",
    "커널이 스레드마다 로컬 메모리 {local}바이트를 씁니다. {most}바이트까지 가능합니다",
)
TOO_FEW_PARAMETERS = Phrase(
    "{given} bytes of parameters; the kernel takes {taken}",
    "인자가 {given}바이트이지만, 커널은 {taken}바이트를 받습니다",
)

# Faults: what stops a kernel.

STOPPED = Phrase(
    "error: {kernel} was stopped at {place}\n  why: {why}",
    "오류: {place}에서 {kernel} 커널이 중단되었습니다\n  이유: {why}",
)

NOT_LAUNCHED = Phrase(
    "error: no kernel was launched, so nothing was checked\n"
    "  why: only kernels that a Mojo program launches through `DeviceContext` run on the simulated GPU\n"
    "  try: name a Mojo program that launches a kernel on every path, or the flags with which it does",
    "오류: 실행된 커널이 없어 아무것도 검사하지 못했습니다\n"
    "  이유: Mojo 프로그램이 `DeviceContext`로 실행한 커널만 시뮬레이션 GPU에서 동작합니다\n"
    "  해 보기: 커널을 실행하는 Mojo 프로그램을 지정하거나, 커널을 실행하는 플래그를 함께 줍니다",
)

OUTPUT_LOST = Phrase(
    "[{lost} earlier prints are lost: a GPU keeps the last {most} bytes that kernels print until the program "
    "synchronises]",
    "[앞서 출력한 {lost}건은 사라졌습니다. GPU는 프로그램이 동기화할 때까지 커널의 출력을 마지막 "
    "{most}바이트만 보관합니다]",
)
THREAD = Phrase("thread {thread} of block {block}", "블록 {block}의 스레드 {thread}")
SPACES = {
    "global": Phrase("global", "전역"),
    "shared": Phrase("shared", "공유"),
    "local": Phrase("local", "로컬"),
    "parameter": Phrase("parameter", "인자"),
}
ILLEGAL_ADDRESS = Phrase(
    "{who} accessed {bytes} bytes at {space} address {address:#x}, where there is no {space} memory",
    "{who}가 {space} 메모리가 없는 {space} 주소 {address:#x}에서 {bytes}바이트에 접근했습니다",
)
READ_ONLY = Phrase(
    "{who} wrote {bytes} bytes at global address {address:#x}, where the memory is mapped read-only",
    "{who}가 메모리가 읽기 전용으로 매핑된 전역 주소 {address:#x}에 {bytes}바이트를 썼습니다",
)
MISALIGNED = Phrase(
    "{who} accessed {space} address {address:#x}, no multiple of {bytes}",
    "{who}가 {bytes}의 배수가 아닌 {space} 주소 {address:#x}에 접근했습니다",
)
TRAPPED = Phrase("{who} stopped the kernel itself (trap)", "{who}가 스스로 커널을 중단했습니다 (trap)")
BROKEN_WARP = Phrase(
    "{who} came to {opcode} without all 32 lanes of its warp",
    "{who}가 {opcode}에 왔지만, 워프의 레인 32개가 모두 모이지 않았습니다",
)
NO_END = Phrase("the kernel did not end within its limit", "커널이 정해진 한도 안에 끝나지 않았습니다")
DEADLOCK = Phrase(
    "{threads} threads wait for each other and none can go on",
    "스레드 {threads}개가 서로를 기다려 아무도 나아갈 수 없습니다",
)
ENDLESS_WAIT = Phrase(
    "{threads} threads wait for what no thread will do any more",
    "스레드 {threads}개가 더는 아무 스레드도 하지 않을 일을 기다립니다",
)
NO_TENSOR_MAP = Phrase(
    "there is no tensor map at {address:#x}: it must be made by cuTensorMapEncodeTiled or "
    "cuTensorMapEncodeIm2col, and lie in global memory or be a kernel parameter that is not copied "
    "(nvvm.grid_constant)",
    "{address:#x}에 텐서 맵이 없습니다. 텐서 맵은 cuTensorMapEncodeTiled나 cuTensorMapEncodeIm2col로 "
    "만들어야 하고, 전역 메모리에 있거나 복사되지 않는 커널 인자(nvvm.grid_constant)여야 합니다",
)
OTHER_MODE = Phrase(
    "the tensor map was made for copies in {mode} mode, which this one is not",
    "텐서 맵은 {mode} 방식의 복사를 위해 만들었지만, 이 복사는 그 방식이 아닙니다",
)
BEFORE_THE_PIXELS = Phrase(
    "the first pixel {pixel} lies outside the box from which the tensor map takes pixels",
    "첫 픽셀 {pixel}이 텐서 맵이 픽셀을 가져오는 영역의 밖에 있습니다",
)
BEFORE_THE_TENSOR = Phrase(
    "a box cannot be stored at {start}: it begins before the tensor",
    "상자를 {start}에 저장할 수 없습니다. 텐서보다 앞에서 시작합니다",
)
UNEVEN_BOX = Phrase(
    "the box begins {bytes} bytes from the tensor's edge, which is not a multiple of {alignment}",
    "상자가 텐서 가장자리에서 {bytes}바이트 떨어진 곳에서 시작하는데, {alignment}의 배수가 아닙니다",
)
NO_REDUCTION = Phrase(
    "there is no reduction `{operation}` of {kind} elements", "{kind} 원소에는 `{operation}` 축약이 없습니다"
)
TOO_DEEP = Phrase(
    "the calls of {function} are too deep: {calls} of them fill the thread's stack",
    "{function} 함수의 호출이 너무 깊습니다. {calls}번의 호출로 스레드의 스택이 가득 찼습니다",
)
NO_FUNCTION = Phrase(
    "a call of address {address:#x}, where there is no function of this form",
    "주소 {address:#x}를 호출했지만, 거기에는 이런 형태의 함수가 없습니다",
)

# Instructions that cannot be executed.

AT_PTX_LINE = Phrase("PTX line {line}, column {column}", "PTX {line}번째 줄 {column}번째 열")
FROM = Phrase(", from {source}", " ({source})")
CANNOT_EXECUTE = Phrase("cannot execute `{form}`", "`{form}` 명령을 실행할 수 없습니다")
NEVER_GUESSES = Phrase(
    "the simulated GPU never guesses: run this program on a real GPU (--target nvidia), write the line "
    "another way, or report the instruction so that it can be added",
    "시뮬레이션 GPU는 짐작하지 않습니다. 이 프로그램을 실제 GPU에서 실행하거나 (--target nvidia), 그 줄을 "
    "다르게 쓰거나, 명령을 추가할 수 있게 알립니다",
)
UNKNOWN_FORM = Phrase("the simulator does not know this form", "시뮬레이터가 모르는 형태입니다")
WRONG_VECTOR = Phrase("its vector has the wrong number of elements", "벡터의 원소 수가 맞지 않습니다")
WRONG_RESULT = Phrase(
    "its result has the wrong number of registers", "결과를 받는 레지스터의 수가 맞지 않습니다"
)
OTHER_OPERANDS = Phrase(
    "it has other operands or types than it takes", "피연산자나 자료형이 이 명령이 받는 것과 다릅니다"
)
OPERAND_COUNT = Phrase(
    "it has {given} operands, {known} are known", "피연산자가 {given}개이지만 {known}개로 알고 있습니다"
)
NO_OPERANDS = Phrase("it has no operands", "피연산자가 없습니다")
NO_SOURCE = Phrase("it has no source operand", "원본 피연산자가 없습니다")
NO_REGISTER = Phrase("its destination is no register", "결과를 받는 곳이 레지스터가 아닙니다")
DOES_NOT_FIT = Phrase("its result does not fit into {register}", "결과가 {register}에 들어가지 않습니다")
OTHER_OPERAND = Phrase(
    "an operand that this instruction cannot take", "이 명령이 받을 수 없는 피연산자가 있습니다"
)
NO_ADDRESS = Phrase("an address in brackets is expected", "대괄호 안에 주소가 있어야 합니다")
OTHER_SPACE = Phrase(
    "`{name}` is a variable of the state space `.{space}`, which the instruction does not access",
    "`{name}`은(는) 이 명령이 접근하지 않는 `.{space}` 상태 공간의 변수입니다",
)
NO_PREDICATE = Phrase(
    "its guard {register} is not a predicate register", "가드 {register}가 프레디킷 레지스터가 아닙니다"
)
OUTSIDE_PARAMETERS = Phrase(
    "it reads outside the {bytes} bytes of the kernel's parameters",
    "커널 인자 {bytes}바이트의 범위를 벗어나 읽습니다",
)
COPY_SIZE = Phrase(
    "a copy must be of 4, 8 or 16 bytes (with `.cg` of 16), not {bytes}",
    "복사하는 크기는 4, 8, 16바이트(`.cg`에서는 16바이트)여야 하며, {bytes}바이트는 안 됩니다",
)
NARROW_ADDRESS = Phrase(
    "addresses of global memory, of functions and generic ones have 64 bits",
    "전역 메모리와 함수의 주소, 제네릭 주소는 64비트입니다",
)
NOT_OF_A_BARRIER = Phrase("its operands are not those of a barrier", "피연산자가 배리어의 것이 아닙니다")
NOT_SO_MANY_COORDINATES = Phrase(
    "a tensor map with {rank} coordinates is expected", "좌표가 {rank}개인 텐서 맵이 있어야 합니다"
)
NOT_SO_MANY_OFFSETS = Phrase(
    "{count} offsets in braces are expected", "중괄호 안에 오프셋이 {count}개 있어야 합니다"
)
UNKNOWN_FUNCTION = Phrase("there is no function `{name}`", "`{name}` 함수가 없습니다")
OTHER_ARGUMENTS = Phrase("its arguments are not those of `{name}`", "인자가 `{name}` 함수의 것과 다릅니다")
ONLY_PARAM = Phrase(
    "only `.param` variables are passed to functions", "함수에는 `.param` 변수만 전달할 수 있습니다"
)
UNKNOWN_PARAM = Phrase("there is no `.param` variable `{name}`", "`{name}`이라는 `.param` 변수가 없습니다")
UNKNOWN_LABEL = Phrase("there is no label `{name}`", "`{name}` 레이블이 없습니다")
UNKNOWN_VARIABLE = Phrase("there is no variable `{name}`", "`{name}` 변수가 없습니다")
UNKNOWN_REGISTER = Phrase("there is no register `{name}`", "`{name}` 레지스터가 없습니다")
