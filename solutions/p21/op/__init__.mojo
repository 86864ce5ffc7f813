"""The custom operations of puzzle 21: a package, so that MAX can load the folder."""

from .embedding import Embedding, Embedding2D
