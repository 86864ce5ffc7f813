"""`Module` back to PTX text, without line tables; parsing the text gives an equal module."""

from __future__ import annotations

from tooling.simulator.gpu.code_model import Function, Instruction, Label, Module, Parameter
from tooling.simulator.nvidia.ptx.operands import print_operand
from tooling.simulator.nvidia.ptx.variables import print_variable


def print_module(module: Module) -> str:
    """The module as PTX text."""
    lines = [
        f".version {module.version[0]}.{module.version[1]}",
        f".target {', '.join(module.target)}",
        f".address_size {module.address_size}",
    ]
    lines += [f".extern .func {name}();" for name in module.externals]
    lines += [f"{print_variable(variable)};" for variable in module.globals.values()]
    for function in (*module.functions.values(), *module.kernels.values()):
        lines += _function(function)
    return "\n".join(lines) + "\n"


def _function(function: Function) -> list[str]:
    results = f"({_parameters(function.results)}) " if function.results else ""
    kind = ".visible .entry" if function.is_entry else ".func"
    lines = [f"{kind} {results}{function.name}({_parameters(function.parameters)})"]
    lines += list(function.directives)
    lines.append("{")
    lines += [f"\t.reg .{kind} {name};" for kind, name in function.register_banks]
    lines += [f"\t{print_variable(variable)};" for variable in function.variables]
    for statement in function.body:
        lines.append(
            _label(statement) if isinstance(statement, Label) else f"\t{print_instruction(statement)}"
        )
    lines.append("}")
    return lines


def _parameters(parameters: tuple[Parameter, ...]) -> str:
    return ", ".join(f".param .align {p.align} .b8 {p.name}[{p.size}]" for p in parameters)


def _label(label: Label) -> str:
    if label.prototype:
        return f"{label.name}: .callprototype {label.prototype};"
    return f"{label.name}: .branchtargets {', '.join(label.targets)};" if label.targets else f"{label.name}:"


def print_instruction(instruction: Instruction) -> str:
    """One instruction as PTX text, with its predicate and `;`."""
    guard = ""
    if instruction.predicate is not None:
        guard = f"@{'!' if instruction.predicate.negated else ''}{instruction.predicate.register} "
    operands = ", ".join(map(print_operand, instruction.operands))
    return f"{guard}{instruction.form} {operands}".rstrip() + ";"
