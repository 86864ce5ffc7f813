"""Runs git in a few batched processes; every failure is a typed error.

The number of processes never depends on the number of pages; `Repository.processes` counts them.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import IO

from msgspec import Struct, field

from tooling.platform.errors import ToolingError
from tooling.platform.git_command import checkout_root, disabled_filters, git_command, git_environment
from tooling.text import Text


class GitError(ToolingError):
    """A git command failed."""


class GitKilled(GitError):
    """A git process was ended by a signal, so its answer is unknown."""


class GitNotInstalled(GitError):
    """No `git` on PATH."""


class NotARepository(GitError):
    """The folder is not in a git checkout."""


class BareRepository(GitError):
    """A repository without a worktree has no files to compare."""


class NestedRepository(GitError):
    """The pages are in another repository inside the checkout (or folder) that is worked on."""


class ObjectsMissing(GitError):
    """A partial clone lacks objects, and `--fetch` was not given."""


class UnresolvableRef(GitError):
    """A name given on the command line is not a commit in this clone."""


class History(StrEnum):
    """How much of the history this clone holds."""

    FULL = "full"
    SHALLOW = "shallow"
    BLOBLESS = "blobless"
    TREELESS = "treeless"


# What to do about a treeless clone, which fetches the folders of every former commit one by one.
UNSHALLOW = Text("git fetch --unshallow (CI: fetch-depth: 0)")
GIVE_IT_TREES = Text("git fetch --refetch --filter=blob:none, or clone again with --filter=blob:none")


class TreeEntry(Struct, frozen=True):
    """A file of a commit."""

    mode: str
    blob: str


def start_process(
    root: Path,
    arguments: Sequence[str],
    stdin: int | None,
    *,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.PIPE,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts git in the top folder of a checkout.

    Args:
        environment: of git (default: `git_environment`, without the network).

    Raises:
        GitNotInstalled: there is no git.
    """
    command = git_command(root, arguments)
    variables = git_environment(root) if environment is None else environment
    try:
        return subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, env=variables)
    except FileNotFoundError as error:
        raise GitNotInstalled(
            Text("git is not installed"),
            why=Text("pins without a blob line can be read only with git"),
            hint=Text("install git 2.38 or newer, or put it on PATH"),
        ) from error


def explain(stderr: bytes, arguments: Sequence[str], status: int) -> GitError:
    """The error for a git process that failed, with its output and a hint."""
    text = stderr.decode("utf-8", "replace").strip()
    if status < 0:
        return GitKilled(
            Text("git {arguments} was ended by signal {status}").of(arguments=arguments[0], status=-status),
            why=Text("something outside ended it; most often the system has run out of memory"),
            hint=Text("run it again"),
        )
    if "not a git repository" in text:
        return _not_a_repository()
    hint = Text("run the same command by hand to see more")
    if "dubious ownership" in text:
        hint = Text("git config --global --add safe.directory <the checkout>")
    elif "promisor remote" in text:
        hint = Text("git fetch --refetch --no-filter downloads what this partial clone lacks")
    elif "unknown option" in text or "unknown switch" in text:
        hint = Text("update git: 2.38 is the first with `cat-file --batch-command -z`")
    return GitError(
        Text("git {arguments} failed with status {status}").of(arguments=arguments[0], status=status),
        why=text.splitlines()[-1] if text else Text("git printed no message"),
        hint=hint,
    )


def repository_root(folder: Path, base: Path) -> Path:
    """Top folder of the checkout that holds the pages in `folder`.

    It is the nearest parent folder with an entry `.git`. Inside `base` that must be the checkout that `base`
    belongs to, or a submodule or linked worktree of it: no other repository among the files is used.
    A folder outside `base` was named on the command line and is used as it is.

    Args:
        folder: of pages.
        base: the checkout around the working directory.

    Raises:
        NotARepository: no parent folder has an entry `.git`.
        BareRepository: the same, and one of them is a bare repository.
        NestedRepository: the pages belong to another repository inside `base`.
    """
    found, own = checkout_root(folder), checkout_root(base)
    if found is None:
        start = folder.resolve()
        bare = next((each for each in (start, *start.parents) if _looks_bare(each)), None)
        raise _not_a_repository() if bare is None else _bare(bare)
    whole = own or base.resolve()
    if found == own or not found.is_relative_to(whole):
        return found
    if own is not None and _git_folder(found).is_relative_to(_git_folder(own)):
        return found
    raise NestedRepository(
        Text("the pages belong to another repository: {found}").of(found=found),
        why=Text(
            "the repository of {whole} is used, with its submodules, and none that is among its files"
        ).of(whole=whole),
        hint=Text("cd {found} and run this there, if you trust that repository").of(
            found=shlex.quote(os.fspath(found))
        ),
    )


