"""What the `{{#…}}` directives of a chapter become."""
