"""Code objects: ELF files with kernels, their descriptors, metadata and line tables."""
