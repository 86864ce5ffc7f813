"""Compares the buffers of a program with the NumPy reference and explains a mismatch."""
