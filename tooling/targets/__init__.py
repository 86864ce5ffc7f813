"""Where a program can run: NVIDIA, AMD and Apple GPUs, and the simulated one."""
