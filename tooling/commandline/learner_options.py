"""The options of the commands that lead a reader through the puzzles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Struct, field

from tooling.commandline.fields import Flags, Option, Positional
from tooling.commandline.options import JsonFile, JunitFile, Language, On, Target, preset_language, seconds
from tooling.text import Text

_PUZZLE = Text(
    "p15, or a variant such as p15_tile_tensor; a flag such as --tiled names a mode (default: the next one)"
)
_PUZZLE_AND_HINT = Text(
    "p15, or a variant such as p15_tile_tensor; a flag such as --tiled names a mode (default: the next one), "
    "and the number of a hint"
)
Chosen = Annotated[tuple[str, ...], Positional(_PUZZLE, "PUZZLE")]
Yes = Annotated[bool, Option(Text("show it without a question"))]


class StartOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling start`."""

    path: Annotated[
        str | None,
        Option(
            Text(
                "from now on the puzzles of a path first: `gpu` is without MAX, `fast` for CUDA programmers"
            ),
            "NAME",
            alternative="path",
        ),
    ] = None
    fast: Annotated[bool, Option(Text("the same as --path fast"), alternative="path")] = False
    whole: Annotated[bool, Option(Text("from now on the order of the book"), alternative="path")] = False
    lang: Language = field(default_factory=preset_language)


class NextOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling next`."""

    lang: Language = field(default_factory=preset_language)


class ProgressOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling progress`."""

    json: JsonFile = None
    import_: Annotated[
        Path | None,
        Option(
            Text("add what was solved in another folder, or in a file that --export wrote"),
            "FOLDER",
            alternative="moving",
        ),
    ] = None
    export: Annotated[
        str | None,
        Option(
            Text("write what was solved here to a file, for --import elsewhere (`-`: to stdout)"),
            "FILE",
            alternative="moving",
        ),
    ] = None
    lang: Language = field(default_factory=preset_language)


class CheckAnswersOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling check-answers`."""

    puzzles: Annotated[
        tuple[str, ...], Positional(Text("only answers to these (default: all)"), "PUZZLE")
    ] = ()
    target: Target = None
    json: JsonFile = None
    junit: JunitFile = None
    lang: Language = field(default_factory=preset_language)


class ChosenOptions(Struct, frozen=True, kw_only=True):
    """What names a mode of a puzzle."""

    puzzle: Chosen = ()
    lang: Language = field(default_factory=preset_language)
    flags: Annotated[tuple[str, ...], Flags()] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Everything that names it; argparse takes some words for flags."""
        return (*self.puzzle, *self.flags)


class HintOptions(ChosenOptions, frozen=True, kw_only=True):
    """Of `tooling hint`."""

    puzzle: Annotated[tuple[str, ...], Positional(_PUZZLE_AND_HINT, "PUZZLE [N]")] = ()


class SolutionOptions(ChosenOptions, frozen=True, kw_only=True):
    """Of `tooling solution` and `tooling diff`."""

    yes: Yes = False


class WatchOptions(ChosenOptions, frozen=True, kw_only=True):
    """Of `tooling watch`."""

    target: Target = None
    on: On = None
    timeout: Annotated[float | None, Option(Text("time limit in seconds"), "S", read=seconds)] = None


class ResetOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling reset`."""

    puzzle: Annotated[
        str,
        Positional(Text("p15, or a variant such as p15_tile_tensor; `all`: every puzzle and your progress")),
    ]
    yes: Annotated[bool, Option(Text("with `all`: without a question"))] = False
    lang: Language = field(default_factory=preset_language)


class CacheOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling cache`."""

    lang: Language = field(default_factory=preset_language)


class DoctorOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling doctor`."""

    json: JsonFile = None
    lang: Language = field(default_factory=preset_language)


class EditorOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling editor`."""

    editor: Annotated[str, Positional(Text("vscode, neovim, zed or helix"))]
    lang: Language = field(default_factory=preset_language)


class CompletionOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling completion`."""

    shell: Annotated[str, Positional(Text("bash, zsh or fish"))]
    lang: Language = field(default_factory=preset_language)


class UpdateOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling update`."""

    lang: Language = field(default_factory=preset_language)


class InitOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling init`."""

    folder: Annotated[Path, Positional(Text("the folder to make, such as my-puzzles"))]
    lang: Language = field(default_factory=preset_language)
