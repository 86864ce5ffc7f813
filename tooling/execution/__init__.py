"""Runs built programs and collects their output and their buffers."""
