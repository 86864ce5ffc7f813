"""The back end for AMD GPUs: its passes, and what the shared packages ask of it."""
