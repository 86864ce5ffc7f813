"""Lowering of machine code to programs: registers become slots, instructions become steps."""
