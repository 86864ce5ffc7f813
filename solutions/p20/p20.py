"""Puzzle 20: the convolution of puzzle 17, called with PyTorch's tensors.

They lie on the GPU where PyTorch finds one. It never finds the simulated GPU: there they lie on the CPU, and
the operation runs on the CPU too. The MAX graph, given complete for comparison, runs on the GPU in any case.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from lab import expect_no_flags, stage, submit
from max.driver import CPU, Accelerator, Buffer, Device
from max.dtype import DType
from max.engine import InferenceSession
from max.experimental.torch import CustomOpLibrary
from max.graph import DeviceRef, Graph, TensorType, ops
from numpy.typing import NDArray

Array = NDArray[Any]

INPUT_SIZE = 15
CONV_SIZE = 4
OPERATIONS = Path(__file__).parent / "op"
# Only numbers: they become part of the operation's name in PyTorch, where the dot of "DType.float32" is not
# allowed. The type of the elements follows from the tensors.
PARAMETERS = {"input_size": INPUT_SIZE, "conv_size": CONV_SIZE}


# ANCHOR: conv1d_pytorch_solution
def conv1d_pytorch(library: CustomOpLibrary, signal: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    """Calls the operation `conv1d` of the package with tensors of PyTorch, on the device where they lie."""
    # FILL: about 4 lines
    # STUB: return torch.zeros_like(signal)
    # The parameters choose the operation; what it returns comes first among its arguments.
    operation = library.conv1d[PARAMETERS]
    result = torch.empty_like(signal)
    operation(result, signal, kernel)
    return result
    # END_FILL


# ANCHOR_END: conv1d_pytorch_solution


def conv1d_max_graph(signal: Array, kernel: Array, device: Device) -> Array:
    """The same operation in a MAX graph, as in puzzle 17."""
    where = DeviceRef.from_device(device)
    size = TensorType(DType.float32, [INPUT_SIZE], where)
    with Graph(
        "conv_1d",
        input_types=[size, TensorType(DType.float32, [CONV_SIZE], where)],
        custom_extensions=[OPERATIONS],
    ) as graph:
        (result,) = ops.custom("conv1d", where, list(graph.inputs), [size], parameters=PARAMETERS)
        graph.output(result)
    model = InferenceSession(devices=[device]).load(graph)
    (out,) = model.execute(Buffer.from_numpy(signal).to(device), Buffer.from_numpy(kernel).to(device))
    return out.to(CPU()).to_numpy()


def main() -> None:
    expect_no_flags("p20")
    signal = np.arange(INPUT_SIZE, dtype=np.float32)
    kernel = np.arange(CONV_SIZE, dtype=np.float32)
    stage("input", signal)
    stage("kernel", kernel)

    out = conv1d_max_graph(signal, kernel, Accelerator())
    submit("out", out)

    # After the graph: the library keeps the GPU's memory to the end of the program.
    device = "cuda" if torch.cuda.is_available() else "cpu"
    library = CustomOpLibrary(OPERATIONS)
    tensors = torch.tensor(signal, device=device), torch.tensor(kernel, device=device)
    out_torch = conv1d_pytorch(library, *tensors).cpu().numpy()
    submit("out_torch", out_torch)

    behind = np.zeros(CONV_SIZE - 1, np.float32)
    expected = np.correlate(np.concatenate([signal, behind]), kernel)
    print(f"PyTorch ({device}):", out_torch.tolist())
    print("MAX graph:", out.tolist())
    print("NumPy:", expected.tolist())
    np.testing.assert_allclose(out_torch, expected, rtol=1e-5)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    print("Puzzle 20 complete ✅")


if __name__ == "__main__":
    main()
