"""The custom operations of puzzle 18: a package, so that MAX can load the folder."""

from .softmax import Softmax
