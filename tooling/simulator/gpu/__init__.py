"""The shared state and the contracts of a simulated GPU: code, launch, lanes, memory, hooks, faults."""
