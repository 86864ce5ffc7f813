"""The public names of the PTX reader: `parse_module`, `print_module` and the types that they use.

Source: PTX ISA 8.5, sections 4 (syntax), 5 (state spaces and types), 6 (operands), 10 (special registers).
"""

from tooling.simulator.gpu.code_model import (
    Address,
    Arguments,
    Float,
    Function,
    Instruction,
    Integer,
    Label,
    Module,
    Negated,
    Operand,
    OperandPair,
    Parameter,
    Predicate,
    Register,
    SourceLocation,
    Statement,
    Symbol,
    Variable,
    Vector,
)
from tooling.simulator.nvidia.ptx.errors import PtxError
from tooling.simulator.nvidia.ptx.parser import parse_module
from tooling.simulator.nvidia.ptx.printer import print_module

__all__ = [
    "Address",
    "Arguments",
    "Float",
    "Function",
    "Instruction",
    "Integer",
    "Label",
    "Module",
    "Negated",
    "Operand",
    "OperandPair",
    "Parameter",
    "Predicate",
    "PtxError",
    "Register",
    "SourceLocation",
    "Statement",
    "Symbol",
    "Variable",
    "Vector",
    "parse_module",
    "print_module",
]
