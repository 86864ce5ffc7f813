"""The simulated GPU: PTX or machine code in, results, findings and counters out, on a machine without a GPU.

Packages, lowest first; each imports only what is listed before it (`tests/test_package_order.py`):

    numerics               floating-point arithmetic with exact rounding
    gpu                    launch, lanes, memory, hooks, faults: shared state and contracts
    program                a lowered kernel, and what its steps may ask of the batch that runs them
    nvidia                 the device, launch rules, CUDA results; `driver/`: the CUDA stand-ins in Mojo
    nvidia.ptx             PTX text to code
    nvidia.semantics       mnemonic and type to a function over arrays
    nvidia.analysis        what a kernel's PTX says about its launches, before they run
    nvidia.lowering        operands to register slots, instructions to steps
    nvidia.instructions    one module for each chapter of PTX ISA 9.7
    nvidia.machine_code    what NVIDIA's assembler makes of PTX: instructions, registers, scoreboards, loops
    nvidia.backend         the passes from PTX to a program; what the packages below ask of the vendor
    amd                    code objects of AMD GPUs, their decoder, semantics and lowering; the HIP stand-ins
    backends               the back ends by instruction set
    engine                 batches of blocks, the ready queue, the order of execution
    checks                 memory, races, initialisation, synchronisation; each check is a `Hook`
    counters               sectors, bank conflicts, occupancy, profiles
    listings               source, PTX and machine code of a profiled kernel side by side
    timing                 what limits a launch on a GPU that is not there, and an estimate of its time
    server                 the socket, the session, a program's buffers and modules

The engine knows nothing of checks: it notifies hooks (`gpu.hooks`), and checks and counters are hooks.
"""
