"""What puzzles there are: the only reader of puzzle.yaml."""
