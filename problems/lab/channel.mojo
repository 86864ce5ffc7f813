"""The channel between a puzzle program and the judge.

The environment variable PUZZLE_LAB_DIR names a folder that the judge has created:

    in/<name>.bin            read by `stage`, if present: replaces the content of the buffer
    used/<name>.<dtype>.bin  written by `stage`: the input that the program uses
    out/<name>.<dtype>.bin   written by `submit`: the result

All files hold the raw little-endian bytes of the whole buffer. Without the variable both functions
return at once.
"""

from max.gpu.host import DeviceBuffer, HostBuffer
from std.os import getenv, makedirs
from std.os.path import exists
from std.sys import size_of

comptime FOLDER_VARIABLE = "PUZZLE_LAB_DIR"


def stage[dtype: DType](name: String, buffer: HostBuffer[dtype]) raises:
    """Passes a buffer to the judge, which may replace its content, before the launch.

    Args:
        name: The buffer's name in puzzle.yaml and reference.py.
        buffer: An input, or an output with its initial content.

    Raises:
        Error: If the size of the staged file is not that of the buffer, or a file cannot be read or
            written.
    """
    var folder = getenv(FOLDER_VARIABLE)
    if not folder:
        return
    var staged = folder + "/in/" + name + ".bin"
    if exists(staged):
        _fill_from(staged, name, buffer)
    _write_to(folder + "/used", name, buffer)


def stage[dtype: DType](name: String, buffer: DeviceBuffer[dtype]) raises:
    """The same for a buffer in device memory."""
    if not getenv(FOLDER_VARIABLE):
        return
    # Leaving the block copies the mapped bytes back to the device.
    with buffer.map_to_host() as mapped:
        stage(name, mapped)


def submit[dtype: DType](name: String, buffer: HostBuffer[dtype]) raises:
    """Passes a result to the judge. Call it before the program's own comparison, which may raise.

    Args:
        name: The output's name in puzzle.yaml.
        buffer: The whole output buffer, copied back from the device.

    Raises:
        Error: If the file cannot be written.
    """
    var folder = getenv(FOLDER_VARIABLE)
    if not folder:
        return
    _write_to(folder + "/out", name, buffer)


def submit[dtype: DType](name: String, buffer: DeviceBuffer[dtype]) raises:
    """The same for a buffer in device memory."""
    if not getenv(FOLDER_VARIABLE):
        return
    with buffer.map_to_host() as mapped:
        submit(name, mapped)


def _fill_from[
    dtype: DType
](path: String, name: String, buffer: HostBuffer[dtype]) raises:
    var target = _bytes_of(buffer)
    var staged: List[Byte]
    with open(path, "r") as file:
        staged = file.read_bytes()
    if len(staged) != len(target):
        raise Error(
            t"lab: {path} holds {len(staged)} bytes, but the buffer '{name}'"
            t" has {len(target)} ({len(buffer)} elements of {dtype}): stage a"
            t" file of exactly that size"
        )
    for i in range(len(target)):
        target[i] = staged[i]


def _write_to[
    dtype: DType
](folder: String, name: String, buffer: HostBuffer[dtype]) raises:
    makedirs(folder, exist_ok=True)
    with open(String(t"{folder}/{name}.{dtype}.bin"), "w") as file:
        file.write_bytes(_bytes_of(buffer))


def _bytes_of[
    dtype: DType
](buffer: HostBuffer[dtype]) -> Span[Byte, MutUntrackedOrigin]:
    return Span[Byte, MutUntrackedOrigin](
        unsafe_ptr=buffer.unsafe_ptr().unsafe_bitcast[Byte](),
        length=len(buffer) * size_of[Scalar[dtype]](),
    )
