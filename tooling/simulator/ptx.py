"""Reading PTX: `parse_module` and the types of what it returns.

Source: PTX ISA 8.5, sections 4 (syntax), 5 (state spaces and types), 6 (operands), 10 (special registers).
"""

from tooling.simulator.ptx_errors import PtxError
from tooling.simulator.ptx_model import (
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
    Pair,
    Parameter,
    Predicate,
    Register,
    SourceLocation,
    Statement,
    Symbol,
    Variable,
    Vector,
)
from tooling.simulator.ptx_parser import parse_module
from tooling.simulator.ptx_printer import print_module

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
    "Pair",
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
