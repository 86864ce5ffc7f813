"""A PTX compiler whose compiled program is the PTX text (nvPTXCompiler API, "PTX Compiler APIs").

MAX graphs compile PTX before they load it; with this library they load the text, which the simulator reads.
A handle is the address of a memory block: the size, then the text with a terminating NUL.
"""

from std.ffi import external_call

from wire import NULL, at, copy_bytes

comptime _SUCCESS = Int32(0)
comptime _INVALID_HANDLE = Int32(1)
comptime _INVALID_INPUT = Int32(2)
comptime _HEADER = UInt64(8)


@export("nvPTXCompilerGetVersion")
def nvPTXCompilerGetVersion(major: UInt64, minor: UInt64) abi("C") -> Int32:
    """The nvPTXCompilerGetVersion: that of CUDA 13.0."""
    if major == NULL or minor == NULL:
        return _INVALID_INPUT
    at[UInt32](major)[] = 13
    at[UInt32](minor)[] = 0
    return _SUCCESS


@export("nvPTXCompilerCreate")
def nvPTXCompilerCreate(
    compiler: UInt64, size: UInt64, text: UInt64
) abi("C") -> Int32:
    """The nvPTXCompilerCreate: keeps a copy of the text."""
    if compiler == NULL or text == NULL:
        return _INVALID_INPUT
    var length = min(size, external_call["strnlen", UInt64](text, size))
    var block = external_call["calloc", UInt64](UInt64(1), length + _HEADER + 1)
    if block == NULL:
        return _INVALID_INPUT
    at[UInt64](block)[] = length + 1
    copy_bytes(block + _HEADER, text, Int(length))
    at[UInt64](compiler)[] = block
    return _SUCCESS


@export("nvPTXCompilerDestroy")
def nvPTXCompilerDestroy(compiler: UInt64) abi("C") -> Int32:
    """The nvPTXCompilerDestroy."""
    if compiler == NULL or at[UInt64](compiler)[] == NULL:
        return _INVALID_HANDLE
    external_call["free", NoneType](at[UInt64](compiler)[])
    at[UInt64](compiler)[] = NULL
    return _SUCCESS


@export("nvPTXCompilerCompile")
def nvPTXCompilerCompile(
    compiler: UInt64, count: Int32, options: UInt64
) abi("C") -> Int32:
    """The nvPTXCompilerCompile: no effect. Errors are reported when the module is loaded.
    """
    return _INVALID_HANDLE if compiler == NULL else _SUCCESS


@export("nvPTXCompilerGetCompiledProgramSize")
def nvPTXCompilerGetCompiledProgramSize(
    compiler: UInt64, size: UInt64
) abi("C") -> Int32:
    """The nvPTXCompilerGetCompiledProgramSize: the text with its NUL, in bytes.
    """
    if compiler == NULL or size == NULL:
        return _INVALID_HANDLE
    at[UInt64](size)[] = at[UInt64](compiler)[]
    return _SUCCESS


@export("nvPTXCompilerGetCompiledProgram")
def nvPTXCompilerGetCompiledProgram(
    compiler: UInt64, program: UInt64
) abi("C") -> Int32:
    """The nvPTXCompilerGetCompiledProgram: the text."""
    if compiler == NULL or program == NULL:
        return _INVALID_HANDLE
    copy_bytes(program, compiler + _HEADER, Int(at[UInt64](compiler)[]))
    return _SUCCESS


def _no_log_size(compiler: UInt64, size: UInt64) -> Int32:
    if compiler == NULL or size == NULL:
        return _INVALID_HANDLE
    at[UInt64](size)[] = 0
    return _SUCCESS


def _no_log(compiler: UInt64, log: UInt64) -> Int32:
    if compiler == NULL or log == NULL:
        return _INVALID_HANDLE
    at[UInt8](log)[] = 0
    return _SUCCESS


@export("nvPTXCompilerGetErrorLogSize")
def nvPTXCompilerGetErrorLogSize(
    compiler: UInt64, size: UInt64
) abi("C") -> Int32:
    """The nvPTXCompilerGetErrorLogSize: there is no log."""
    return _no_log_size(compiler, size)


@export("nvPTXCompilerGetErrorLog")
def nvPTXCompilerGetErrorLog(compiler: UInt64, log: UInt64) abi("C") -> Int32:
    """The nvPTXCompilerGetErrorLog: an empty string."""
    return _no_log(compiler, log)


@export("nvPTXCompilerGetInfoLogSize")
def nvPTXCompilerGetInfoLogSize(
    compiler: UInt64, size: UInt64
) abi("C") -> Int32:
    """The nvPTXCompilerGetInfoLogSize: there is no log."""
    return _no_log_size(compiler, size)


@export("nvPTXCompilerGetInfoLog")
def nvPTXCompilerGetInfoLog(compiler: UInt64, log: UInt64) abi("C") -> Int32:
    """The nvPTXCompilerGetInfoLog: an empty string."""
    return _no_log(compiler, log)
