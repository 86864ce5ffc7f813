"""The simulated GPU: PTX in, results, findings and counters out, on a machine without a GPU.

The core (`ptx`, `program`, `engine`, `memory`) executes; it knows nothing of checks. A check is a `Hook`
(`hooks`) that the engine tells what happens.
"""
