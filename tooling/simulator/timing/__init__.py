"""An estimate of the time of a launch on a GPU that is not there, and what limits it.

parameters     constants of a GPU, from microbenchmarks (`benchmarks/kernels/constants.mojo`)
constants      those of the table that the microbenchmarks print
"""
