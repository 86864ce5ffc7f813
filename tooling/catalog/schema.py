"""The keys of puzzle.yaml as types: the source of the JSON Schema for editors and of the keys' description.

`tooling.catalog.manifest` reads a manifest and checks more than a schema can express; `keys_of` gives it the
keys, so that each is named once.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import fields

from tooling.catalog.model import CounterMetric, Extra, ModeKind, ProgramLanguage, TensorApi

SCHEMA_FILES = ("puzzle.schema.json", "MANIFEST.md")
"""The generated files of `problems/`: `manifest_schema` as JSON, and `manifest_keys`."""

DTYPES = (
    *("float16", "float32", "float64", "bfloat16", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)


class LocalFile(Struct):
    """A text by language; `tooling book check` asks for every language that has the puzzle's page."""

    en: Annotated[str, Meta(description="English; `ko` and the other languages of the tool are keys too")]


Extents = Annotated[list[Annotated[int, Meta(ge=1)]], Meta(min_length=1, max_length=3)]
Lanes = Literal["warp"]


class VendorFile(Struct, forbid_unknown_fields=True):
    """What GPUs of one vendor need; without an entry, the mode runs on all of them."""

    compute: (
        Annotated[
            str, Meta(pattern=r"^\d+\.\d+$", description="lowest compute capability, in quotes; NVIDIA only")
        ]
        | UnsetType
    ) = UNSET
    lanes: Annotated[int, Meta(description="lanes that a warp must have; AMD only")] | UnsetType = UNSET
    because: (
        Annotated[LocalFile, Meta(description="why; required with `compute` and `lanes`")] | UnsetType
    ) = UNSET
    unsupported: (
        Annotated[LocalFile, Meta(description="why the compiler refuses it, or why it cannot run there")]
        | UnsetType
    ) = UNSET
    builds: Annotated[bool, Meta(description="with `unsupported`: it builds")] | UnsetType = UNSET


class TargetsFile(Struct, forbid_unknown_fields=True):
    """Requirements by vendor."""

    nvidia: VendorFile | UnsetType = UNSET
    amd: VendorFile | UnsetType = UNSET
    apple: VendorFile | UnsetType = UNSET


class ProgramFile(Struct, forbid_unknown_fields=True):
    """A program: a problem file and a solution of the same name."""

    name: Annotated[str, Meta(description="the id of the puzzle, or `ID_suffix`")]
    api: Annotated[TensorApi, Meta(description="how its kernels address buffers")]
    language: Annotated[ProgramLanguage, Meta(description="default: mojo")] | UnsetType = UNSET
    extra: Annotated[Extra, Meta(description="of a Python program; default: max")] | UnsetType = UNSET
    file: Annotated[str, Meta(description="main file, if not NAME.mojo or NAME.py")] | UnsetType = UNSET
    files: Annotated[list[str], Meta(description="further files below the folder")] | UnsetType = UNSET


class OutputFile(Struct, forbid_unknown_fields=True):
    """A buffer that the program hands in with `submit`."""

    name: Annotated[str, Meta(description="as in `submit`; `guard` holds elements that no thread may write")]
    dtype: Annotated[Literal[DTYPES], Meta(description="element type")]  # type: ignore[valid-type]
    shape: Annotated[
        list[Annotated[int, Meta(ge=1)] | Lanes],
        Meta(min_length=1, description="extents; `warp`: the lanes of a warp"),
    ]
    rtol: Annotated[float, Meta(ge=0, description="relative tolerance; default 0")] | UnsetType = UNSET
    atol: Annotated[float, Meta(ge=0, description="absolute tolerance; default 0")] | UnsetType = UNSET
    simulated: (
        Annotated[
            list[Annotated[int, Meta(ge=1)]],
            Meta(min_length=1, description="its shape on the simulated GPU, if smaller"),
        ]
        | UnsetType
    ) = UNSET
    host: Annotated[bool, Meta(description="the program computes it on the CPU")] | UnsetType = UNSET


class CriterionFile(Struct, forbid_unknown_fields=True):
    """A requirement on a counter of one kernel, with exactly one bound."""

    kernel: Annotated[str, Meta(description="its name in the source")]
    metric: CounterMetric
    because: Annotated[LocalFile, Meta(description="the reason, which the learner reads")]
    at_least: Annotated[float, Meta(ge=0)] | UnsetType = UNSET
    at_most: Annotated[float, Meta(ge=0)] | UnsetType = UNSET
    equals: Annotated[float, Meta(ge=0)] | UnsetType = UNSET
    simulated_only: Annotated[bool, Meta(description="on a real GPU the values alone decide")] | UnsetType = (
        UNSET
    )


