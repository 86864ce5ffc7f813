"""Atomic operations and mbarriers (PTX ISA 9.7.13)."""
