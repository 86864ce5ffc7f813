"""The vendor matrix: what every program builds for, held against what the manifests say."""
