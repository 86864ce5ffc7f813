"""Renders the `{{#…}}` directives of a chapter."""
