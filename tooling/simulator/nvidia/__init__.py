"""The parts specific to NVIDIA GPUs: PTX, its instructions and their semantics, the CUDA driver."""
