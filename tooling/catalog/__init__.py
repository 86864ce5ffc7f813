"""The puzzles: the only package that reads puzzle.yaml."""
