from max.gpu import AddressSpace, block_dim, block_idx, thread_idx
from max.gpu.host import ConstantMemoryMapping, DeviceContext
from std.memory import unsafe_stack_allocation

comptime SIZE = 100
comptime DEGREE = 4


def polynomial(
    result: Pointer[Float32, MutAnyOrigin],
    x: Pointer[Float32, MutAnyOrigin],
    size: Int32,
):
    var coefficients = unsafe_stack_allocation[
        DEGREE,
        Float32,
        name=StaticString("coeff"),
        address_space=AddressSpace.CONSTANT,
    ]()
    var i = Int(block_idx.x * block_dim.x + thread_idx.x)
    if i < Int(size):
        var value: Float32 = 0
        for k in range(DEGREE):
            value = value * x[unsafe_offset=i] + coefficients[unsafe_offset=k]
        result[unsafe_offset=i] = value + coefficients[unsafe_offset=i % DEGREE]


def main() raises:
    var coefficients: List[Float32] = [1.0, -2.0, 0.5, 3.0]
    with DeviceContext() as ctx:
        var x = ctx.enqueue_create_buffer[DType.float32](SIZE)
        var out = ctx.enqueue_create_buffer[DType.float32](SIZE)
        with x.map_to_host() as host:
            for i in range(SIZE):
                host[i] = Float32(i) / 8
        ctx.enqueue_function[polynomial](
            out,
            x,
            Int32(SIZE),
            grid_dim=4,
            block_dim=32,
            constant_memory=[
                ConstantMemoryMapping(
                    "coeff",
                    coefficients.unsafe_ptr()
                    .unsafe_bitcast[NoneType]()
                    .unsafe_origin_cast[MutUntrackedOrigin](),
                    coefficients.byte_length(),
                )
            ],
        )
        var wrong = 0
        with out.map_to_host() as host:
            for i in range(SIZE):
                var at = Float32(i) / 8
                var value: Float32 = 0
                for k in range(DEGREE):
                    value = value * at + coefficients[k]
                value += coefficients[i % DEGREE]
                if host[i] != value:
                    wrong += 1
        print("wrong:", wrong, "of", SIZE)
    _ = coefficients^
