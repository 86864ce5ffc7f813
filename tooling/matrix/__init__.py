"""The vendor matrix: what every program builds for, compared with the manifests."""
