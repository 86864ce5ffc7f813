"""The files that the pages of books refer to, each looked at once."""

from __future__ import annotations


class Library:
    """Remembers, for one run: real paths, which files exist, ids of pages, anchors of included files."""
