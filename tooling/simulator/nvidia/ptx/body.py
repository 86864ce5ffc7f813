"""Parsing of a PTX function's body: statements, registers, variables, labels and `.loc` directives."""

from __future__ import annotations

import re
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from tooling.simulator.gpu.code_model import (
    Instruction,
    Label,
    Operand,
    Predicate,
    Register,
    SourceLocation,
    Statement,
    Variable,
    Vector,
)
from tooling.simulator.gpu.stop_texts import NEVER_GUESSES
from tooling.simulator.nvidia.ptx.errors import SCOPE, PtxError, locate, token_of
from tooling.simulator.nvidia.ptx.operands import PIECES, parse_operand
from tooling.simulator.nvidia.ptx.variables import TYPE_BYTES, parse_variable

_INSTRUCTION = re.compile(
    r"\s*(?:@(!?)\s*([%\w$]+)\s+)?([a-z]\w*(?:(?:\.|::)\w+)*)(?:\s+([^;]*?))?\s*;\s*(?://.*)?$"
)
_LABEL = re.compile(r"\s*([A-Za-z_$%][\w$]*)\s*:(?!:)")
_LOC = re.compile(
    r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:\s*,\s*function_name\s+[^,]+)?(?:\s*,\s*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?"
)
_ASSEMBLY, _ASSEMBLY_END = "// begin inline asm", "// end inline asm"
"""The comments that LLVM writes around inline assembly. Inside, the k-th line of the text gets a `.loc` of
its own, k lines below the statement that contains it, although that is other code: these are left out."""
_LISTS = (".branchtargets", ".calltargets", ".callprototype")
_MOST_NESTED = 256  # compilers nest a few blocks at most
_TOKENS = re.compile(r"[{}]|(?:(?<=[;{}])|^)\s*([A-Za-z_$%][\w$]*)\s*:(?!:)")
_NAME = re.compile(r"[\w$%]+")
_SELECTOR = re.compile(r"(.+)\.(b[0-3]|h[01])")
_BANK = re.compile(r"([%\w$]+)\s*(?:<\s*(\d+)\s*>)?$")


class Body(Struct):
    """The content of a function's braces; `end` is the index of the line after the closing brace."""

    registers: dict[str, str] = field(default_factory=dict)
    banks: list[tuple[str, str]] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    end: int = 0


_Position: TypeAlias = tuple[str, int, int]
"""File, line and column."""

_MAX_DIGITS = 6
"""Most digits of the register count in a declaration such as `%r<20>`."""

_MAX_INLINED_CALLS = 40
"""Greatest depth of inlined calls that a source location records."""


