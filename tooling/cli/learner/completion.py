"""`tooling completion`: what a shell completes after `tooling`, however the reader calls it.

The script of a shell finds `tooling`, `gpu-puzzle-lab` or `poe` among the words that are typed, as in
`.uv/bin/uv run tooling run p2`, and starts what is typed up to there as `… completion SHELL` with the words
behind it in PUZZLE_COMPLETE, one in a line. The answer has a line for each word that may follow; without
any, the shell completes files, and what does not call the tool is completed as before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from msgspec.structs import fields

from tooling.commandline.commands import COMMANDS, Command
from tooling.commandline.fields import Flags, Option, Positional
from tooling.commandline.learner_options import CompletionOptions
from tooling.commandline.parser import UsageError, choices_of, option_name
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from msgspec.structs import FieldInfo

    from tooling.catalog.model import Puzzle

_WORDS = "PUZZLE_COMPLETE"
_EDITORS = ("vscode", "neovim", "zed", "helix")
_POE = "poe"
_HELP = Text("show this help message and exit")

_BASH = r"""
_tooling_complete() {
    local index tool=-1 IFS=$' \t\n'
    for ((index = 0; index < COMP_CWORD; index++)); do
        case "${COMP_WORDS[index]##*/}" in
            tooling | gpu-puzzle-lab | poe) tool=$index; break ;;
        esac
    done
    if ((tool < 0)); then
        local before="_tooling_before_${1##*/}"
        if [[ -n "${!before}" ]]; then "${!before}" "$@"; fi
        return
    fi
    local -a call=("${COMP_WORDS[@]:0:tool+1}")
    local first=""
    if [[ "${call[tool]##*/}" == poe ]]; then call[tool]=tooling; first=$'poe\n'; fi
    IFS=$'\n'
    local typed="${COMP_WORDS[*]:tool+1:COMP_CWORD-tool}"
    COMPREPLY=($(PUZZLE_COMPLETE="$first$typed" "${call[@]}" completion bash 2>/dev/null))
}
for _tooling_name in uv uvx pixi poe; do
    if [[ "$(complete -p "$_tooling_name" 2>/dev/null)" =~ -F\ ([^\ ]+) ]]; then
        if [[ "${BASH_REMATCH[1]}" != _tooling_complete ]]; then
            printf -v "_tooling_before_$_tooling_name" %s "${BASH_REMATCH[1]}"
        fi
    fi
done
unset _tooling_name
complete -o bashdefault -o default -F _tooling_complete tooling gpu-puzzle-lab uv uvx pixi poe
"""

_ZSH = r"""#compdef tooling gpu-puzzle-lab
typeset -gA _tooling_before
_tooling_complete() {
    local -i tool=0 index
    for ((index = 1; index < CURRENT; index++)); do
        case "${words[index]:t}" in
            tooling | gpu-puzzle-lab | poe) tool=$index; break ;;
        esac
    done
    if ((tool == 0)); then
        local before="${_tooling_before[$service]}"
        if [[ -n "$before" ]]; then "$before" "$@"; else _default; fi
        return
    fi
    local -a call typed found
    call=("${(@Q)words[1,tool]}")
    typed=("${(@Q)words[tool+1,CURRENT]}")
    if [[ "${call[tool]:t}" == poe ]]; then call[tool]=tooling; typed=(poe "${typed[@]}"); fi
    found=("${(@f)$(PUZZLE_COMPLETE="${(F)typed}" "${call[@]}" completion zsh 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then _describe -V word found; else _files; fi
}
for _tooling_name in uv uvx pixi poe; do
    if [[ -n "${_comps[$_tooling_name]}" && "${_comps[$_tooling_name]}" != _tooling_complete ]]; then
        _tooling_before[$_tooling_name]="${_comps[$_tooling_name]}"
    fi
done
unset _tooling_name
compdef _tooling_complete tooling gpu-puzzle-lab uv uvx pixi poe
"""

_FISH = r"""
function __tooling_call
    set -l words (commandline -opc)
    for index in (seq (count $words))
        if string match -qr '(^|/)(tooling|gpu-puzzle-lab|poe)$' -- $words[$index]
            echo $index
            return 0
        end
    end
    return 1
