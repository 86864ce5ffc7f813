"""A GPU of another machine: programs are built here, run there through OpenSSH, and judged here."""