def _git_folder(root: Path) -> Path:
    """The folder of a checkout's repository: `.git`, or what that file names (gitrepository-layout(5))."""
    entry = root / ".git"
    if entry.is_file():
        name = os.fsdecode(entry.read_bytes()).strip().removeprefix("gitdir:").strip()
        return (root / name).resolve()
    return entry.resolve()


def _looks_bare(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _bare(folder: Path) -> BareRepository:
    return BareRepository(
        Text("{folder} is a bare repository").of(folder=folder),
        why=Text("it has no worktree, so there are no pages to read"),
        hint=Text("git worktree add ../pages HEAD, then run this in ../pages"),
    )


def _not_a_repository() -> NotARepository:
    return NotARepository(
        Text("the pages are not in a git repository"),
        why=Text("without history only markers with a blob line can be judged"),
        hint=Text("run this in a clone, not in an unpacked archive"),
    )


class RunningGit:
    """A git process that runs concurrently with this one.

    It writes to unnamed files, so that it never waits for a reader. A thread that reads a pipe would also
    work, but would take the interpreter lock from the thread that reads thousands of small files.
    """

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._output, self._errors = _nameless_file(), _nameless_file()
        self._process = start_process(folder, arguments, None, stdout=self._output, stderr=self._errors)

    def output(self) -> bytes:
        """Waits for its end and returns its standard output; to be called once.

        Raises:
            GitError: its exit status was not 0.
        """
        self._process.wait()
        with self._output, self._errors:
            self._output.seek(0)
            self._errors.seek(0)
            if self._process.returncode != 0:
                raise explain(self._errors.read(), self._arguments, self._process.returncode)
            return self._output.read()


def _nameless_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("git-output"), "w+b")
    import tempfile  # noqa: PLC0415 -- slow to load, and Linux does without

    return tempfile.TemporaryFile()


