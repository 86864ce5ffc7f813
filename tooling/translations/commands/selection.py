"""Pages named on the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from tooling.platform.errors import Location, ToolingError
from tooling.text import Text
from tooling.translations.git.repository import Repository
from tooling.translations.pages import find_files, key_of
from tooling.translations.report.policy import ChangedPages
from tooling.translations.roots import Roots


class PageNotFoundError(ToolingError):
    """A path on the command line is not a page of either tree."""


def select_pages(paths: Sequence[str], roots: Roots, folder: Path) -> frozenset[str]:
    """The keys of the pages that `paths` name: files or folders of either tree, or keys themselves.

    Args:
        folder: where relative paths start.

    Raises:
        PageNotFoundError: a path is not a page.
    """
    files = find_files(roots)
    known = files.sources.keys() | files.targets.keys()
    return frozenset(key for path in paths for key in _keys(path, roots, folder, known))


def _keys(path: str, roots: Roots, folder: Path, known: Iterable[str]) -> list[str]:
    candidates = [key_of(path.replace(os.sep, "/").strip("/"))]
    for start in (folder, roots.base):
        for root in (roots.source, roots.target):
            relative = os.path.relpath(os.path.abspath(start / path), os.path.abspath(root))  # noqa: PTH100
            if not relative.startswith(".."):
                candidates.append(key_of(relative.replace(os.sep, "/")))
    for candidate in reversed(candidates):
        prefix = "" if candidate == "." else f"{candidate}/"
        found = [key for key in known if key == candidate or key.startswith(prefix)]
        if found:
            return found
    raise PageNotFoundError(
        Text("no such page"),
        where=Location(Path(path)),
        why=Text("pages are the Markdown files below {source} and {target}").of(
            source=roots.source, target=roots.target
        ),
        hint=Text("name a page or a folder of either tree"),
    )


def selects_everything(paths: Sequence[str], roots: Roots, folder: Path) -> bool:
    """Whether one of the paths is a whole tree (or a folder around it)."""
    whole = {roots.source.resolve(), roots.target.resolve()}
    return any(
        root == (folder / path).resolve() or (folder / path).resolve() in root.parents
        for path in paths
        for root in whole
    )


def scope_since(ref: str, roots: Roots) -> ChangedPages:
    """The pages changed since HEAD diverged from `ref`, uncommitted changes included.

    Raises:
        UnresolvableRef: `ref` is not a commit in this clone, or has no common ancestor with HEAD in it.
        GitError: git could not compare.
    """
    repository = Repository.open(roots.source, roots.base)
    changed = repository.changed_since(repository.merge_base(ref, "--since"))
    sources = _below(roots.source, repository, changed)
    targets_repository = Repository.open(roots.target, roots.base)
    if targets_repository.root != repository.root:
        # A translation in a submodule or another repository: its changes are taken from that repository.
        changed = targets_repository.changed_since(targets_repository.merge_base(ref, "--since"))
    return ChangedPages(ref, _below(roots.target, targets_repository, changed), sources)


def _below(root: Path, repository: Repository, paths: Iterable[str]) -> frozenset[str]:
    folder = Path(os.path.relpath(root.resolve(), repository.root)).as_posix()
    prefix = "" if folder == "." else f"{folder}/"
    return frozenset(
        key_of(path.removeprefix(prefix))
        for path in paths
        if path.startswith(prefix) and path.endswith(".md")
    )
