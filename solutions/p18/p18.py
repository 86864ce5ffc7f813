"""Puzzle 18: softmax as an operation of a MAX graph, on the CPU and on the GPU."""

from pathlib import Path
from typing import Any

import numpy as np
from lab import expect_no_flags, stage, submit
from max.driver import CPU, Accelerator, Buffer, Device
from max.dtype import DType
from max.engine import InferenceSession
from max.graph import DeviceRef, Graph, TensorType, ops
from numpy.typing import NDArray

Array = NDArray[Any]

INPUT_SIZE = 128
OPERATIONS = Path(__file__).parent / "op"


# ANCHOR: softmax_custom_op_graph_solution
def softmax_graph(device: Device) -> Graph:
    """A graph of one operation: `softmax` from the package `op`, on this device."""
    where = DeviceRef.from_device(device)
    with Graph(
        "softmax",
        input_types=[TensorType(DType.float32, [INPUT_SIZE], where)],
        custom_extensions=[OPERATIONS],
    ) as graph:
        (values,) = graph.inputs
        # FILL: about 8 lines
        (result,) = ops.custom(
            name="softmax",
            device=where,
            values=[values],
            out_types=[TensorType(DType.float32, [INPUT_SIZE], where)],
            parameters={"input_size": INPUT_SIZE, "dtype": DType.float32},
        )
        graph.output(result)
        # END_FILL
    return graph


# ANCHOR_END: softmax_custom_op_graph_solution


def softmax(values: Array, device: Device) -> Array:
    """Compiles the graph for the device, runs it there and brings the result back."""
    session = InferenceSession(devices=[device])
    model = session.load(softmax_graph(device))
    (result,) = model.execute(Buffer.from_numpy(values).to(device))
    return result.to(CPU()).to_numpy()


def main() -> None:
    expect_no_flags("p18")
    values = np.random.default_rng(42).standard_normal(INPUT_SIZE).astype(np.float32)
    stage("input", values)

    out_cpu = softmax(values, CPU())
    submit("out_cpu", out_cpu)
    out = softmax(values, Accelerator())
    submit("out", out)

    exponentials = np.exp(values.astype(np.float64) - values.max())
    expected = exponentials / exponentials.sum()
    print("out_cpu:", out_cpu.tolist())
    print("out:", out.tolist())
    print("sum on the CPU:", out_cpu.sum(), "on the GPU:", out.sum())
    np.testing.assert_allclose(out_cpu, expected, rtol=1e-5)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    print("Puzzle 18 complete ✅")


if __name__ == "__main__":
    main()
