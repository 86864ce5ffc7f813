"""The git commands of this tool, which execute no program that a checkout contains or configures.

A repository's configuration can name programs that git runs: `core.fsmonitor`, hooks, filter drivers, the
`uploadpack` of a remote. Configuration is not part of a clone, but a bare repository among a book's files is,
and git would use that repository, with its configuration, if it finds it first. Therefore:

- The repository is the nearest folder upwards with an entry `.git`, which git never checks out
  (`checkout_root`); git is started there and looks no further. A bare repository is never used.
- Settings that could name a program are overridden for the commands that this tool calls (git-config(1)).
- No transport is allowed unless the caller requests the network, so git cannot fetch a missing object by
  itself (git(1), GIT_ALLOW_PROTOCOL and GIT_NO_LAZY_FETCH).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

# Variables that a hook or an alias of git has set for another repository or another command.
_INHERITED = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_CONFIG_PARAMETERS",
)

_OVERRIDES = (
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.alternateRefsCommand", "true"),  # a fetch would call it for each alternate; `true` lists nothing
)

_TRANSPORTS = "file:git:http:https:ssh"  # without `ext` and remote helpers, which run any command
_FILTER_KEYS = ("clean", "process", "required", "smudge")


def checkout_root(folder: Path) -> Path | None:
    """The nearest ancestor of `folder`, itself included, that has an entry `.git`; None without one."""
    start = folder.resolve()
    return next((each for each in (start, *start.parents) if (each / ".git").exists()), None)


def git_command(root: Path, arguments: Sequence[str]) -> list[str]:
    """The command line of git in a checkout; run it with `git_environment` of the same root."""
    return ["git", "--literal-pathspecs", "-C", os.fspath(root), *arguments]


def git_environment(
    root: Path, *, network: bool = False, settings: Iterable[tuple[str, str]] = ()
) -> dict[str, str]:
    """The environment variables of git.

    Args:
        root: the folder where git is started; it searches for a repository in no folder above.
        network: whether it may contact a remote.
        settings: further settings to override, such as `disabled_filters`.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _INHERITED}
    allowed = os.environ.get("GIT_ALLOW_PROTOCOL", _TRANSPORTS) if network else ""
    count = kept.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    overrides = [*_OVERRIDES, *settings]
    numbered = dict(enumerate(overrides, first))
    return (
        kept
        | {f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in numbered.items()}
        | {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in numbered.items()}
        | {
            "GIT_CONFIG_COUNT": str(first + len(overrides)),
            "GIT_CEILING_DIRECTORIES": os.fspath(root.parent),
            "GIT_ALLOW_PROTOCOL": allowed,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
    )


def disabled_filters(root: Path) -> list[tuple[str, str]]:
    """Settings that switch off every filter driver of the configuration (gitattributes(5), "filter").

    Commands that compare the worktree with a commit need them: git passes changed files through the drivers.

    Raises:
        OSError: git cannot be started.
    """
    listing = subprocess.run(
        git_command(root, ["config", "-z", "--name-only", "--get-regexp", r"^filter\."]),
        env=git_environment(root),
        capture_output=True,
        check=False,
    ).stdout
    drivers = {os.fsdecode(name).rpartition(".")[0] for name in listing.split(b"\0") if name}
    return [
        (f"{driver}.{key}", "false" if key == "required" else "")
        for driver in sorted(drivers)
        for key in _FILTER_KEYS
    ]