class LaunchFile(Struct, forbid_unknown_fields=True):
    """The shape that every launch must have."""

    grid: Annotated[Extents, Meta(description="x first")]
    block: Annotated[Extents, Meta(description="x first")]
    because: LocalFile


class ThreadsFile(Struct, forbid_unknown_fields=True):
    """How many threads must access global memory in one launch."""

    at_least: Annotated[int, Meta(ge=2)]
    because: LocalFile


class SharedMemoryFile(Struct, forbid_unknown_fields=True):
    """That some launch must read shared memory."""

    because: LocalFile


class OverlapFile(Struct, forbid_unknown_fields=True):
    """How long all copies between host and GPU may take, as their order allows."""

    at_most: Annotated[float, Meta(ge=1, description="relative to the copies of the longer direction")]
    because: LocalFile


class OtherSizesFile(Struct, forbid_unknown_fields=True):
    """A further run of programs that passed, with other constants; counters have no limits in it."""

    constants: Annotated[
        dict[str, str], Meta(min_length=1, description="the value of each, as a program writes it")
    ]
    shapes: Annotated[dict[str, Extents], Meta(description="of every output")]


class ModeFile(Struct, forbid_unknown_fields=True):
    """A way to run the puzzle's programs."""

    name: str
    hints: Annotated[list[LocalFile], Meta(description="at least three for a puzzle, from vague to exact")]
    kind: Annotated[ModeKind, Meta(description="default: puzzle")] | UnsetType = UNSET
    flags: Annotated[list[str], Meta(description="such as `--tiled`")] | UnsetType = UNSET
    programs: Annotated[list[str], Meta(description="default: all")] | UnsetType = UNSET
    anchors: (
        Annotated[
            list[str] | dict[str, list[str]],
            Meta(description="regions of the source that the learner writes, for all programs or by program"),
        ]
        | UnsetType
    ) = UNSET
    outputs: Annotated[list[OutputFile], Meta(description="of a judged mode")] | UnsetType = UNSET
    datasets: Annotated[list[Literal["book", "probe"]], Meta(description="default: both")] | UnsetType = UNSET
    targets: Annotated[TargetsFile, Meta(description="override the puzzle's")] | UnsetType = UNSET
    time_limit: Annotated[float, Meta(ge=0, description="seconds")] | UnsetType = UNSET
    counters: list[CriterionFile] | UnsetType = UNSET
    launch: LaunchFile | UnsetType = UNSET
    threads: ThreadsFile | UnsetType = UNSET
    shared_memory: SharedMemoryFile | UnsetType = UNSET
    overlap: OverlapFile | UnsetType = UNSET
    other_sizes: OtherSizesFile | UnsetType = UNSET
    resident_blocks: (
        Annotated[
            int,
            Meta(ge=1, description="for how many the simulated GPU has room in another order; default: all"),
        ]
        | UnsetType
    ) = UNSET


class PuzzleFile(Struct, forbid_unknown_fields=True):
    """problems/pXX/puzzle.yaml: everything about a puzzle that is not in its programs."""

    id: Annotated[str, Meta(pattern=r"^p\d\d$", description="the folder's name")]
    number: Annotated[int, Meta(ge=1)]
    title: LocalFile
    part: Annotated[str, Meta(pattern="^[IVX]+$", description="Roman numeral of the book's part")]
    chapters: Annotated[list[str], Meta(min_length=1, description="pages below book/src, in order")]
    programs: Annotated[list[ProgramFile], Meta(min_length=1)]
    modes: Annotated[list[ModeFile], Meta(min_length=1)]
    summary: Annotated[LocalFile, Meta(description="one line on what it is about")] | UnsetType = UNSET
    learnt: Annotated[LocalFile, Meta(description="what the reader has learnt from it")] | UnsetType = UNSET
    time_limit: Annotated[float, Meta(ge=0, description="seconds; default 20")] | UnsetType = UNSET
    targets: Annotated[TargetsFile, Meta(description="of all modes")] | UnsetType = UNSET
    gpus: Annotated[int, Meta(ge=1, le=8, description="that its programs use; default 1")] | UnsetType = UNSET


