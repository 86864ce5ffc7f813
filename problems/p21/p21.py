"""Puzzle 21: an embedding as two operations that do the same and read memory in different orders.

Results are compared with PyTorch's embedding where it is installed (the extra `torch`), and with
NumPy otherwise.
"""

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from lab import choose_mode, stage, submit
from lab.timing import on_simulated_gpu, print_time
from max.driver import CPU, Accelerator, Buffer, Device
from max.dtype import DType
from max.engine import InferenceSession
from max.graph import DeviceRef, Graph, TensorType, ops
from numpy.typing import NDArray

Array = NDArray[Any]

BATCH_SIZE = 8
SEQ_LEN = 512
TOKENS = BATCH_SIZE * SEQ_LEN  # the operations take a batch of sequences as one list
VOCABULARY = 10000
WIDTH = 512
TIMED_TOKENS = 32 * TOKENS  # so many that the kernel takes the time, and not the start of the graph
OPERATIONS = Path(__file__).parent / "op"


# ANCHOR: embedding_graph
def embedding_graph(device: Device, operations: tuple[str, ...], tokens_count: int = TOKENS) -> Graph:
    """A graph that calls each of the operations on the same inputs."""
    where = DeviceRef.from_device(device)
    with Graph(
        "embedding",
        input_types=[
            TensorType(DType.int32, [tokens_count], where),
            TensorType(DType.float32, [VOCABULARY, WIDTH], where),
        ],
        custom_extensions=[OPERATIONS],
    ) as graph:
        results = [
            ops.custom(
                name=name,
                device=where,
                values=list(graph.inputs),
                out_types=[TensorType(DType.float32, [tokens_count, WIDTH], where)],
                parameters={"tokens_count": tokens_count, "vocabulary": VOCABULARY, "width": WIDTH},
            )[0]
            for name in operations
        ]
        graph.output(*results)
    return graph


# ANCHOR_END: embedding_graph


def embedding(tokens: Array, table: Array, device: Device, *operations: str) -> list[Array]:
    """Compiles the graph for the device, runs it there and brings the results back."""
    model = InferenceSession(devices=[device]).load(embedding_graph(device, operations))
    results = model.execute(Buffer.from_numpy(tokens).to(device), Buffer.from_numpy(table).to(device))
    return [result.to(CPU()).to_numpy() for result in results]


def expected_rows(tokens: Array, table: Array) -> tuple[str, Array]:
    """Who looked the rows up, and the rows; a token that the vocabulary does not have gets zeros."""
    known = (tokens >= 0) & (tokens < VOCABULARY)
    safe = np.where(known, tokens, 0)
    if find_spec("torch"):
        import torch  # noqa: PLC0415 - optional

        rows = torch.nn.functional.embedding(torch.tensor(safe), torch.tensor(table)).numpy()
        return "PyTorch", np.where(known[:, None], rows, 0)
    return "NumPy", np.where(known[:, None], table[safe], 0)


def example(tokens_count: int) -> tuple[Array, Array]:
    """Random tokens and a random table."""
    random = np.random.RandomState(42)
    tokens = random.randint(0, VOCABULARY, tokens_count).astype(np.int32)
    return tokens, random.randn(VOCABULARY, WIDTH).astype(np.float32)


def compare(name: str, got: Array, expected: Array, whose: str) -> None:
    """Prints the largest difference, and raises where it is too large."""
    print(f"largest difference of {name} from {whose}: {np.abs(got - expected).max():.1e}")
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5, err_msg=name)


def solve() -> None:
    tokens, table = example(TOKENS)
    stage("tokens", tokens)
    stage("table", table)

    (out_cpu,) = embedding(tokens, table, CPU(), "embedding")
    submit("out_cpu", out_cpu)
    out, out_2d = embedding(tokens, table, Accelerator(), "embedding", "embedding_2d")
    submit("out", out)
    submit("out_2d", out_2d)

    whose, expected = expected_rows(tokens, table)
    for name, result in (("out_cpu", out_cpu), ("out", out), ("out_2d", out_2d)):
        compare(name, result, expected, whose)
    print("Puzzle 21 complete ✅")


def benchmark() -> None:
    """How long both orders take for the same rows."""
    count = TOKENS if on_simulated_gpu() else TIMED_TOKENS
    tokens, table = example(count)
    whose, expected = expected_rows(tokens, table)
    device = Accelerator()
    inputs = [Buffer.from_numpy(array).to(device) for array in (tokens, table)]
    calls = {}
    for name in ("embedding", "embedding_2d"):
        model = InferenceSession(devices=[device]).load(embedding_graph(device, (name,), count))
        calls[name] = partial(model.execute, *inputs)
    # Both results before either is freed: memory that is used again would still hold the other's right rows.
    results = {name: call()[0] for name, call in calls.items()}
    for name, result in results.items():
        compare(name, result.to(CPU()).to_numpy(), expected, whose)
    times = [print_time(name, call, device.synchronize, calls=10) for name, call in calls.items()]
    if times[0] and times[1]:
        print(f"embedding_2d takes {times[1] / times[0]:.2f} times as long")
    else:
        print("Times need a real GPU; `tooling profile p21` counts what both orders move.")


def main() -> None:
    if choose_mode("p21", ["--benchmark"], without=True):
        benchmark()
    else:
        solve()


if __name__ == "__main__":
    main()
