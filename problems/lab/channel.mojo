"""The channel between a puzzle program and the judge.

The environment variable PUZZLE_LAB_DIR names a folder that the judge has created, with `used` and `out`:

    in/<name>.bin            read by `stage`, if present: replaces the content of the buffer
    used/<name>.<dtype>.bin  written by `stage`: the input that the program uses
    out/<name>.<dtype>.bin   written by `submit`: the result

All files hold the raw little-endian bytes of the whole buffer. Without the variable both functions
return at once. The work is in functions without parameters that call the C library: the compiler builds
them once, and formatted strings and the file class of the standard library would cost it over a second.
"""

from max.gpu.host import DeviceBuffer, HostBuffer
from std.ffi import external_call
from std.os import getenv
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
    if getenv(FOLDER_VARIABLE):
        _stage(name, String(dtype), _bytes_of(buffer))


def stage[dtype: DType](name: String, buffer: DeviceBuffer[dtype]) raises:
    """The same for a buffer in device memory."""
    if not getenv(FOLDER_VARIABLE):
        return
    # Leaving the block copies the mapped bytes back to the device.
    with buffer.map_to_host() as mapped:
        _stage(name, String(dtype), _bytes_of(mapped))


def submit[dtype: DType](name: String, buffer: HostBuffer[dtype]) raises:
    """Passes a result to the judge. Call it before the program's own comparison, which may raise.

    Args:
        name: The output's name in puzzle.yaml.
        buffer: The whole output buffer, copied back from the device.

    Raises:
        Error: If the file cannot be written.
    """
    if getenv(FOLDER_VARIABLE):
        _write_to("/out", name, String(dtype), _bytes_of(buffer))


def submit[dtype: DType](name: String, buffer: DeviceBuffer[dtype]) raises:
    """The same for a buffer in device memory."""
    if not getenv(FOLDER_VARIABLE):
        return
    with buffer.map_to_host() as mapped:
        _write_to("/out", name, String(dtype), _bytes_of(mapped))


def _stage(
    name: String, dtype: String, content: Span[Byte, MutUntrackedOrigin]
) raises:
    var path = getenv(FOLDER_VARIABLE) + "/in/" + name + ".bin"
    var file = _open(path, "rb")
    if file:
        var count = external_call["fread", Int](
            content.unsafe_ptr(), 1, len(content), file
        )
        var end = external_call["fgetc", Int32](file)
        _ = external_call["fclose", Int32](file)
        if count != len(content) or end != -1:
            raise Error(
                "lab: "
                + path
                + " cannot be read, or does not have the size of the buffer, "
                + String(len(content))
                + " bytes of "
                + dtype
                + ": stage a file of exactly that size"
            )
    _write_to("/used", name, dtype, content)


def _write_to(
    folder: String,
    name: String,
    dtype: String,
    content: Span[Byte, MutUntrackedOrigin],
) raises:
    var file_name = "/" + name + "." + dtype + ".bin"
    var path = getenv(FOLDER_VARIABLE) + folder + file_name
    var file = _open(path, "wb")
    if file:
        var count = external_call["fwrite", Int](
            content.unsafe_ptr(), 1, len(content), file
        )
        if external_call["fclose", Int32](file) == 0 and count == len(content):
            return
    raise Error("lab: " + path + " cannot be written")


def _open(path: String, mode: String) -> Int:
    """The address of a C stream, or 0 if the file cannot be opened."""
    var name = path
    var how = mode
    return external_call["fopen", Int](
        name.as_c_string_span().ptr(),
        how.as_c_string_span().ptr(),
    )


def _bytes_of[
    dtype: DType
](buffer: HostBuffer[dtype]) -> Span[Byte, MutUntrackedOrigin]:
    return Span[Byte, MutUntrackedOrigin](
        unsafe_ptr=buffer.unsafe_ptr().unsafe_bitcast[Byte](),
        length=len(buffer) * size_of[Scalar[dtype]](),
    )
