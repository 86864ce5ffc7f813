"""An estimate of the time of a launch on a GPU that is not there, and what limits it.

    parameters     constants of a GPU, from microbenchmarks (`benchmarks/kernels/constants.mojo`)
    constants      those of the table that the microbenchmarks print
    costs          what an instruction costs: the units that it occupies, for PTX and for machine code
    observer       the hook: the instructions of some warps in order, and what some blocks access
    latency        how long a warp takes by itself
    reuse          which accesses the caches serve, and how much memory a grid touches
    work           a launch as the demands of a block on each unit
    model          the demands to shares of each limit and a time
    refusals       the launches that the model does not describe
    profiler       the profiler that finds out all of this
    accuracy       how far estimates were from measured times: the printed range
    comparison     the comparison with recorded times, kernel by kernel
    texts, report  what a reader sees

The constants come from microbenchmarks alone. Nothing is fitted to the time of a kernel.
"""
