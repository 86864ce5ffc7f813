"""Puzzle 17: the convolution of puzzle 13 as an operation of a MAX graph, on the CPU and on the GPU."""

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

INPUT_SIZE = 15
CONV_SIZE = 4
OPERATIONS = Path(__file__).parent / "op"


# ANCHOR: conv_1d_graph
def conv_1d_graph(device: Device) -> Graph:
    """A graph of one operation: `conv1d` from the package `op`, on this device."""
    where = DeviceRef.from_device(device)
    with Graph(
        "conv_1d",
        input_types=[
            TensorType(DType.float32, [INPUT_SIZE], where),
            TensorType(DType.float32, [CONV_SIZE], where),
        ],
        custom_extensions=[OPERATIONS],
    ) as graph:
        signal, kernel = graph.inputs
        (result,) = ops.custom(
            name="conv1d",
            device=where,
            values=[signal, kernel],
            out_types=[TensorType(DType.float32, [INPUT_SIZE], where)],
            parameters={"input_size": INPUT_SIZE, "conv_size": CONV_SIZE, "dtype": DType.float32},
        )
        graph.output(result)
    return graph


# ANCHOR_END: conv_1d_graph


# ANCHOR: conv_1d
def conv_1d(signal: Array, kernel: Array, device: Device) -> Array:
    """Compiles the graph for the device, runs it there and brings the result back."""
    session = InferenceSession(devices=[device])
    model = session.load(conv_1d_graph(device))
    (result,) = model.execute(Buffer.from_numpy(signal).to(device), Buffer.from_numpy(kernel).to(device))
    return result.to(CPU()).to_numpy()


# ANCHOR_END: conv_1d


def main() -> None:
    expect_no_flags("p17")
    signal = np.arange(INPUT_SIZE, dtype=np.float32)
    kernel = np.arange(CONV_SIZE, dtype=np.float32)
    stage("input", signal)
    stage("kernel", kernel)

    out_cpu = conv_1d(signal, kernel, CPU())
    submit("out_cpu", out_cpu)
    out = conv_1d(signal, kernel, Accelerator())
    submit("out", out)

    behind = np.zeros(CONV_SIZE - 1, np.float32)
    expected = np.correlate(np.concatenate([signal, behind]), kernel)
    print("out_cpu:", out_cpu.tolist())
    print("out:", out.tolist())
    print("expected:", expected.tolist())
    np.testing.assert_allclose(out_cpu, expected, rtol=1e-5)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    print("Puzzle 17 complete ✅")


if __name__ == "__main__":
    main()
