"""Floating-point arithmetic with exact rounding, on NumPy arrays."""
