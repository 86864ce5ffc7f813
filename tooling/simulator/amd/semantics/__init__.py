"""Semantics of instructions without side effects, as tables: mnemonic to a function over arrays."""
