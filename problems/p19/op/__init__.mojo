"""The custom operations of puzzle 19: a package, so that MAX can load the folder."""

from .attention import Attention
