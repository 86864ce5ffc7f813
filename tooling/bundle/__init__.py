"""Bundles: programs cross-built for a GPU machine without a toolchain, and the verdicts on their results."""
