"""Lowering of PTX functions to programs: operands become slots, instructions become steps."""
