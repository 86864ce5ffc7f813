"""Machine code to instructions, and their text as LLVM's assembler writes it."""
