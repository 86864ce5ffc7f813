"""PTX text to `Module`: one pass over the lines, operands and opcodes remembered by their text.

Grammar: PTX ISA 8.5, sections 4 and 11. LLVM writes one statement a line; others are gathered up to `;`.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from tooling.collection import uncollected
from tooling.record import replace
from tooling.simulator.param_room import with_room
from tooling.simulator.ptx_body import BodyParser
from tooling.simulator.ptx_errors import PtxError
from tooling.simulator.ptx_model import Function, Module, Parameter, Variable
from tooling.simulator.ptx_operands import PIECES
from tooling.simulator.ptx_variables import TYPE_BYTES, parse_variable
from tooling.simulator.stop_texts import NEVER_GUESSES

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
_VARIABLE_START = re.compile(r"(?:\.(?:visible|extern|weak|common)\s+)*\.(?:global|shared|const|local)\b")


@lru_cache(maxsize=32)
def parse_module(text: str) -> Module:
    """Parse a PTX module; the last few texts are remembered.

    Raises:
        PtxError: a line that is not PTX as far as the simulator knows it.
    """
    with uncollected():
        return _ModuleParser(text).parse()


class _ModuleParser:
    def __init__(self, text: str) -> None:
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        text = text.rstrip("\0")
        if "/*" in text:
            text = _BLOCK_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
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
        self.body_parser = BodyParser(self.lines, self.files)

    def parse(self) -> Module:
        while self.position < len(self.lines):
            line = _uncomment(self.lines[self.position])
            if not line:
                self.position += 1
                continue
            self._directive(line)
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
        )

    def _directive(self, line: str) -> None:
        word, *after = line.split(None, 1)
        if word in _HEADERS:
            found = _HEADERS[word].fullmatch("".join(after))
            if found is None:
                raise self._error(f"`{line}` is no `{word}` directive")
            if word == ".version":
                self.version = (int(found[1]), int(found[2]))
            elif word == ".target":
                self.target = tuple(part.strip() for part in found[0].split(","))
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
            raise self._error(f"`{word}` is no module directive that the simulator knows")
        self.position += 1

    def _skip_section(self) -> None:
        while self.position < len(self.lines):
            line = self.lines[self.position]
            self.position += 1
            if "}" in line:
                return

    def _gather(self, stops: str) -> tuple[str, int]:
        """The text up to and without the first of `stops`, and the line it starts at."""
        start = self.position
        parts: list[str] = []
        while self.position < len(self.lines):
            line = _uncomment(self.lines[self.position])
            ends = [index for index in (line.find(stop) for stop in stops) if index >= 0]
            if ends:
                end = min(ends)
                parts.append(line[:end])
                self.stop = line[end]
                self.lines[self.position] = line[end + 1 :]
                return " ".join(parts), start + 1
            parts.append(line)
            self.position += 1
        self.position = start
        raise self._error("this declaration has no end")

    def _variable(self) -> None:
        text, line = self._gather(";")
        try:
            for variable in parse_variable(text):
                self.globals[variable.name] = variable
        except ValueError as error:
            raise PtxError(str(error), line=line, text=text, hint=NEVER_GUESSES) from None

    def _function(self) -> None:
        text, line = self._gather("{;")
        header = _FUNCTION.match(text.strip())
        if header is None:
            raise PtxError("a function header that cannot be read", line=line, text=text)
        name = header["name"]
        if self.stop == ";":
            self.externals.append(name)
            return
        function = Function(
            name=name,
            is_entry=header["kind"] == "entry",
            parameters=_parameters(header["parameters"], line),
            results=_parameters(header["results"], line),
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
        (self.kernels if function.is_entry else self.functions)[name] = with_room(function)

    def _error(self, what: str) -> PtxError:
        return PtxError(what, line=self.position + 1, text=self.lines[self.position], hint=NEVER_GUESSES)


def _uncomment(line: str) -> str:
    cut = line.find("//")
    return (line if cut < 0 else line[:cut]).strip()


def _parameters(text: str | None, line: int) -> tuple[Parameter, ...]:
    """Parameters with their offsets: each at the next multiple of its alignment (PTX ISA 7.1)."""
    parameters: list[Parameter] = []
    end = 0
    for part in PIECES.findall(text or ""):
        found = _PARAMETER.match(" ".join(part.split()))
        if found is None:
            raise PtxError(f"`{part.strip()}` is no parameter", line=line, text=part)
        element = TYPE_BYTES.get(found["type"], 0)
        if not element:
            raise PtxError(f"`{found['type']}` is no type of a parameter", line=line, text=part)
        align = int(found["align"] or element)
        size = element * int(found["size"]) if found["size"] else element
        offset = end + -end % align
        parameters.append(Parameter(found["name"], offset, size, align))
        end = offset + size
    return tuple(parameters)
