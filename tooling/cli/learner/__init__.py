"""The commands that lead a reader through the puzzles; each module holds several."""
