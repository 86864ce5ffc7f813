"""Runs launches: batches of blocks, the ready queue, the order in which groups of lanes run."""
