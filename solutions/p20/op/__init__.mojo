"""The custom operations of puzzle 20: a package, so that MAX can load the folder."""

from .conv1d import Conv1D
