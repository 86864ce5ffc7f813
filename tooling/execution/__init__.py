"""Runs built programs and collects what they print and hand over."""
