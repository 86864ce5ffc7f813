"""The source name of a kernel or function, from its name in the PTX."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePath

from tooling.platform.regular_files import read_text

_HASH = re.compile(r"_[0-9a-f]{16}$")
_PACKAGED = re.compile(r"(mojo_pkg)_[0-9a-f]+_([0-9a-f]{8})[0-9a-f]{8}$")
_CUT = re.compile(r"([a-z][a-z0-9]*?)6A")
_CUT_MODULE = re.compile(r"(\w+?)6A")
_DEFINITION = re.compile(r"^[ \t]*def (\w+)", re.MULTILINE)


def is_beginning_of(wanted: str, shown: str, symbol: str) -> bool:
    """Whether Mojo kept `shown`, the beginning of the name `wanted`, in the name of a kernel in the PTX.

    `tensor_core_matrix_multiplication` became `p33_tensor_core_matrix_multipli6A6A_7065569a3426d333`.
    """
    return wanted.startswith(shown) and f"{shown}6A" in symbol


def readable_kernel(name: str, files: Iterable[str]) -> str:
    """`axis_sum` for `p15_axis_sum_LayoutTensor_True6A6A_568de488e22ada17` of p15.mojo.

    Args:
        files: the module's source files, whose names begin those of their functions.

    Mojo's names are module, function, parameter types and a hash; other names are left as they are.
    Mojo truncates the readable part of a long name, without a separator: `single_block_ma6A6AoA_930b…`. The
    rest of the name is taken from the source file, if one function there begins so.
    """
    files = tuple(files)
    packaged = _PACKAGED.match(name)
    if packaged:  # a kernel of a MAX graph: only the hash identifies it in its package
        return ":".join(packaged.groups())
    short = _HASH.sub("", name)
    if short == name:
        return name
    for file in files:
        stem = PurePath(file).stem + "_"
        if short.startswith(stem):
            short = short[len(stem) :]
            break
        module = _CUT_MODULE.match(short)
        if module and stem.startswith(module.group(1)):  # nothing is left of the function's name
            return _completed("", [file]) or short
    words = short.split("_")
    if cut := _CUT.match(words[0]):
        return _completed(cut.group(1), files)
    kept = [words[0]]
    for word in words[1:]:
        if word[:1].isupper() or (any(c.isdigit() for c in word) and any(c.isupper() for c in word)):
            if cut := _CUT.match(word):
                return _completed("_".join((*kept, cut.group(1))), files)
            break
        kept.append(word)
    return "_".join(kept)


def _completed(beginning: str, files: Iterable[str]) -> str:
    """The name of the function that begins so, or the beginning where none or several do."""
    names: set[str] = set()
    for file in files:
        try:
            names |= _functions(file, Path(file).stat().st_mtime_ns)
        except OSError:  # the program was built elsewhere
            continue
    found = {name for name in names - {"main"} if name.startswith(beginning)}
    if beginning in found:
        return beginning
    return found.pop() if len(found) == 1 else beginning


@lru_cache(maxsize=64)
def _functions(file: str, changed: int) -> frozenset[str]:
    """The functions that a file defines; `changed` makes a changed file another one for the cache."""
    return frozenset(_DEFINITION.findall(read_text(Path(file), errors="replace")))
