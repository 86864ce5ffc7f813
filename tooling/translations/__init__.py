"""Keeping translations in step with their source: freshness, fidelity and the commands that restore both."""
