"""The parts specific to AMD GPUs: code objects, their instructions and semantics, the HIP driver."""
