"""What only NVIDIA GPUs have: PTX, its instructions and their semantics, the CUDA driver."""