class Repository(Struct):
    """The git checkout that holds a tree of pages.

    Attributes:
        root: top folder of the worktree.
        common: the shared git folder.
        history: how much of the history this clone holds.
        head: the commit checked out; None before the first one.
        object_format: `sha1` or `sha256`.
        boundary: commits at which a shallow history was cut off; their diffs show everything as new.
        network: whether objects that this clone lacks may be fetched from `origin`.
        processes: git processes started so far.
    """

    root: Path
    common: Path
    history: History
    head: str | None
    object_format: str
    boundary: frozenset[str]
    network: bool = False
    processes: int = field(default=1)

    @classmethod
    def open(cls, folder: Path, base: Path, *, network: bool = False) -> Repository:
        """The repository of the pages in `folder`, by the rule of `repository_root`.

        Raises:
            GitNotInstalled, NotARepository, BareRepository, NestedRepository, GitError
        """
        root = repository_root(folder, base)
        arguments = ["rev-parse", "--is-bare-repository", "--is-shallow-repository"]
        arguments += ["--show-object-format", "--git-common-dir", "--show-toplevel", "HEAD"]
        process = start_process(root, arguments, None)
        output, errors = process.communicate()
        lines = os.fsdecode(output).splitlines()
        if lines and lines[0] == "true":
            raise _bare(root)
        unborn = b"ambiguous argument 'HEAD'" in errors
        if process.returncode != 0 and not unborn:
            raise explain(errors, arguments, process.returncode)
        _, shallow, object_format, common_name, top, head = lines
        if Path(top).resolve() != root:
            raise NotARepository(
                Text("{root} belongs to another folder").of(root=root / ".git"),
                why=Text("git says that the top folder of this checkout is {top}").of(top=top),
                hint=Text(
                    "run this there, or correct `core.worktree` in the configuration of the repository"
                ),
            )
        common = (root / common_name).resolve()
        found = cls(root, common, History.FULL, None if unborn else head, object_format, frozenset(), network)
        if any((common / "objects" / "pack").glob("*.promisor")):
            found.history = found._partial_history()
        if shallow == "true":
            if found.history is History.FULL:
                found.history = History.SHALLOW
            found.boundary = frozenset((common / "shallow").read_text("ascii").split())
        return found

    @property
    def is_partial(self) -> bool:
        return self.history in (History.BLOBLESS, History.TREELESS)

    @property
    def is_shallow(self) -> bool:
        return bool(self.boundary)

    def _partial_history(self) -> History:
        try:
            filters = self.run(["config", "--get-regexp", r"^remote\..*\.partialclonefilter$"])
        except GitError:
            return History.BLOBLESS  # promisor packs without a filter: assume that only blobs are missing
        return History.TREELESS if b" tree:" in filters else History.BLOBLESS

    def run(
        self,
        arguments: Sequence[str],
        text: bytes | None = None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> bytes:
        """Standard output of one git process.

        Args:
            text: its standard input.
            environment: as for `start_process`.

        Raises:
            GitError: its exit status was not 0.
        """
        self.processes += 1
        stdin = subprocess.PIPE if text is not None else None
        process = start_process(self.root, arguments, stdin, environment=environment)
        output, errors = process.communicate(text)
        if process.returncode != 0:
            raise explain(errors, arguments, process.returncode)
        return output

    def start(self, arguments: Sequence[str]) -> RunningGit:
        """Starts a git process whose output is read later."""
        self.processes += 1
        return RunningGit(self.root, arguments)

    def tree(self, folder: str | None = None) -> dict[str, TreeEntry]:
        """Files of HEAD below `folder` (all of them without), by path from the top folder.

        Raises:
            GitError: the tree could not be read.
        """
        return read_tree(self.start_tree(folder))

    def start_tree(self, folder: str | None = None) -> RunningGit | None:
        """Starts listing the files of HEAD below `folder`, for `read_tree`; None before the first commit."""
        if self.head is None:
            return None
        arguments = ["ls-tree", "-r", "-z", "--full-tree", self.head]
        if folder not in (None, "."):
            arguments += ["--", f"{folder}/"]
        return self.start(arguments)

    def resolve(self, ref: str, option: str) -> str:
        """The commit that `ref` names.

        Raises:
            UnresolvableRef: it names none in this clone; `option` is the option that it was given to.
        """
        try:
            name = f"{ref}^{{commit}}"
            return self.run(["rev-parse", "--verify", "--quiet", "--end-of-options", name]).decode().strip()
        except GitError as error:
            raise UnresolvableRef(
                Text("{option} {ref}: no such commit in this clone").of(option=option, ref=ref),
                why=Text("a check against a missing reference would pass without checking anything"),
                hint=Text("git fetch origin {ref}, or name one that exists (git branch --all)").of(ref=ref),
            ) from error

    def merge_base(self, ref: str, option: str) -> str:
        """The merge base of HEAD and `ref`.

        Raises:
            UnresolvableRef: there is no such commit in this clone.
        """
        commit = self.resolve(ref, option)
        try:
            return self.run(["merge-base", commit, "HEAD"]).decode().strip()
        except GitError as error:
            raise UnresolvableRef(
                Text("{option} {ref}: no common ancestor with HEAD in this clone").of(option=option, ref=ref),
                why=Text("the history was cut off before the common ancestor"),
                hint=Text("git fetch --unshallow (CI: fetch-depth: 0)"),
            ) from error

    def changed_since(self, commit: str) -> frozenset[str]:
        """Paths (from the top folder) that differ between `commit` and the worktree, new files included."""
        self.processes += 1
        environment = git_environment(self.root, settings=disabled_filters(self.root))
        # `--no-renames`: a moved page is listed under both names. For a submodule its commit is enough; its
        # worktree would be examined with its own configuration.
        arguments = ["diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "-z"]
        arguments += ["--ignore-submodules=dirty", commit]
        changed = self.run(arguments, environment=environment)
        fresh = self.run(["ls-files", "--others", "--exclude-standard", "--full-name", "-z"])
        return frozenset(os.fsdecode(path) for path in (changed + fresh).split(b"\0") if path)

    def local_objects(self) -> frozenset[str]:
        """Every object in this clone; single look-ups would fetch what a partial clone lacks."""
        arguments = ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)"]
        return frozenset(self.run(arguments).decode("ascii").split())

    def not_in(self, commits: Iterable[str], base: str) -> frozenset[str]:
        """Those of `commits` that are not ancestors of `base` (nor `base` itself); all must exist."""
        wanted = frozenset(commits)
        if not wanted:
            return wanted
        listing = "\n".join([*sorted(wanted), f"^{base}", ""]).encode()
        beyond = self.run(["rev-list", "--stdin"], listing).decode().split()
        return wanted & frozenset(beyond)

    def fetch_objects(self, ids: Iterable[str]) -> None:
        """Fetches exactly these objects from `origin` in one process; only with `--fetch`.

        Raises:
            GitError: the remote is unreachable or lacks one of them.
        """
        listing = "".join(f"{name}\n" for name in sorted(set(ids))).encode()
        remote = "origin"
        options = ["--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--stdin"]
        # The remote runs git's own program, whatever `remote.origin.uploadpack` specifies.
        options += ["--upload-pack=git-upload-pack", "--no-auto-maintenance"]
        if self.is_partial:
            options.append("--filter=blob:none")
        settings = [("fetch.negotiationAlgorithm", "noop")]
        environment = git_environment(self.root, network=True, settings=settings)
        self.run(["fetch", remote, *options], listing, environment=environment)


def read_tree(running: RunningGit | None) -> dict[str, TreeEntry]:
    """The files that `start_tree` has listed, by path from the top folder.

    Raises:
        GitError: the tree could not be read.
    """
    entries: dict[str, TreeEntry] = {}
    for record in (running.output() if running is not None else b"").split(b"\0"):
        if record:
            meta, _, path = record.partition(b"\t")
            mode, _, blob = meta.decode("ascii").split(" ")
            entries[os.fsdecode(path)] = TreeEntry(mode, blob)
    return entries
