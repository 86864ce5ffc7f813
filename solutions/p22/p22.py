"""Puzzle 22: LayerNorm and a linear layer as one operation, forwards and backwards.

Results are compared with PyTorch where it is installed (the extra `torch`), and with NumPy otherwise.
"""

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from lab import choose_mode, stage, submit
from lab.timing import print_time
from max.driver import CPU, Accelerator, Buffer, Device
from max.dtype import DType
from max.engine import InferenceSession
from max.graph import DeviceRef, Graph, TensorType, ops
from numpy.typing import NDArray

Array = NDArray[Any]

BATCH_SIZE = 4
SEQ_LEN = 4
ROWS = BATCH_SIZE * SEQ_LEN  # the operation takes a batch of sequences as one matrix
HIDDEN_DIM = 8
OUTPUT_DIM = 16
EPS = 1e-5
TOLERANCE = 1e-4
OPERATIONS = Path(__file__).parent / "op"

GRADIENTS = ("grad_input", "grad_ln_weight", "grad_ln_bias", "grad_linear_weight", "grad_linear_bias")


def tensor_types(where: DeviceRef) -> dict[str, TensorType]:
    """The shape of everything that goes into the operations, or comes out of them."""
    shapes = {
        "input": [ROWS, HIDDEN_DIM],
        "ln_weight": [HIDDEN_DIM],
        "ln_bias": [HIDDEN_DIM],
        "linear_weight": [OUTPUT_DIM, HIDDEN_DIM],
        "linear_bias": [OUTPUT_DIM],
        "output": [ROWS, OUTPUT_DIM],
    }
    return {name: TensorType(DType.float32, shape, where) for name, shape in shapes.items()}


# ANCHOR: forward_graph
def forward_graph(device: Device, algorithm: str) -> Graph:
    """A graph of one operation, `layernorm_linear`; `algorithm` is `fused` or `unfused`."""
    where = DeviceRef.from_device(device)
    types = tensor_types(where)
    names = ("input", "ln_weight", "ln_bias", "linear_weight", "linear_bias")
    with Graph(
        "layernorm_linear", input_types=[types[name] for name in names], custom_extensions=[OPERATIONS]
    ) as graph:
        (result,) = ops.custom(
            name="layernorm_linear",
            device=where,
            values=list(graph.inputs),
            out_types=[types["output"]],
            parameters={
                "rows": ROWS,
                "hidden": HIDDEN_DIM,
                "columns": OUTPUT_DIM,
                "algorithm": algorithm,
            },
        )
        graph.output(result)
    return graph


# ANCHOR_END: forward_graph


# ANCHOR: backward_graph
def backward_graph(device: Device) -> Graph:
    """A graph of one operation with five results: the gradient of each input of `layernorm_linear`."""
    where = DeviceRef.from_device(device)
    types = tensor_types(where)
    names = ("output", "input", "ln_weight", "ln_bias", "linear_weight")
    with Graph(
        "layernorm_linear_backward",
        input_types=[types[name] for name in names],
        custom_extensions=[OPERATIONS],
    ) as graph:
        results = ops.custom(
            name="layernorm_linear_backward",
            device=where,
            values=list(graph.inputs),
            out_types=[types[name.removeprefix("grad_")] for name in GRADIENTS],
            parameters={
                "rows": ROWS,
                "hidden": HIDDEN_DIM,
                "columns": OUTPUT_DIM,
                "rows_per_block": SEQ_LEN,
            },
        )
        graph.output(*results)
    return graph


# ANCHOR_END: backward_graph


class Operation:
    """A compiled graph: called with arrays, it returns arrays."""

    def __init__(self, graph: Graph, device: Device) -> None:
        self.device = device
        self.model = InferenceSession(devices=[device]).load(graph)

    def buffers(self, *arrays: Array) -> list[Buffer]:
        """The arrays on the graph's device."""
        return [Buffer.from_numpy(array).to(self.device) for array in arrays]

    def __call__(self, *arrays: Array) -> list[Array]:
        return [result.to(CPU()).to_numpy() for result in self.model.execute(*self.buffers(*arrays))]


