"""Verifies the repository: solutions pass, skeletons fail, mutants are rejected for the expected reason."""
