"""The machine code (SASS) that NVIDIA's assembler makes of a kernel's PTX, without a GPU.

    tools          ptxas and nvdisasm, of the extra `sass` or of a CUDA toolkit
    assembler      PTX to a cubin, and the registers, spills, stack and shared memory of each kernel
    disassembly    a cubin to instructions, with the PTX line of each
    control        the bits of an instruction that control its issue: stall count, yield, scoreboards
    operands       the registers that an instruction reads and writes
    flow           basic blocks and loops
    waits          the instructions that an instruction waits for, by scoreboards
    chains         the longest chain of dependent instructions
    mix            instructions by what executes them
    code           all of it, for the kernels of a module

It imports the model of PTX and nothing of the simulation; it is imported where machine code is asked for.
"""
