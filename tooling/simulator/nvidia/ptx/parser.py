"""PTX text to `Module`, in one pass over the lines.

Grammar: PTX ISA 8.5, sections 4 and 11. LLVM writes one statement per line; others are read up to `;`.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from msgspec.structs import replace

from tooling.platform.gc_pause import paused_gc
from tooling.simulator.gpu.code_model import Function, Module, Parameter, Variable
from tooling.simulator.gpu.stop_texts import NEVER_GUESSES, UNKNOWN_VARIABLE
from tooling.simulator.nvidia.ptx.body import BodyParser
from tooling.simulator.nvidia.ptx.errors import PtxError, UnreadableToken, locate, token_of
from tooling.simulator.nvidia.ptx.operands import PIECES
from tooling.simulator.nvidia.ptx.parameter_sizes import with_accessed_sizes
from tooling.simulator.nvidia.ptx.variables import TYPE_BYTES, alignment, parse_variable

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)
_FUNCTION = re.compile(
    r"(?P<linkage>(?:\.(?:visible|extern|weak|common)\s+)*)\.(?P<kind>entry|func)\s*"
    r"(?:\((?P<results>[^)]*)\)\s*)?(?P<name>[\w$%]+)\s*(?:\((?P<parameters>[^)]*)\))?\s*(?P<directives>[^{;]*)",
    re.DOTALL,
)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>\w+)\s+"
    r"(?:\.ptr\s+(?:\.(?:global|shared|const|local)\s+)?(?:\.align\s+\d+\s+)?)?(?P<name>[\w$%]+)\s*(?:\[(?P<size>\d*)\])?$"
)
_HEADERS = {
    ".version": re.compile(r"(\d{1,4})\.(\d{1,4})", re.ASCII),
    ".target": re.compile(r"[\w, \t]+", re.ASCII),
    ".address_size": re.compile(r"32|64"),
}
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NOT_LINE_END = re.compile(r"[^\n]")
_VARIABLE_START = re.compile(r"(?:\.(?:visible|extern|weak|common)\s+)*\.(?:global|shared|const|local)\b")


@lru_cache(maxsize=32)
def parse_module(text: str) -> Module:
    """Parse a PTX module; the results for the last few texts are cached.

    Raises:
        PtxError: a line that the simulator cannot read.
    """
    with paused_gc():
        return _ModuleParser(text).parse()


class _ModuleParser:
    def __init__(self, text: str) -> None:
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        text = text.rstrip("\0")
        if "/*" in text:
            text = _BLOCK_COMMENT.sub(lambda found: _NOT_LINE_END.sub(" ", found[0]), text)
        self.text = text
        self.files = {int(number): path for number, path in _FILE.findall(text)}
        self.lines = text.split("\n")
        self.position = 0
        self.version = (0, 0)
        self.target: tuple[str, ...] = ()
        self.address_size = 64
        self.kernels: dict[str, Function] = {}
        self.functions: dict[str, Function] = {}
        self.externals: list[str] = []
        self.globals: dict[str, Variable] = {}
        self.variable_lines: dict[str, int] = {}
        self.body_parser = BodyParser(self.lines, self.files)

    def parse(self) -> Module:
        while self.position < len(self.lines):
            line = _uncomment(self.lines[self.position])
            if not line:
                self.position += 1
                continue
            self._directive(line)
        self._check_references()
        missing = [name for name in self.externals if name not in self.functions]
        return Module(
            self.version,
            self.target,
            self.address_size,
            self.kernels,
            self.functions,
            tuple(missing),
            self.globals,
            self.files,
            self.digest,
            self.text,
        )

    def _check_references(self) -> None:
        """Initialisers may name variables of global and constant memory, and functions (PTX ISA 5.4.4)."""
        known = {v.name for v in self.globals.values() if v.space in ("global", "const")}
        known |= self.functions.keys()
        for variable in self.globals.values():
            for reference in variable.references:
                name = reference.symbol.name
                if name not in known:
                    what = UNKNOWN_VARIABLE.of(name=name)
                    raise PtxError(what, line=self.variable_lines[variable.name], hint=NEVER_GUESSES)

    def _directive(self, line: str) -> None:
        word, *after = line.split(None, 1)
        if word in _HEADERS:
            found = _HEADERS[word].fullmatch("".join(after))
            if found is None:
                raise self._error(f"`{line}` is not a `{word}` directive", line)
            if word == ".version":
                self.version = (int(found[1]), int(found[2]))
            elif word == ".target":
                self.target = tuple(target.strip() for target in found[0].split(","))
            else:
                self.address_size = int(found[0])
        elif word == ".section":
            self._skip_section()
            return
        elif word in (".file", ".pragma", ".loc"):
            pass
        elif _VARIABLE_START.match(line):
            self._variable()
            return
        elif ".entry" in line or ".func" in line:
            self._function()
            return
        else:
            raise self._error(f"`{word}` is not a module directive that the simulator knows", word)
        self.position += 1

    def _skip_section(self) -> None:
        while self.position < len(self.lines):
            line = self.lines[self.position]
            self.position += 1
            if "}" in line:
                return

    def _gather(self, stops: str) -> tuple[str, int]:
        """The text before the first character of `stops`, and the number of the line it starts in."""
        start = self.position
        fragments: list[str] = []
        while self.position < len(self.lines):
            line = _uncomment(self.lines[self.position])
            ends = [index for index in (line.find(stop) for stop in stops) if index >= 0]
            if ends:
                end = min(ends)
                fragments.append(line[:end])
                self.stop = line[end]
                code = self.lines[self.position].split("//", 1)[0].rstrip()
                rest = line[end + 1 :]
                self.lines[self.position] = " " * (len(code) - len(rest)) + rest if rest else ""
                return " ".join(fragments), start + 1
            fragments.append(line)
            self.position += 1
        self.position = start
        raise self._error("this declaration has no end")

    def _variable(self) -> None:
        column = self._indent()
        text, line = self._gather(";")
        try:
            for variable in parse_variable(text):
                self.globals[variable.name] = variable
                self.variable_lines[variable.name] = line
        except ValueError as error:
            raise self._error(str(error), token_of(error), (line - 1, column)) from None

    def _function(self) -> None:
        column = self._indent()
        text, line = self._gather("{;")
        header = _FUNCTION.match(text.strip())
        if header is None:
            raise self._error("a function header that cannot be read", "", (line - 1, column))
        name = header["name"]
        if self.stop == ";":
            self.externals.append(name)
            return
        try:
            parameters, results = _parameters(header["parameters"]), _parameters(header["results"])
        except ValueError as error:
            raise self._error(str(error), token_of(error), (line - 1, column)) from None
        function = Function(
            name=name,
            is_entry=header["kind"] == "entry",
            parameters=parameters,
            results=results,
            registers={},
            register_banks=(),
            variables=(),
            body=(),
            directives=tuple(header["directives"].split("\n")) if header["directives"].strip() else (),
            line=line,
        )
        body = self.body_parser.parse(self.position)
        self.position = body.end
        function = replace(
            function,
            registers=body.registers,
            register_banks=tuple(body.banks),
            variables=tuple(body.variables),
            body=tuple(body.statements),
        )
        (self.kernels if function.is_entry else self.functions)[name] = with_accessed_sizes(function)

    def _indent(self) -> int:
        """Column of the first character of the line, from 0."""
        line = self.lines[self.position]
        return len(line) - len(line.lstrip())

    def _error(self, what: str, token: str = "", at: tuple[int, int] | None = None) -> PtxError:
        """The error about a token of the declaration that begins at line index and column `at`."""
        lines = self.body_parser.text
        index, column = at or (self.position, self._indent())
        if token:
            index, column = locate(lines, index, column, token)
        return PtxError(what, line=index + 1, column=column + 1, text=lines[index], hint=NEVER_GUESSES)


def _uncomment(line: str) -> str:
    cut = line.find("//")
    return (line if cut < 0 else line[:cut]).strip()


def _parameters(text: str | None) -> tuple[Parameter, ...]:
    """Parameters with their offsets: each at the next multiple of its alignment (PTX ISA 7.1)."""
    parameters: list[Parameter] = []
    end = 0
    for declared in PIECES.findall(text or ""):
        found = _PARAMETER.match(" ".join(declared.split()))
        if found is None:
            raise UnreadableToken(f"`{declared.strip()}` is not a parameter", declared)
        element = TYPE_BYTES.get(found["type"], 0)
        if not element:
            raise UnreadableToken(f"`.{found['type']}` is not a type of a parameter", f".{found['type']}")
        align = alignment(found["align"], element)
        size = element * int(found["size"]) if found["size"] else element
        offset = end + -end % align
        parameters.append(Parameter(found["name"], offset, size, align))
        end = offset + size
    return tuple(parameters)
