"""Judges ourselves: solutions pass, skeletons fail, wrong answers are rejected for the right reason."""
