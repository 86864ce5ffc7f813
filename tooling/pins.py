"""Versions that the project is written for, where reading them must not load what they belong to."""

MOJO_VERSION = "1.2.0"
"""The Mojo version that every puzzle is written for and tested with (also pinned in pyproject.toml)."""
