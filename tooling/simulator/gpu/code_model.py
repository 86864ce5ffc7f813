"""The elements of a PTX module as immutable values: made by the parser, read by the decoder."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

CODE_WINDOW = 1 << 62
"""Addresses of functions start here, outside every memory."""

CONSTANT_ALIGNMENT = 256
"""Alignment of a `.const` variable in the constant window, and unused bytes after it."""


class SourceLocation(Struct, frozen=True):
    """The `.loc` in force: file as the PTX names it, line and column from 1."""

    file: str
    line: int
    column: int
    inlined_at: SourceLocation | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Register(Struct, frozen=True):
    """`%r1`, or a special register such as `%tid.x`."""

    name: str


class Integer(Struct, frozen=True):
    """An integer constant; `value` keeps its sign."""

    value: int


class Float(Struct, frozen=True):
    """`0fHHHHHHHH` or `0dHHHHHHHHHHHHHHHH`: the exact bits and how many (32 or 64)."""

    bits: int
    width: int


class Symbol(Struct, frozen=True):
    """A label, variable or function by name; `offset` in bytes for `name+8`."""

    name: str
    offset: int = 0


class Address(Struct, frozen=True):
    """`[base+offset]`, offset in bytes; `[map, {x, y}]` with coordinates in a tensor."""

    base: Register | Symbol | Integer
    offset: int = 0
    coordinates: tuple[Operand, ...] = ()


class Vector(Struct, frozen=True):
    """`{a, b, c, d}`."""

    elements: tuple[Operand, ...]


class OperandPair(Struct, frozen=True):
    """`a|b`: two results of one instruction (setp, shfl, elect)."""

    first: Operand
    second: Operand


class Negated(Struct, frozen=True):
    """`!%p1` as a source operand."""

    operand: Register


class Arguments(Struct, frozen=True):
    """`(a, b)`: the argument or result list of a call."""

    elements: tuple[Operand, ...]


Operand: TypeAlias = (
    Register | Integer | Float | Symbol | Address | Vector | OperandPair | Negated | Arguments
)


class Predicate(Struct, frozen=True):
    """The guard `@%p` or `@!%p`."""

    register: str
    negated: bool = False


STRONG = frozenset({"relaxed", "acquire", "release", "acq_rel", "volatile", "mmio"})
"""Modifiers of a strong access: it may race with other threads' strong accesses (PTX ISA 8.7.1)."""


class Instruction(Struct, frozen=True):
    """One instruction.

    Attributes:
        opcode: `ld` of `ld.global.nc.v4.b32`.
        modifiers: `("global", "nc", "v4", "b32")`.
        code_line: line in the text of the code, from 1; without text, a number that identifies it.
        source: the Mojo source position, if the PTX has line tables.
        code_column: column of the mnemonic in that line, from 1.
    """

    opcode: str
    modifiers: tuple[str, ...]
    predicate: Predicate | None
    operands: tuple[Operand, ...]
    code_line: int
    source: SourceLocation | None = None
    code_column: int = 1

    @property
    def code_position(self) -> tuple[int, int]:
        """Line and column in the text of the code: no other instruction of the kernel has both."""
        return self.code_line, self.code_column

    @property
    def form(self) -> str:
        """The mnemonic with all its modifiers: `ld.global.nc.v4.b32`."""
        return ".".join((self.opcode, *self.modifiers))

    @property
    def is_strong(self) -> bool:
        """Whether two of these do not race: atomic operations, and accesses with a modifier of `STRONG`."""
        return self.opcode in ("atom", "red") or not STRONG.isdisjoint(self.modifiers)

    @property
    def is_non_coherent(self) -> bool:
        """Whether it loads through the read-only path, which requires that no thread writes these bytes while
        the kernel runs (PTX ISA 9.7.9.9 and 9.7.9.10)."""
        return self.opcode == "ldu" or (self.opcode == "ld" and "nc" in self.modifiers)


class Label(Struct, frozen=True):
    """A jump target, or the name of a list.

    Attributes:
        targets: the list of a `.branchtargets` or `.calltargets` directive.
        prototype: what follows `.callprototype`, as written: the form of functions called by address.
    """

    name: str
    targets: tuple[str, ...] = ()
    prototype: str = ""


Statement: TypeAlias = Instruction | Label


