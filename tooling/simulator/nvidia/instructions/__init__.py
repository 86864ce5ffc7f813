"""What each instruction does to a batch; one module for each chapter of PTX ISA 9.7."""
