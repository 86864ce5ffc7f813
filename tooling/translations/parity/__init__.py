"""Compares a translation with its source: content, structure and links."""
