"""MAX's own all-reduce, in one stage and in two, and its all-gather.

Arguments: `allreduce` or `allgather`, the number of GPUs (2, 4 or 8), and `large` for two stages.
"""

from comm import Signal
from comm.allgather import allgather
from comm.allreduce import allreduce
from comm.sync import enable_p2p, init_signal_buffer
from layout import TileTensor, row_major
from max.gpu.host import DeviceBuffer, DeviceContext
from std.sys import argv, size_of

comptime SMALL = 4096 + 24
comptime LARGE = 256 * 1024


struct Ranks[gpus: Int, length: Int](Movable):
    """The contexts and buffers of all GPUs."""

    var inputs: List[DeviceBuffer[DType.float32]]
    var outputs: List[DeviceBuffer[DType.float32]]
    var signals: List[DeviceBuffer[DType.uint8]]
    var contexts: List[DeviceContext]  # the last: buffers must not outlive them

    def __init__(out self) raises:
        self.contexts = []
        self.inputs = []
        self.outputs = []
        self.signals = []
        for gpu in range(Self.gpus):
            var ctx = DeviceContext(device_id=gpu)
            var input = ctx.enqueue_create_buffer[DType.float32](Self.length)
            with input.map_to_host() as host:
                for i in range(Self.length):
                    host[i] = Float32(i % 64) + Float32(gpu + 1)
            self.inputs.append(input^)
            self.outputs.append(
                ctx.enqueue_create_buffer[DType.float32](Self.length)
            )
            self.signals.append(
                ctx.create_buffer_sync[DType.uint8](
                    size_of[Signal]() + Self.gpus * 4 * Self.length
                )
            )
            self.contexts.append(ctx)
        for gpu in range(Self.gpus):
            init_signal_buffer(self.signals[gpu], self.contexts[gpu])
        self.wait()

    def wait(self) raises:
        """Waits for all GPUs."""
        for gpu in range(Self.gpus):
            self.contexts[gpu].synchronize()

    def wrong(self, gpu: Int) raises -> Int:
        """How many elements of a GPU's output are not the sum of all inputs."""
        var found = 0
        with self.outputs[gpu].map_to_host() as host:
            for i in range(Self.length):
                var expected = Float32(i % 64) * Float32(Self.gpus)
                expected += Float32(Self.gpus * (Self.gpus + 1) // 2)
                if host[i] != expected:
                    found += 1
        return found


def gather_all[gpus: Int, length: Int]() raises:
    var ranks = Ranks[gpus, length]()
    comptime layout = row_major[length]()
    comptime InTile = TileTensor[DType.float32, type_of(layout), ImmutAnyOrigin]
    comptime OutTile = TileTensor[DType.float32, type_of(layout), MutAnyOrigin]
    var inputs = Array[InTile, gpus](uninitialized=True)
    var signals = Array[Pointer[Signal, MutAnyOrigin], gpus](uninitialized=True)
    var gathered = List[DeviceBuffer[DType.float32]]()
    for gpu in range(gpus):
        inputs[gpu] = InTile(
            rebind[Pointer[Float32, ImmutAnyOrigin]](
                ranks.inputs[gpu].unsafe_ptr()
            ),
            layout,
        )
        signals[gpu] = (
            ranks.signals[gpu]
            .unsafe_ptr()
            .unsafe_bitcast[Signal]()
            .as_unsafe_any_origin()
        )
        gathered.append(
            ranks.contexts[gpu].enqueue_create_buffer[DType.float32](
                gpus * length
            )
        )
    var outputs = Array[OutTile, gpus * gpus](uninitialized=True)
    for gpu in range(gpus):
        for other in range(gpus):
            outputs[gpu * gpus + other] = OutTile(
                rebind[Pointer[Float32, MutAnyOrigin]](
                    gathered[gpu].unsafe_ptr().unsafe_offset(other * length)
                ),
                layout,
            )
    for _ in range(2):
        comptime for gpu in range(gpus):
            allgather[ngpus=gpus](
                inputs, outputs, signals, ranks.contexts[gpu], gpu
            )
    ranks.wait()
    var wrong = 0
    for gpu in range(gpus):
        with gathered[gpu].map_to_host() as host:
            for i in range(gpus * length):
                var expected = Float32(i % length % 64)
                if host[i] != expected + Float32(i // length + 1):
                    wrong += 1
    print("allgather on", gpus, "GPUs wrong:", wrong, "of", gpus**2 * length)
    _ = gathered^
    _ = ranks^  # its contexts last: buffers must not outlive them


def reduce_all[gpus: Int, length: Int]() raises:
    var ranks = Ranks[gpus, length]()
    comptime layout = row_major[length]()
    comptime InTile = TileTensor[DType.float32, type_of(layout), ImmutAnyOrigin]
    var inputs = Array[InTile, gpus](uninitialized=True)
    var signals = Array[Pointer[Signal, MutAnyOrigin], gpus](uninitialized=True)
    for gpu in range(gpus):
        inputs[gpu] = InTile(
            rebind[Pointer[Float32, ImmutAnyOrigin]](
                ranks.inputs[gpu].unsafe_ptr()
            ),
            layout,
        )
        signals[gpu] = (
            ranks.signals[gpu]
            .unsafe_ptr()
            .unsafe_bitcast[Signal]()
            .as_unsafe_any_origin()
        )
    for _ in range(2):
        comptime for gpu in range(gpus):
            var output = TileTensor(ranks.outputs[gpu], layout)
            allreduce[ngpus=gpus](inputs, output, signals, ranks.contexts[gpu])
    ranks.wait()
    var wrong = 0
    for gpu in range(gpus):
        wrong += ranks.wrong(gpu)
    print("allreduce on", gpus, "GPUs wrong:", wrong, "of", gpus * length)


def main() raises:
    var args = argv()
    var gpus = Int(String(args[2])) if len(args) > 2 else 2
    var enable = enable_p2p()
    if not enable:
        print("no peer access")
    if String(args[1]) == "allgather":
        if gpus == 2:
            gather_all[2, SMALL]()
        elif gpus == 4:
            gather_all[4, SMALL]()
        else:
            gather_all[8, SMALL]()
    elif len(args) > 3:
        if gpus == 2:
            reduce_all[2, LARGE]()
        elif gpus == 4:
            reduce_all[4, LARGE]()
        else:
            reduce_all[8, LARGE]()
    elif gpus == 2:
        reduce_all[2, SMALL]()
    elif gpus == 4:
        reduce_all[4, SMALL]()
    else:
        reduce_all[8, SMALL]()