end
function __tooling_complete
    set -l words (commandline -opc)
    set -l tool (__tooling_call)
    set -l call $words[1..$tool]
    set -l typed $words[(math $tool + 1)..-1] (commandline -ct)
    if string match -qr '(^|/)poe$' -- $call[$tool]
        set call[$tool] tooling
        set typed poe $typed
    end
    set -lx PUZZLE_COMPLETE (string join \n -- $typed | string collect --no-trim-newlines)
    set -l found ($call completion fish 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
for name in tooling gpu-puzzle-lab uv uvx pixi poe
    complete -c $name -n __tooling_call -f -k -a '(__tooling_complete)'
end
"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completion_command(options: CompletionOptions) -> int:
    from tooling.platform.suggestions import did_you_mean

    if options.shell not in _SCRIPTS:
        hint = did_you_mean(options.shell, _SCRIPTS)
        raise UsageError(Text("there is no completion for `{shell}`").of(shell=options.shell), hint=hint)
    typed = os.environ.get(_WORDS)
    if typed is None:
        print(_SCRIPTS[options.shell].lstrip("\n"), end="")
        return ExitCode.PASSED
    if options.shell == "fish":
        typed = typed.removesuffix("\n")  # fish ends the last line, too
    for word, text in completions(typed.split("\n"), options.lang):
        print(_answer(options.shell, word, text))
    return ExitCode.PASSED


def _answer(shell: str, word: str, text: str) -> str:
    line = " ".join(text.split())
    if shell == "bash" or not line:
        return word
    return f"{word}\t{line}" if shell == "fish" else f"{word.replace(':', chr(92) + ':')}:{line}"


def completions(words: Sequence[str], language: str) -> Iterator[tuple[str, str]]:
    """The words that may stand in the last place, each with what it means.

    Args:
        words: what is typed behind the tool; the last one is the beginning of a word, perhaps empty. With
            `poe` in front, the others are a task and its flags.
    """
    *before, beginning = words
    if before[:1] == [_POE]:
        found = _of_task(before[1:], language)
    else:
        found = _of_command(before, language, options=beginning.startswith("-"))
    for word, text in found:
        if word.startswith(beginning):
            yield word, text


def _of_task(before: Sequence[str], language: str) -> Iterator[tuple[str, str]]:
    """After `poe`: the task of a program, or its flags."""
    if before:
        yield from _flags(before, language)
    else:
        yield from _programs(language)


def _of_command(before: Sequence[str], language: str, *, options: bool) -> Iterator[tuple[str, str]]:
    command = next((each for each in COMMANDS if before and each.name == before[0]), None)
    if command is None:
        if not before:
            yield from ((each.name, each.help.render(language)) for each in COMMANDS)
        return
    rest = list(before[1:])
    if command.actions:
        action = next((each for each in command.actions if rest and each.name == rest[0]), None)
        if action is None and not rest:
            yield from ((each.name, each.help.render(language)) for each in command.actions)
        if action is None:
            action = next((each for each in command.actions if each.name == command.default), None)
        else:
            rest = rest[1:]
        if action is None:
            return
        command = action
    yield from _of_options(command, rest, language, options=options)


def _of_options(
    command: Command, rest: Sequence[str], language: str, *, options: bool
) -> Iterator[tuple[str, str]]:
    """The values of the option before, or the options, or the positional arguments of a command."""
    assert command.options
    described = [(each, *get_args(each.type)[:2]) for each in fields(command.options)]
    last = rest[-1] if rest else ""
    for field, kind, what in described:
        if isinstance(what, Option) and option_name(field) == last and kind is not bool and what.bare is None:
            yield from ((choice, "") for choice in choices_of(kind, what))
            return
    if options:
        for field, _, what in described:
            if isinstance(what, Option):
                yield option_name(field), what.help.render(language) if what.help else ""
        yield "--help", _HELP.render(language)
        if any(isinstance(what, Flags) for _, _, what in described):
            yield from _flags(rest, language)
        return
    for field, _, what in described:
        if isinstance(what, Positional):
            yield from _of_positional(field, rest, language)


def _of_positional(field: FieldInfo, rest: Sequence[str], language: str) -> Iterator[tuple[str, str]]:
    several = field.type is not None and "tuple" in str(get_args(field.type)[0])
    if not several and any(not word.startswith("-") for word in rest):
        return
    if field.name in ("puzzle", "puzzles"):
        yield from _programs(language)
    elif field.name == "editor":
        yield from ((name, "") for name in _EDITORS)
    elif field.name == "shell":
        yield from ((name, "") for name in _SCRIPTS)


def _programs(language: str) -> Iterator[tuple[str, str]]:
    for puzzle in _puzzles():
        for program in puzzle.programs:
            yield program.name, puzzle.title.render(language)


def _flags(words: Sequence[str], language: str) -> Iterator[tuple[str, str]]:
    """The flags of the last puzzle that is named."""
    from tooling.catalog.catalogue import program_name

    names = [program_name(word) for word in words if not word.startswith("-")]
    for puzzle in _puzzles():
        for program in puzzle.programs:
            if names[-1:] == [program.name]:
                for mode in puzzle.modes_of(program.name):
                    yield from ((flag, puzzle.title.render(language)) for flag in mode.flags)


def _puzzles() -> Sequence[Puzzle]:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.project import find_project

    return load_catalogue(find_project())
