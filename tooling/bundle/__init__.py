"""Everything cross-built for a GPU machine without a toolchain, and the judgement of its results."""
