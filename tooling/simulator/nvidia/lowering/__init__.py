"""PTX functions to programs: operands to slots, instructions to bound steps."""