class BodyParser:
    """Parses the function bodies of one module; parsed opcodes and operands are cached by their text."""

    def __init__(self, lines: list[str], files: dict[int, str]) -> None:
        self.lines = lines
        self.text = tuple(lines)  # in `lines`, text already read is overwritten with spaces
        self.files = files
        self._opcodes: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._operands: dict[str, tuple[Operand, ...]] = {}
        self._single: dict[str, Operand] = {}
        self._positions: dict[str, tuple[_Position, _Position | None]] = {}
        self._locations: dict[_Position, SourceLocation] = {}

    def parse(self, start: int) -> Body:
        """The body whose opening brace ended just before line index `start`.

        Raises:
            PtxError: a statement that cannot be read, or no closing brace.
        """
        self.body = Body()
        self._locations.clear()
        self._operands.clear()
        self._single.clear()
        self.source: SourceLocation | None = None
        self.scopes: list[dict[str, str]] = []
        self.scope_count = 0
        self._labels: dict[tuple[int, int], list[str]] | None = None
        lines, match = self.lines, _INSTRUCTION.match
        append = self.body.statements.append
        index = start
        in_assembly = False
        while index < len(lines):
            line = lines[index]
            found = match(line)
            if found is not None:
                instruction = self._instruction(found, index, found.start(3))
                if "b128" in instruction.modifiers:
                    self.body.statements.extend(in_halves(instruction))
                else:
                    append(instruction)
                index += 1
                continue
            text = line.strip()
            if not text or text.startswith("//"):
                in_assembly = text == _ASSEMBLY or (in_assembly and text != _ASSEMBLY_END)
                index += 1
            elif text.startswith((".loc\t", ".loc ")):
                if not in_assembly:
                    self._location(text, index)
                index += 1
            elif text[0] == "}":
                index = self._rest(index, text[1:])
                if not self.scopes:
                    self.body.end = index
                    return self.body
                self.scopes.pop()
            elif text[0] == "{":
                self.scope_count += 1
                self.scopes.append({})
                if len(self.scopes) > _MOST_NESTED:
                    raise PtxError(f"blocks are nested more than {_MOST_NESTED} deep", line=index + 1)
                self._labels_ahead(index)
                index = self._rest(index, text[1:])
            else:
                index = self._other(text, index)
        raise PtxError("the function's body has no end", line=start + 1)

    def _labels_ahead(self, index: int) -> None:
        """Declare the labels of the nested block that begins at `index`, so that forward branches are renamed
        too."""
        if self._labels is None:
            self._labels = self._labels_of_blocks(index)
        line = self.lines[index]
        for name in self._labels.get((index, len(line) - len(line.lstrip())), ()):
            self._declare(name)

    def _labels_of_blocks(self, start: int) -> dict[tuple[int, int], list[str]]:
        """The labels of each nested block of the body from the line at `start`, by the place of its brace."""
        found: dict[tuple[int, int], list[str]] = {}
        nested: list[list[str]] = []
        for number in range(start, len(self.text)):
            text = self.text[number].split("//", 1)[0]
            for token in _TOKENS.finditer(text):
                if token[0] == "{":
                    nested.append(found.setdefault((number, token.start()), []))
                elif token[0] != "}":
                    if nested:
                        nested[-1].append(token[1])
                elif not nested:
                    return found
                else:
                    nested.pop()
        return found

    def _rest(self, index: int, text: str) -> int:
        """The index of the next line to parse: this one if text follows on it, otherwise the next."""
        rest = text.split("//", 1)[0].strip()
        if not rest:
            return index + 1
        code = self.lines[index].split("//", 1)[0].rstrip()
        self.lines[index] = " " * (len(code) - len(rest)) + rest
        return index

    def _other(self, text: str, index: int) -> int:
        label = _LABEL.match(text)
        if label is not None:
            rest = text[label.end() :].strip()
            if not rest and self._follows_list(index):
                index += 1
                rest = self.lines[index].strip()
            if rest.startswith(_LISTS):
                whole, index = self._gather(rest, index)
                word, _, listed = whole.partition(" ")
                if word == ".callprototype":
                    self.body.statements.append(
                        Label(self._scoped(label[1]), prototype=" ".join(listed.split()))
                    )
                else:
                    names = tuple(self._scoped(name.strip()) for name in listed.split(","))
                    self.body.statements.append(Label(self._scoped(label[1]), names))
                return index
            self.body.statements.append(Label(self._scoped(label[1])))
            return self._rest(index, rest)
        start = len(self.lines[index]) - len(self.lines[index].lstrip())
        whole, following = self._gather(text, index)
        if whole.startswith(".reg"):
            self._registers(whole, index, start)
        elif whole.startswith((".shared", ".local", ".param", ".global", ".const")):
            self._variables(whole, index, start)
        elif whole.startswith((".pragma", ".maxnreg")):
            pass
        else:
            found = _INSTRUCTION.match(whole + ";")
            if found is None:
                raise self._error(index, "a statement that cannot be read", start=start)
            line, column = locate(self.text, index, start, found[3])
            self.body.statements.extend(in_halves(self._instruction(found, line, column)))
        return following

    def _follows_list(self, index: int) -> bool:
        """Whether the line after a label is the list that it names, where LLVM writes it."""
        return index + 1 < len(self.lines) and self.lines[index + 1].strip().startswith(_LISTS)

    def _gather(self, text: str, index: int) -> tuple[str, int]:
        """The statement that starts with `text`, without its `;`, and the index of the line to parse next."""
        fragments: list[str] = []
        start, column = index, len(self.lines[index].rstrip()) - len(text.rstrip())
        while True:
            text = text.split("//", 1)[0]
            head, semicolon, rest = text.partition(";")
            fragments.append(head)
            if semicolon:
                return " ".join(fragments).strip(), self._rest(index, rest)
            index += 1
            if index >= len(self.lines):
                raise self._error(start, "a statement without its `;`", start=column)
            text = self.lines[index]

    def _instruction(self, found: re.Match[str], index: int, column: int) -> Instruction:
        negation, guard, mnemonic, text = found.groups()
        known = self._opcodes.get(mnemonic)
        if known is None:
            opcode, *modifiers = mnemonic.split(".")
            known = self._opcodes[mnemonic] = (opcode, tuple(modifiers))
        predicate = None
        if guard is not None:
            predicate = Predicate(self._scoped(guard), negation == "!")
        operands = self._parse_operands(text, index, column)
        if "b128" in known[1]:
            operands = tuple(self._wide(operand) for operand in operands)
        selectors: tuple[str, ...] = ()
        if known[0][0] == "v":
            operands, selectors = self._without_selectors(operands)
        return Instruction(
            known[0],
            known[1] + selectors,
            predicate,
            operands,
            index + 1,
            self.source,
            column + 1,
        )

    def _without_selectors(
        self, operands: tuple[Operand, ...]
    ) -> tuple[tuple[Operand, ...], tuple[str, ...]]:
        """Operands such as `%r2.b1` of video instructions as registers, and modifiers such as `1.b1`."""
        plain: list[Operand] = []
        selectors = []
        for position, operand in enumerate(operands):
            found = _SELECTOR.fullmatch(operand.name) if isinstance(operand, Register) else None
            if found is None or found[1] not in self.body.registers:
                plain.append(operand)
                continue
            plain.append(Register(found[1]))
            selectors.append(f"{position}.{found[2]}")
        return tuple(plain), tuple(selectors)

    def _parse_operands(self, text: str | None, index: int, column: int) -> tuple[Operand, ...]:
        if not text:
            return ()
        if not any(self.scopes):
            operands = self._operands.get(text)
            if operands is not None:
                return operands
        else:
            text = _NAME.sub(lambda found: self._scoped(found[0]), text)
        try:
            operands = tuple(self._operand(piece) for piece in PIECES.findall(text))
        except ValueError as error:
            raise self._error(index, SCOPE.sub("", str(error)), token_of(error), column) from None
        self._operands[text] = operands
        return operands

    def _operand(self, piece: str) -> Operand:
        operand = self._single.get(piece)
        if operand is None:
            operand = self._single[piece] = parse_operand(piece, self.body.registers)
        return operand

    def _wide(self, operand: Operand) -> Operand:
        """The operand, or the halves of a register of 128 bits."""
        if isinstance(operand, Register) and self.body.registers.get(operand.name) == "b128":
            return Vector(tuple(Register(name) for name in _halves_of(operand.name)))
        return operand

    def _scoped(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return name

    def _declare(self, name: str) -> str:
        """Return a unique name for one declared inside nested braces: other blocks may declare it as well."""
        if not self.scopes:
            return name
        unique = f"{name}_scope{self.scope_count}"
        self.scopes[-1][name] = unique
        return unique

    def _registers(self, text: str, index: int, start: int) -> None:
        words = text.split(None, 2)
        kind = words[1].lstrip(".") if len(words) == 3 else ""
        if len(words) != 3:
            raise self._error(index, "a register declaration that cannot be read", start=start)
        if kind not in TYPE_BYTES:
            raise self._error(index, f"`{words[1]}` is not a type of a register", words[1], start)
        for declared in words[2].split(","):
            found = _BANK.match(declared.strip())
            if found is None:
                what = f"`{declared.strip()}` is not the name of a register"
                raise self._error(index, what, declared, start)
            if found[2] is None:
                name = self._declare(found[1])
                self.body.banks.append((kind, name))
                self._enter(name, kind)
            elif len(found[2]) > _MAX_DIGITS:
                what = f"`{declared.strip()}` declares too many registers"
                raise self._error(index, what, declared, start)
            else:
                self._bank(kind, found[1], int(found[2]))

    def _bank(self, kind: str, stem: str, count: int) -> None:
        """`%r<20>` declares %r0 to %r19."""
        unique = f"{stem}_scope{self.scope_count}_" if self.scopes else stem
        if self.scopes:
            self.scopes[-1].update((f"{stem}{number}", f"{unique}{number}") for number in range(count))
        self.body.banks.append((kind, f"{unique}<{count}>"))
        for number in range(count):
            self._enter(f"{unique}{number}", kind)

    def _enter(self, name: str, kind: str) -> None:
        """Declare a register; one of 128 bits has halves, which the instructions use."""
        self.body.registers[name] = kind
        if kind == "b128":
            self.body.registers.update((half, "b64") for half in _halves_of(name))

    def _variables(self, text: str, index: int, start: int) -> None:
        try:
            variables = parse_variable(text)
        except ValueError as error:
            raise self._error(index, str(error), token_of(error), start) from None
        for variable in variables:
            name = self._declare(variable.name)
            self.body.variables.append(
                Variable(
                    name,
                    variable.space,
                    variable.size,
                    variable.align,
                    variable.initial,
                    variable.references,
                    variable.external,
                )
            )

    def _location(self, text: str, index: int) -> None:
        """Set the source location of the instructions that follow.

        `inlined_at` gives the position of the call; its own location is the latest `.loc` at that position.
        """
        positions = self._positions.get(text)
        if positions is None:
            found = _LOC.match(text)
            if found is None:
                raise self._error(index, "a `.loc` that cannot be read", text)
            file, line, column, *call = found.groups()
            caller = (self._file(call[0]), int(call[1]), int(call[2])) if call[0] is not None else None
            positions = self._positions[text] = (self._file(file), int(line), int(column)), caller
        own, caller = positions
        if own[1] == 0:  # line 0: compiler-generated code, which keeps the preceding location
            return
        outer = None if caller is None else self._locations.get(caller)
        if caller is not None and outer is None:
            outer = self._locations[caller] = SourceLocation(*caller)
        location = self._locations.get(own)
        if location is None or location.inlined_at is not outer:
            location = self._locations[own] = SourceLocation(*own, _shallow(outer))
        self.source = location

    def _file(self, number: str) -> str:
        return self.files.get(int(number), f"file {number}")

    def _error(self, index: int, what: str, token: str = "", start: int = 0) -> PtxError:
        """The error about a token of the statement that begins at this line index and column (from 0)."""
        if token:
            index, start = locate(self.text, index, start, token)
        return PtxError(
            what,
            line=index + 1,
            column=start + 1,
            text=self.text[index] if index < len(self.text) else "",
            source=self.source,
            hint=NEVER_GUESSES,
        )


def _halves_of(name: str) -> tuple[str, str]:
    """The registers of the lower and the upper 64 bits of a register of 128 bits."""
    return f"{name}.low", f"{name}.high"


def in_halves(instruction: Instruction) -> tuple[Instruction, ...]:
    """Moves of 128 bits as two of 64, and loads and stores as those of two elements; others unchanged."""
    operands = instruction.operands
    if "b128" not in instruction.modifiers:
        return (instruction,)
    if instruction.opcode in ("ld", "st"):
        modifiers = (*instruction.modifiers[:-1], "v2", "b64")
        return (replace(instruction, modifiers=modifiers),)
    if instruction.opcode != "mov" or len(operands) != 2:
        return (instruction,)
    sides = [_two(operand) for operand in operands]
    if not all(sides):
        return (instruction,)
    return tuple(replace(instruction, modifiers=("b64",), operands=pair) for pair in zip(*sides, strict=True))


def _two(operand: Operand) -> tuple[Operand, ...]:
    """The lower and the upper half of 128 bits; nothing for another operand."""
    elements = operand.elements if isinstance(operand, Vector) else ()
    if len(elements) == 4:
        return Vector(elements[:2]), Vector(elements[2:])
    return elements if len(elements) == 2 else ()


def _shallow(location: SourceLocation | None) -> SourceLocation | None:
    """The location, or None where its chain of inlined calls is too long (recursive inlining)."""
    inner, depth = location, 0
    while inner is not None:
        inner, depth = inner.inlined_at, depth + 1
    return location if depth < _MAX_INLINED_CALLS else None
