"""Drives the real Mojo toolchain for the GPU puzzle book: builds, runs, judges, translates, publishes."""
