"""What a figure is once it is drawn."""

from __future__ import annotations

from msgspec import Struct


class Drawing(Struct, frozen=True):
    """A finished picture: its size in pixels, and the SVG elements in it."""

    width: int
    height: int
    elements: str