def example() -> dict[str, Array]:
    """The book's data: random input and weights, LayerNorm's scale 1 and its shift 0."""
    random = np.random.RandomState(42)
    return {
        "input": random.randn(ROWS, HIDDEN_DIM).astype(np.float32),
        "ln_weight": np.ones(HIDDEN_DIM, np.float32),
        "ln_bias": np.zeros(HIDDEN_DIM, np.float32),
        "linear_weight": (random.randn(OUTPUT_DIM, HIDDEN_DIM) * 0.02).astype(np.float32),
        "linear_bias": np.zeros(OUTPUT_DIM, np.float32),
    }


def expected_results(data: dict[str, Array], grad_output: Array) -> tuple[str, Array, dict[str, Array]]:
    """Who computed it, the result, and the gradients: by PyTorch's autograd, or by hand in NumPy."""
    if find_spec("torch"):
        import torch  # noqa: PLC0415 - optional

        # ANCHOR: autograd
        tensors = {name: torch.tensor(array, requires_grad=True) for name, array in data.items()}
        normal = torch.nn.functional.layer_norm(
            tensors["input"], [HIDDEN_DIM], tensors["ln_weight"], tensors["ln_bias"], EPS
        )
        result = torch.nn.functional.linear(normal, tensors["linear_weight"], tensors["linear_bias"])
        result.backward(torch.tensor(grad_output))
        gradients = {f"grad_{name}": tensor.grad.numpy() for name, tensor in tensors.items()}
        # ANCHOR_END: autograd
        return "PyTorch", result.detach().numpy(), gradients

    x, weight = data["input"].astype(np.float64), data["linear_weight"].astype(np.float64)
    scale = 1 / np.sqrt(x.var(axis=1, keepdims=True) + EPS)
    normal = (x - x.mean(axis=1, keepdims=True)) * scale
    scaled = normal * data["ln_weight"] + data["ln_bias"]
    grad_scaled = grad_output @ weight
    grad_normal = grad_scaled * data["ln_weight"]
    means = grad_normal.mean(axis=1, keepdims=True), (grad_normal * normal).mean(axis=1, keepdims=True)
    return (
        "NumPy",
        scaled @ weight.T + data["linear_bias"],
        {
            "grad_input": scale * (grad_normal - means[0] - normal * means[1]),
            "grad_ln_weight": (grad_scaled * normal).sum(axis=0),
            "grad_ln_bias": grad_scaled.sum(axis=0),
            "grad_linear_weight": grad_output.T @ scaled,
            "grad_linear_bias": grad_output.sum(axis=0),
        },
    )


def compare(name: str, got: Array, expected: Array, whose: str) -> None:
    """Prints the largest difference, and raises where it is too large."""
    print(f"largest difference of {name} from {whose}: {np.abs(got - expected).max():.1e}")
    np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE, err_msg=name)


def forward(algorithm: str) -> None:
    data = example()
    for name, array in data.items():
        stage(name, array)
    # The CPU half of the operation fuses in any case.
    (out_cpu,) = Operation(forward_graph(CPU(), "fused"), CPU())(*data.values())
    submit("out_cpu", out_cpu)
    gpu = Accelerator()
    (out,) = Operation(forward_graph(gpu, algorithm), gpu)(*data.values())
    submit("out", out)

    whose, expected, _ = expected_results(data, np.ones((ROWS, OUTPUT_DIM), np.float32))
    print("out:", out.tolist())
    compare("out_cpu", out_cpu, expected, whose)
    compare("out", out, expected, whose)
    print(f"Puzzle 22 complete ({algorithm}) ✅")