STRUCTURES: tuple[type[Struct], ...] = (
    PuzzleFile,
    ProgramFile,
    ModeFile,
    OutputFile,
    CriterionFile,
    LaunchFile,
    ThreadsFile,
    SharedMemoryFile,
    OverlapFile,
    OtherSizesFile,
    TargetsFile,
    VendorFile,
    LocalFile,
)


@cache
def keys_of(structure: type[Struct]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The required and the optional keys of a structure."""
    required = tuple(each.name for each in fields(structure) if each.required)
    return required, tuple(each.name for each in fields(structure) if not each.required)


def manifest_schema() -> dict[str, Any]:
    """The JSON Schema of puzzle.yaml."""
    schema: dict[str, Any] = msgspec.json.schema(PuzzleFile)
    schema["$defs"][LocalFile.__name__]["additionalProperties"] = {"type": "string"}  # further languages
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "puzzle.yaml", **schema}


def manifest_keys() -> str:
    """The keys of puzzle.yaml and the functions of reference.py as a page in Markdown."""
    sections = [_HEAD]
    for structure in STRUCTURES:
        definition = manifest_schema()["$defs"][structure.__name__]
        name = structure.__name__.removesuffix("File")
        sections.append(f"## {name}\n\n{definition['description']}\n\n| key | value | |\n|---|---|---|")
        for key, value in definition["properties"].items():
            needed = " (required)" if key in definition.get("required", ()) else ""
            sections.append(f"| `{key}`{needed} | {_kind(value)} | {_description(value)} |")
        sections.append("")
    return "\n".join([*sections, _REFERENCE, _GUIDE.read_text(encoding="utf-8").rstrip("\n"), ""])


def _description(value: dict[str, Any]) -> str:
    return str(value.get("description", "")).replace("|", "\\|")


def _kind(value: dict[str, Any]) -> str:
    """The type of a value in a few words."""
    if "$ref" in value:
        definition = manifest_schema()["$defs"][value["$ref"].rpartition("/")[2]]
        if "enum" in definition:
            return ", ".join(f"`{each}`" for each in definition["enum"])
        name = value["$ref"].rpartition("/")[2].removesuffix("File")
        return f"[{name}](#{name.lower()})"
    if "enum" in value:
        return ", ".join(f"`{each}`" for each in value["enum"])
    if "anyOf" in value:
        return " or ".join(_kind(each) for each in value["anyOf"])
    if value.get("type") == "array":
        return f"list of {_kind(value['items'])}"
    if value.get("type") == "object":
        return f"mapping to {_kind(value['additionalProperties'])}"
    return {"string": "text", "boolean": "true or false"}.get(str(value.get("type")), str(value.get("type")))


_GUIDE = Path(__file__).parent / "manifest_guide.md"
"""What else an author needs to know about the files of a puzzle; the end of MANIFEST.md."""

_HEAD = """\
<!-- generated by `tooling generate` from tooling/catalog/schema.py and manifest_guide.md -->

# The files of a puzzle

`problems/pXX/puzzle.yaml` describes a puzzle. Editors with YAML support complete and check it with
`puzzle.schema.json`, which its first line names; `tooling list` reports every mistake of a file at once.
"""
_REFERENCE = """\
## reference.py

`solutions/pXX/reference.py` computes with NumPy what the program has to compute. It defines two functions:

```python
def inputs(mode: str, dataset: str) -> dict[str, np.ndarray]:
    \"\"\"Every buffer that the program passes to `stage`; outputs with their content before.\"\"\"


def expected(mode: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    \"\"\"Every output of the mode, in the type of the manifest and in its shape or flat.\"\"\"
```

`mode` is the name of a mode, and `dataset` is `book`, the data of the program itself, or `probe`, which
replaces it. The probe is asymmetric and not constant, neither a type of 16 bits nor an integer holds
all of its values and sums, and the outputs contain a poison value, so that an element that no thread
writes is noticed. A mode with `other_sizes` has a third one, `other-sizes`. `expected` gets copies of
the inputs and may change them. A staged buffer of bfloat16 is given as uint16, the bits of its elements; a
bfloat16 output is returned as float32.

Either function may have two more parameters: `simulated`, whether it is the simulated GPU, for sizes that are
smaller there, and `lanes`, the number of threads of a warp.
"""
