"""Both kernels of the operation `softmax` without a graph: quicker to build, and told by Mojo line."""

from layout import TileTensor, row_major
from max.gpu.host import DeviceContext
from std.testing import assert_almost_equal

from lab import expect_no_flags, stage, submit
from op.softmax import (
    BLOCK_DIM_X,
    GRID_DIM_X,
    SIZE,
    softmax_cpu_kernel,
    softmax_gpu_kernel,
)

comptime dtype = DType.float32
comptime layout = row_major[SIZE]()
comptime TOLERANCE = 1e-5


def main() raises:
    expect_no_flags("p18_test")
    with DeviceContext() as ctx:
        var input = ctx.enqueue_create_buffer[dtype](SIZE)
        input.enqueue_fill(0)
        var out = ctx.enqueue_create_buffer[dtype](SIZE)
        out.enqueue_fill(0)
        with input.map_to_host() as input_host:
            for i in range(SIZE):
                input_host[i] = Scalar[dtype](i)
        stage("input", input)
        stage("out", out)

        comptime kernel = softmax_gpu_kernel[
            OutputLayout=type_of(layout),
            InputLayout=type_of(layout),
            SIZE,
            dtype,
        ]
        ctx.enqueue_function[kernel](
            TileTensor(out, layout),
            TileTensor[mut=False](input, layout),
            grid_dim=GRID_DIM_X,
            block_dim=BLOCK_DIM_X,
        )
        ctx.synchronize()
        submit("out", out)

        var out_cpu = ctx.enqueue_create_host_buffer[dtype](SIZE)
        out_cpu.enqueue_fill(0)
        ctx.synchronize()
        with input.map_to_host() as input_host:
            softmax_cpu_kernel[SIZE, dtype](
                TileTensor(out_cpu, layout),
                TileTensor[mut=False](input_host, layout),
            )
        submit("out_cpu", out_cpu)

        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("out_cpu:", out_cpu)
            var total = Scalar[dtype](0)
            for i in range(SIZE):
                total += out_host[i]
                assert_almost_equal(
                    out_host[i], out_cpu[i], atol=TOLERANCE, rtol=TOLERANCE
                )
            assert_almost_equal(total, 1, atol=TOLERANCE, rtol=TOLERANCE)
        print("Kernels of puzzle 18 complete ✅")
