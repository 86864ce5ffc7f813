"""Puzzle 19: attention for one query as an operation of a MAX graph, on the CPU and on the GPU."""

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

SEQ_LEN = 16
D = 16
OPERATIONS = Path(__file__).parent / "op"


# ANCHOR: attention_graph
def attention_graph(device: Device) -> Graph:
    """A graph of one operation: `attention` from the package `op`, on this device."""
    where = DeviceRef.from_device(device)
    vector = TensorType(DType.float32, [D], where)
    matrix = TensorType(DType.float32, [SEQ_LEN, D], where)
    with Graph("attention", input_types=[vector, matrix, matrix], custom_extensions=[OPERATIONS]) as graph:
        (result,) = ops.custom(
            name="attention",
            device=where,
            values=list(graph.inputs),
            out_types=[vector],
            parameters={"seq_len": SEQ_LEN, "d": D, "dtype": DType.float32},
        )
        graph.output(result)
    return graph


# ANCHOR_END: attention_graph


def attention(q: Array, k: Array, v: Array, device: Device) -> Array:
    """Compiles the graph for the device, runs it there and brings the result back."""
    session = InferenceSession(devices=[device])
    model = session.load(attention_graph(device))
    (result,) = model.execute(*(Buffer.from_numpy(each).to(device) for each in (q, k, v)))
    return result.to(CPU()).to_numpy()


def main() -> None:
    expect_no_flags("p19")
    random = np.random.RandomState(42)
    q = (random.randn(D) * 0.1).astype(np.float32)
    k = (random.randn(SEQ_LEN, D) * 0.1).astype(np.float32)
    v = (random.randn(SEQ_LEN, D) * 0.1).astype(np.float32)
    for name, values in (("q", q), ("k", k), ("v", v)):
        stage(name, values)

    out_cpu = attention(q, k, v, CPU())
    submit("out_cpu", out_cpu)
    out = attention(q, k, v, Accelerator())
    submit("out", out)

    scores = k.astype(np.float64) @ q
    weights = np.exp(scores - scores.max())
    expected = weights / weights.sum() @ v
    print("out_cpu:", out_cpu.tolist())
    print("out:", out.tolist())
    print("expected:", expected.astype(np.float32).tolist())
    print(f"norm: {np.linalg.norm(out):.6f}")
    np.testing.assert_allclose(out_cpu, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)
    print("Puzzle 19 complete ✅")


if __name__ == "__main__":
    main()
