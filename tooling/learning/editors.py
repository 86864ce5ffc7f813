"""Settings with which an editor starts Mojo's language server so that puzzles are understood.

The language server finds the package `lab` only if it gets the folder `problems`. Editors pass the paths on
as they are written, so they are absolute, and the settings belong to one machine.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from tooling.generate.kept_files import keep_copy
from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.pins import MOJO_VERSION
from tooling.project import Project
from tooling.simulator.checks.texts import WHERE
from tooling.text import Text, languages

SERVER = "mojo-lsp-server"
_OURS = "# Written by `tooling editor`."
_OURS_LUA = "-- Written by `tooling editor`."

_ADD_SETTINGS = Text("add these settings yourself:\n{content}")
_OPEN_VS_CODE = Text(
    "Open the folder {root} and install the extension that VS Code recommends (Mojo, by Modular). "
    "`Terminal > Run Task` has the tasks; errors are listed under `Problems`."
)
_OPEN_NEOVIM = Text(
    "Add `vim.opt.exrc = true` to your init.lua and start nvim 0.11 or later in {root}. When it asks "
    "about .nvim.lua, choose `view` and type `:trust`."
)
_OPEN_ZED = Text("Install the extension Mojo, then open the folder {root}.")
_OPEN_HELIX = Text(
    "Start `hx` in {root}, and choose `Trust` if it asks; `hx --health mojo` shows the server."
)


class ServerMissing(ToolingError):
    """The language server is not installed."""

    exit_code = ExitCode.NOT_POSSIBLE


class SettingsNotMerged(ToolingError):
    """A file of settings has contents of the reader that cannot be kept."""


class Written(Struct, frozen=True):
    """One file of settings: its path, whether it changed, and the copy of what was there."""

    path: Path
    changed: bool
    copy: Path | None


class _Editor(Struct, frozen=True):
    files: Callable[[Path, Project], Mapping[str, str | dict[str, Any]]]  # a dict is merged into a JSON file
    then: Text


def find_server(editor: str = "vscode") -> Path:
    """The language server of this environment.

    Args:
        editor: for the command that installs it.

    Raises:
        ServerMissing: it is not installed.
    """
    server = Path(sys.prefix) / "bin" / SERVER
    if not server.is_file():
        raise ServerMissing(
            Text("`{server}` is not installed in this environment").of(server=SERVER),
            where=Location(server),
            why=Text("puzzles do not need it, so it is in the dependency group `editor`"),
            hint=Text(
                "`uv run --group editor tooling editor {editor}` installs it; "
                "elsewhere install mojo=={version} beside the tool"
            ).of(editor=editor, version=MOJO_VERSION),
        )
    return server


def write_settings(editor: str, project: Project) -> tuple[tuple[Written, ...], Text]:
    """Writes the settings of an editor, and returns what the reader does next.

    Other settings in a JSON file stay as they are, and a file that changes is copied first.

    Raises:
        ServerMissing: as `find_server`.
        SettingsNotMerged: a file with other contents is in the way; it is not touched.
        CopyFailed: a file cannot be copied; it is not touched.
    """
    chosen = EDITORS[editor]
    files = chosen.files(find_server(editor), project)
    wanted = {project.root / name: _text(project.root / name, content) for name, content in files.items()}
    written = tuple(_write(path, text) for path, text in wanted.items())
    return written, chosen.then.of(root=project.root)


def _text(path: Path, content: str | dict[str, Any]) -> str:
    try:
        present = path.read_text("utf-8") if path.is_file() else ""
    except UnicodeDecodeError as error:
        raise SettingsNotMerged(
            Text("the file is not UTF-8, so it is left as it is"),
            where=Location(path),
            why=str(error),
            hint=_ADD_SETTINGS.of(
                content=content if isinstance(content, str) else json.dumps(content, indent=2)
            ),
        ) from error
    if isinstance(content, str):
        if present and not present.startswith((_OURS, _OURS_LUA)):
            raise SettingsNotMerged(
                Text("the file was not written by this tool, so it is left as it is"),
                where=Location(path),
                hint=Text("add these lines yourself:\n{content}").of(content=content),
            )
        return content
    try:
        settings = json.loads(present or "{}")
        if not isinstance(settings, dict):
            raise ValueError(f"it contains a {type(settings).__name__}, not an object")
    except ValueError as error:
        raise SettingsNotMerged(
            Text("the file cannot be merged, so it is left as it is"),
            where=Location(path),
            why=Text("comments and trailing commas are not read: {error}").of(error=error),
            hint=_ADD_SETTINGS.of(content=json.dumps(content, indent=2)),
        ) from error
    return json.dumps(_merged(settings, content), indent=2, ensure_ascii=False) + "\n"


def _merged(present: Any, wanted: Any) -> Any:
    """`wanted` in `present`: objects are merged, lists of named objects by their label, others replaced."""
    if isinstance(present, dict) and isinstance(wanted, dict):
        return present | {key: _merged(present.get(key), value) for key, value in wanted.items()}
    if isinstance(present, list) and isinstance(wanted, list):
        labels = [each["label"] for each in wanted if isinstance(each, dict)]
        kept = [
            each
            for each in present
            if each not in wanted and not (isinstance(each, dict) and each.get("label") in labels)
        ]
        return [*kept, *wanted]
    return wanted


def _write(path: Path, text: str) -> Written:
    if path.is_file() and path.read_text("utf-8") == text:
        return Written(path, changed=False, copy=None)
    copy = keep_copy(path) if path.exists() else None
    write_atomically(path, text.encode())
    return Written(path, changed=True, copy=copy)


_PLACE = r"([^\s:][^:]*\.mojo):(\d+):(\d+):"
_NAMED = {"file": 1, "line": 2, "column": 3}


def _matchers() -> list[dict[str, Any]]:
    """What finds the lines of errors and findings in the output of a task, in every language of the tool."""
    labels = "|".join(re.escape(WHERE.render(language)) for language in languages())
    where = rf"^\s*(?:(?:{labels}): )?{_PLACE}"  # of a finding of the simulated GPU, or of its other access
    common = {"owner": "mojo", "fileLocation": ["autoDetect", "${workspaceFolder}"], "severity": "error"}
    return [
        common | {"pattern": pattern}
        for pattern in (
            # An error of the compiler.
            {"regexp": rf"^\s*{_PLACE} (error|warning|note): (.*)$", **_NAMED, "severity": 4, "message": 5},
            # A finding, which is in the next line where the terminal is narrow.
            {"regexp": rf"{where} (?!(?:error|warning|note): )(.+)$", **_NAMED, "message": 4},
            [{"regexp": rf"{where}$", **_NAMED}, {"regexp": r"^\s+(\S.*)$", "message": 1}],
        )
    ]


def _vs_code(server: Path, project: Project) -> dict[str, str | dict[str, Any]]:
    tool = str(server.with_name("tooling"))
    task: dict[str, Any] = {
        "type": "process",
        "command": tool,
        "problemMatcher": _matchers(),
        "presentation": {"clear": True},
    }
    file = "${fileBasenameNoExtension}"
    default: dict[str, Any] = {"kind": "build", "isDefault": True}
    without: dict[str, Any] = {"problemMatcher": []}
    return {
        ".vscode/settings.json": {
            "mojo.lsp.includeDirs": [str(project.problems)],
            "python.defaultInterpreterPath": str(server.with_name("python")),
        },
        ".vscode/extensions.json": {"recommendations": ["modular-mojotools.vscode-mojo"]},
        ".vscode/tasks.json": {
            "version": "2.0.0",
            "tasks": [
                task | {"label": "puzzle: judge this file", "args": ["run", file], "group": default},
                task | without | {"label": "puzzle: judge at every save", "args": ["watch", file]},
                task | without | {"label": "puzzle: hint", "args": ["hint", file]},
                task | without | {"label": "puzzle: what is next", "args": ["start"]},
            ],
        },
    }


def _neovim(server: Path, project: Project) -> dict[str, str | dict[str, Any]]:
    command = json.dumps([str(server), "-I", str(project.problems)])[1:-1]
    return {
        ".nvim.lua": f"""{_OURS_LUA}
