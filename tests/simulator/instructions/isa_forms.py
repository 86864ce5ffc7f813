"""Records which instruction forms of the PTX ISA the assembler accepts for sm_90a.

usage: python3 isa_forms.py PTXAS OUTPUT.txt

PTXAS is the assembler of CUDA, for example of the wheel `nvidia-cuda-nvcc`. `data/isa_templates.txt` has the
forms of the chapters of the PTX ISA as patterns. The output has those instructions which the assembler takes,
sorted, each after a `+`; those that `tests/simulator/test_isa_forms.py` reports get a `-`.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from tests.simulator.simulate import HEAD, REGISTERS

TEMPLATES = Path(__file__).parents[1] / "data" / "isa_templates.txt"
"""Forms by pattern: (a|b) is one of several, @…@ a part that only forms with one more modifier have, <4:%r>
a register or a vector of as many as the form names, <dims> the coordinates of a tensor; `#`: a comment."""


def templates() -> list[str]:
    """The patterns."""
    return [line for line in TEMPLATES.read_text("utf-8").splitlines() if not line.startswith("#")]


def expand(template: str) -> Iterator[str]:
    """The instructions of a pattern; parts between `@` are tried with and without."""
    pieces = re.split(r"(\([^()]*\)|@[^@]*@)", template)
    choices = []
    for piece in pieces:
        if piece.startswith("("):
            choices.append(piece[1:-1].split("|"))
        elif piece.startswith("@") and len(piece) > 1:
            choices.append([piece[1:-1], ""])
        else:
            choices.append([piece])
    for chosen in itertools.product(*choices):
        yield _filled("".join(chosen))


def _filled(text: str) -> str:
    """An instruction with the registers of its vectors."""
    vector = re.search(r"\.(?:v|x)(\d)\b", text)
    count = int(vector[1]) if vector else 1
    text = re.sub(r"<[M\d]:(%\w+)>", lambda m: _group(m[1], count, always=".x" in m.string), text)
    half = 1 if "k8." in text else 2
    text = re.sub(r"<A:(%\w+)>", lambda m: _group(m[1], 2 * half, always=True), text)
    text = re.sub(r"<B:(%\w+)>", lambda m: _group(m[1], half, always=True), text)
    dims = re.search(r"\.(\d)d\b", text)
    numbers = range(int(dims[1])) if dims else ()
    return text.replace("<dims>", "{" + ", ".join(f"%r{number + 1}" for number in numbers) + "}")


def _group(stem: str, count: int, *, always: bool) -> str:
    names = ", ".join(f"{stem}{number + 1}" for number in range(count))
    return "{" + names + "}" if count > 1 or always else names


def module(instructions: list[str]) -> str:
    """A module with one instruction a line; the first is on line `FIRST`."""
    head = HEAD.replace("8.5", "8.6")
    registers = " ".join(REGISTERS.split()) + " .reg .b128 %x, %y, %z;"
    return head + f".visible .entry k()\n{{ {registers}\n" + "\n".join(instructions) + "\nret;\n}\n"


FIRST = 6
_ERROR = re.compile(r"line (\d+); (?:error|fatal)")


def accepted(assembler: str, instructions: list[str]) -> list[str]:
    """Those of the instructions that the assembler accepts."""
    kept = instructions
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "forms.ptx"
        while kept:
            source.write_text(module(kept), encoding="utf-8")
            command = [assembler, "-arch", "sm_90a", str(source), "-o", str(Path(folder) / "out")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return kept
            wrong = {int(found[1]) - FIRST for found in _ERROR.finditer(done.stderr + done.stdout)}
            if not wrong:
                if len(kept) == 1:
                    return []
                middle = len(kept) // 2
                return accepted(assembler, kept[:middle]) + accepted(assembler, kept[middle:])
            kept = [text for number, text in enumerate(kept) if number not in wrong]
    return []


def main() -> int:
    every = sorted({text for template in templates() for text in expand(template)})
    good: list[str] = []
    for start in range(0, len(every), 400):
        good += accepted(sys.argv[1], every[start : start + 400])
    Path(sys.argv[2]).write_text("".join(f"+ {text}\n" for text in sorted(good)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
