"""Instruction semantics as tables: opcode and modifiers to a function over arrays."""
