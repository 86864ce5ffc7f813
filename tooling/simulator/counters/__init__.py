"""Counters of the simulated GPU: what a kernel does to memory, per kernel and per Mojo line.

`hook` listens to the engine and counts with `sectors` (global and local memory) and `banks` (shared memory);
`profile` sums up by kernel and line; `table`, `document` and `page` show it. The rules are an H200's: they
were read off Nsight Compute and are held to its numbers by `tests/simulator/counters`.
"""