class Parameter(Struct, frozen=True):
    """A kernel or function parameter: its position in the parameter bytes of a call."""

    name: str
    offset: int
    size: int
    align: int


class Reference(Struct, frozen=True):
    """The address of a variable or function among the initial bytes of a variable.

    Attributes:
        offset, size: the initial bytes that it takes.
        generic: `generic(name)`, a generic address; otherwise one in the state space of the symbol.
    """

    offset: int
    symbol: Symbol
    size: int
    generic: bool = False


class Variable(Struct, frozen=True):
    """A variable in a state space.

    Attributes:
        space: `shared`, `local`, `global`, `const` or `param`.
        size: bytes; 0 for an `.extern` array of unknown length (dynamic shared memory).
        initial: its first bytes, or empty.
        references: addresses of other variables and of functions in its initialiser.
    """

    name: str
    space: str
    size: int
    align: int
    initial: bytes = b""
    references: tuple[Reference, ...] = ()
    external: bool = False


class Function(Struct, frozen=True):
    """A kernel (`.entry`) or function (`.func`).

    Attributes:
        registers: name to PTX type (`pred`, `b32`, …), every register of the body.
        register_banks: the declarations as written: (type, name or `%r<20>`).
        variables: `.shared`, `.local`, `.param` … declared inside the body.
        directives: `.maxntid` and the like, as written.
    """

    name: str
    is_entry: bool
    parameters: tuple[Parameter, ...]
    results: tuple[Parameter, ...]
    registers: dict[str, str]
    register_banks: tuple[tuple[str, str], ...]
    variables: tuple[Variable, ...]
    body: tuple[Statement, ...]
    directives: tuple[str, ...] = ()
    line: int = 0

    @property
    def parameter_bytes(self) -> int:
        """Size of the parameter block that a launch must pass."""
        return max((parameter.offset + parameter.size for parameter in self.parameters), default=0)

    @property
    def call_sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Bytes of each parameter and of each result: which a call by address must match."""
        return tuple(p.size for p in self.parameters), tuple(r.size for r in self.results)


class Loader(Protocol):
    """Device memory, as a module needs it to load itself."""

    def allocate(
        self, size: int, label: str = "", *, host: bool = False, poison: bool = True, internal: bool = False
    ) -> int:
        """The address of new memory."""
        ...

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        """The bytes at an address."""
        ...


class Module(Struct, frozen=True):
    """A parsed PTX module.

    Attributes:
        version: `.version`, as `(8, 5)`.
        target: `.target`, as `("sm_90a",)`.
        kernels: entries by name; `functions`: the `.func` ones.
        externals: functions that are declared only (`vprintf`).
        globals: module-level variables of every space by name.
        files: `.file` table, number to path.
        digest: SHA-256 of the text, as hex: the cache key of decoded programs.
        text: the PTX itself, for errors.
        instruction_set: selects the back end (`simulator.backends`).
    """

    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int
    kernels: dict[str, Function]
    functions: dict[str, Function]
    externals: tuple[str, ...]
    globals: dict[str, Variable]
    files: dict[int, str] = field(default_factory=dict)
    digest: str = ""
    text: str = ""
    instruction_set: str = "ptx"

    def load(self, memory: Loader) -> dict[str, int] | None:
        """Load code that is in device memory; returns the addresses of its symbols. PTX is not."""
        return None

    def constant_addresses(self) -> dict[str, int]:
        """The address of each `.const` variable in constant memory, from 0 (PTX ISA 5.1.3).

        Constant memory has a window of its own, so that these addresses fit into 32 bits. Unused bytes after
        each variable let an access past its end be reported.
        """
        addresses: dict[str, int] = {}
        end = 0
        for variable in self.globals.values():
            if variable.space == "const":
                end += -end % max(variable.align, CONSTANT_ALIGNMENT)
                addresses[variable.name] = end
                end += variable.size + CONSTANT_ALIGNMENT
        return addresses

    @property
    def constant_bytes(self) -> int:
        """Size of the constant window, 0 without `.const` variables."""
        return max(
            (start + self.globals[name].size for name, start in self.constant_addresses().items()), default=0
        )

    def code_addresses(self) -> dict[str, int]:
        """An address for every function, outside every memory, for calls by address."""
        return {name: CODE_WINDOW + 16 * number for number, name in enumerate(self.functions, 1)}
