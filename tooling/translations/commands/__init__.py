"""The subcommands that write: stamp, repair, recover, new-lang; and diff."""
