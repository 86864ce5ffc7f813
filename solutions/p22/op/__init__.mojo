"""The custom operations of puzzle 22: a package, so that MAX can load the folder."""

from .layernorm_linear import LayerNormLinear, LayerNormLinearBackward