vim.filetype.add({{ extension = {{ mojo = "mojo" }} }})
vim.lsp.config("mojo", {{
  cmd = {{ {command} }},
  filetypes = {{ "mojo" }},
  root_markers = {{ "pyproject.toml" }},
}})
vim.lsp.enable("mojo")
"""
    }


def _zed(server: Path, project: Project) -> dict[str, str | dict[str, Any]]:
    binary = {"path": str(server), "arguments": ["-I", str(project.problems)]}
    return {".zed/settings.json": {"lsp": {"mojo-lsp": {"binary": binary}}}}


def _helix(server: Path, project: Project) -> dict[str, str | dict[str, Any]]:
    arguments = json.dumps(["-I", str(project.problems)])
    return {
        ".helix/languages.toml": f"""{_OURS}
[language-server.mojo-puzzles]
command = {json.dumps(str(server))}
args = {arguments}

[[language]]
name = "mojo"
language-servers = ["mojo-puzzles"]
"""
    }


EDITORS: dict[str, _Editor] = {
    "vscode": _Editor(_vs_code, _OPEN_VS_CODE),
    "neovim": _Editor(_neovim, _OPEN_NEOVIM),
    "zed": _Editor(_zed, _OPEN_ZED),
    "helix": _Editor(_helix, _OPEN_HELIX),
}
