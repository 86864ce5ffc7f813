"""What happens before what, for the race check: within a block, in a cluster, between blocks of a launch."""
