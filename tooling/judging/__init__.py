"""Compares what a program handed over with the NumPy reference, and says what a mismatch usually means."""
