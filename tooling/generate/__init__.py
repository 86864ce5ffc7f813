"""What is derived from the manifests and the solutions: skeletons, tasks, the CI matrix."""
