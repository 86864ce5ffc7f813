"""Generates the files derived from manifests and solutions: skeletons, tasks, the CI matrix."""
