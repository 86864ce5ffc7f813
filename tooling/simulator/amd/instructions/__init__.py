"""Binders of instructions: tables of semantics for pure ones, and a function for each of the others."""
