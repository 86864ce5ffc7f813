"""Time measurement for the `--benchmark` modes of the puzzle programs.

A launch is repeated until the standard error of its mean time is below one percent, or MOST_REPETITIONS
times; then its row is marked as not settled. Before each repetition a buffer larger than any cache is
overwritten, so that the launch reads its input from memory. The program rotates its inputs, and compares
the results of the last repetition afterwards. Bandwidth is also given relative to a device-to-device copy
that moves the same number of bytes, measured in the same way in the same run, so that the ratio can be
compared between GPUs.

On the simulated GPU no times are measured: every launch runs once, and the program reports this. For
`tooling profile --full-size` a sample of its blocks runs, at the size for a real GPU; results are not
complete then, see `lab.machine.sampled`.
"""

from max.gpu.host import DeviceBuffer, DeviceContext
from std.math import sqrt

from .machine import on_simulated_gpu, sampled

comptime WANTED_ERROR = 0.01  # standard error of the mean, relative to it
comptime LEAST_REPETITIONS = 10
comptime MOST_REPETITIONS = 2000
comptime WARM_UP = 3
comptime FLUSH_BYTES = 512 * 1024 * 1024  # twice the largest cache of a current GPU


@fieldwise_init
struct Sample(Copyable, Movable):
    """Times of one launch."""

    var mean: Float64  # nanoseconds
    var error: Float64  # standard error of the mean, relative to it
    var repetitions: Int


struct Benchmark(Movable):
    """A table of measurements with one row per launch, printed row by row."""

    var context: DeviceContext
    var timed: Bool
    var full_size: Bool  # whether launches have the size for a real GPU
    var _flush: DeviceBuffer[DType.uint8]
    var _copy_bytes: Int
    var _copy_time: Float64

    def __init__(out self, context: DeviceContext) raises:
        """Prints the header of the table, or the reason why there are no times.
        """
        self.context = context
        self.timed = not on_simulated_gpu()
        self.full_size = self.timed or sampled()
        self._flush = context.enqueue_create_buffer[DType.uint8](
            FLUSH_BYTES if self.timed else 1
        )
        self._copy_bytes = 0
        self._copy_time = 0
        if sampled():
            print(
                "Each kernel runs once, a sample of its blocks: results are not"
            )
            print("compared, and times are estimated.")
            return
        if not self.timed:
            print(
                "Times need a real GPU: on the simulated one each kernel runs"
            )
            print("once and its result is compared; `tooling profile` counts.")
            return
        print("device:", context.name())
        print(
            _cell("kernel", 28, left=True)
            + _cell("elements", 12)
            + _cell("runs", 6)
            + _cell("mean (us)", 13)
            + _cell("+- %", 7)
            + _cell("GB/s", 9)
            + _cell("of copy", 9)
        )

    def measure[
        LaunchType: def(Int, DeviceContext) raises -> None
    ](
        mut self,
        name: String,
        elements: Int,
        bytes: Int,
        launch: LaunchType,
    ) raises:
        """Measures a launch and prints its row; on the simulated GPU, runs it once.

        Args:
            name: The row's name.
            elements: The number of elements that the launch processes.
            bytes: The number of bytes that it must read and write; 0 where bandwidth is not meaningful.
            launch: Enqueues the work; its first argument is the number of the repetition, which selects
                the inputs.
        """
        if not self.timed:
            launch(0, self.context)
            self.context.synchronize()
            print("ran:", name, "elements:", elements)
            return
        if bytes > 0 and bytes != self._copy_bytes:
            self._measure_copy(bytes)
        var sample = self._repeat(launch)
        var row = _cell(name, 28, left=True)
        row += _cell(String(elements), 12)
        row += _cell(String(sample.repetitions), 6)
        row += _cell(_fixed(sample.mean / 1000, 2), 13)
        row += _cell(_fixed(sample.error * 100, 2), 7)
        if bytes > 0:
            row += _cell(_fixed(Float64(bytes) / sample.mean, 1), 9)
            row += _cell(_fixed(self._copy_time / sample.mean, 3), 9)
        if sample.error >= WANTED_ERROR:
            row += "  (not settled)"
        print(row)

    def _measure_copy(mut self, bytes: Int) raises:
        # A copy reads and writes each byte: half the bytes cause the same traffic.
        var half = max(1, bytes // 2)
        var source = self.context.enqueue_create_buffer[DType.uint8](half)
        source.enqueue_fill(1)
        var target = self.context.enqueue_create_buffer[DType.uint8](half)
        target.enqueue_fill(0)

        def copy(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_copy(target, source)

        var sample = self._repeat(copy)
        self._copy_bytes = bytes
        self._copy_time = sample.mean

    def _repeat[
        LaunchType: def(Int, DeviceContext) raises -> None
    ](self, launch: LaunchType) raises -> Sample:
        for i in range(WARM_UP):
            launch(i, self.context)
        var count = 0
        var mean = Float64(0)
        var squares = Float64(0)  # sum of squared distances from the mean
        var error = Float64(1)
        while count < MOST_REPETITIONS:
            # Not synchronised: the launch below is enqueued while the fill runs,
            # so the host's time to enqueue it is not measured.
            self._flush.enqueue_fill(UInt8(count % 251))

            def once(ctx: DeviceContext) raises {imm}:
                launch(count, ctx)

            var time = Float64(self.context.execution_time(once, 1))
            count += 1
            # Welford's running mean and variance.
            var distance = time - mean
            mean += distance / Float64(count)
            squares += distance * (time - mean)
            if count >= LEAST_REPETITIONS:
                var variance = squares / Float64(count - 1)
                error = sqrt(variance / Float64(count)) / mean
                if error < WANTED_ERROR:
                    break
        return Sample(mean, error, count)


def _cell(text: String, width: Int, *, left: Bool = False) -> String:
    var padding = String()
    for _ in range(width - text.byte_length()):
        padding += " "
    return text + padding if left else padding + text


def _fixed(value: Float64, digits: Int) -> String:
    """The number with `digits` decimal places."""
    var scale = 10**digits
    var rounded = Int(value * Float64(scale) + 0.5)
    var behind = String(rounded % scale)
    while behind.byte_length() < digits:
        behind = "0" + behind
    return String(rounded // scale) + "." + behind
