"""The back end for PTX: its passes, and what the shared packages ask of it."""
