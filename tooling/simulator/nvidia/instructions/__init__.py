"""Binders of the instructions that are not pure; one module for each chapter of PTX ISA 9.7."""