def backward() -> None:
    data = example()
    grad_output = np.ones((ROWS, OUTPUT_DIM), np.float32)
    for name, array in data.items():
        stage(name, array)
    stage("grad_output", grad_output)
    inputs = [grad_output, *(array for name, array in data.items() if name != "linear_bias")]
    got = {}
    for suffix, device in (("_cpu", CPU()), ("", Accelerator())):
        results = Operation(backward_graph(device), device)(*inputs)
        for name, result in zip(GRADIENTS, results, strict=True):
            got[name + suffix] = result
            submit(name + suffix, result)

    whose, _, expected = expected_results(data, grad_output)
    print("grad_linear_bias:", got["grad_linear_bias"].tolist())
    for name, result in got.items():
        compare(name, result, expected[name.removesuffix("_cpu")], whose)
    print("Puzzle 22 complete (backward) ✅")


def benchmark() -> None:
    """How long a forward pass takes: with so little data, nearly all of it is starting graph and kernels."""
    data = example()
    whose, expected, _ = expected_results(data, np.ones((ROWS, OUTPUT_DIM), np.float32))
    gpu = Accelerator()
    calls = {}
    for name, device, algorithm in (
        ("CPU", CPU(), "fused"),
        ("GPU, four kernels", gpu, "unfused"),
        ("GPU, one kernel", gpu, "fused"),
    ):
        operation = Operation(forward_graph(device, algorithm), device)
        call = partial(operation.model.execute, *operation.buffers(*data.values()))
        calls[name] = (call, device.synchronize)
    # All results before one is freed: reused memory could still contain the right values of another.
    results = {name: call()[0] for name, (call, _) in calls.items()}
    for name, result in results.items():
        compare(name, result.to(CPU()).to_numpy(), expected, whose)
    times = [print_time(name, call, wait, calls=50) for name, (call, wait) in calls.items()]
    _, unfused, fused = times
    if unfused and fused:
        print(f"four kernels take {unfused / fused:.2f} times as long as one")
    else:
        print("Times need a real GPU; `tooling profile p22 --fused` counts what the kernel moves.")


def demo_simple() -> None:
    """One call of the operation on the GPU."""
    gpu = Accelerator()
    (out,) = Operation(forward_graph(gpu, "fused"), gpu)(*example().values())
    print("shape:", out.shape, "mean:", f"{out.mean():.6f}", "largest:", f"{out.max():.6f}")


def demo() -> None:
    """A network of this one layer learns random targets for three steps of Adam, all of it on the GPU."""
    gpu = Accelerator()
    layer = Operation(forward_graph(gpu, "fused"), gpu)
    gradients_of = Operation(backward_graph(gpu), gpu)
    data = example()
    target = np.random.RandomState(43).randn(ROWS, OUTPUT_DIM).astype(np.float32)
    learned = [name for name in data if name != "input"]
    first = {name: np.zeros_like(data[name]) for name in learned}
    second = {name: np.zeros_like(data[name]) for name in learned}
    rate, keep_first, keep_second = 0.05, 0.9, 0.999
    for step in range(1, 4):
        (out,) = layer(*data.values())
        print(f"step {step}: loss {np.square(out - target).mean():.6f}")
        grad_output = (2 / out.size * (out - target)).astype(np.float32)
        inputs = [grad_output, *(array for name, array in data.items() if name != "linear_bias")]
        gradients = dict(zip(GRADIENTS, gradients_of(*inputs), strict=True))
        for name in learned:
            gradient = gradients[f"grad_{name}"]
            first[name] = keep_first * first[name] + (1 - keep_first) * gradient
            second[name] = keep_second * second[name] + (1 - keep_second) * gradient**2
            mean, spread = first[name] / (1 - keep_first**step), second[name] / (1 - keep_second**step)
            data[name] = (data[name] - rate * mean / (np.sqrt(spread) + 1e-8)).astype(np.float32)
    (out,) = layer(*data.values())
    print(f"at the end: loss {np.square(out - target).mean():.6f}")


def main() -> None:
    mode = choose_mode(
        "p22", ["--fused", "--unfused", "--backward", "--benchmark", "--demo", "--demo-simple"]
    )
    if mode == "--backward":
        backward()
    elif mode == "--benchmark":
        benchmark()
    elif mode == "--demo":
        demo()
    elif mode == "--demo-simple":
        demo_simple()
    else:
        forward(mode.removeprefix("--"))


if __name__ == "__main__":
    main()
