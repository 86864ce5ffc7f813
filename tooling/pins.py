"""Pinned versions, in a module without imports."""

MOJO_VERSION = "1.2.0"
"""The Mojo version that every puzzle is written for and tested with (also pinned in pyproject.toml)."""
