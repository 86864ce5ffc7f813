"""What changed between two versions of a page, block by block."""
