"""The results of bundles as they come: a file, a folder of artifacts, or the ZIP file of one."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from tooling.bundle.judging import Judged, ResultsUnreadable, judge_results
from tooling.platform.errors import Location
from tooling.platform.processes import temporary_folder
from tooling.reports.records import ReportRecord
from tooling.verify.plan import Task
from tooling.verify.trying import judged_record, missing, skipped

_NAME = "results.json"
_LARGEST = 1 << 28  # bytes of a file in an archive


def judged_records(artifact: Path, tasks: Sequence[Task]) -> list[ReportRecord]:
    """A record for each trial of each results file; `accelerator` and `vendor` of its data name the GPU.

    Raises:
        ResultsUnreadable: the artifact has no results, or they cannot be read.
    """
    with _results_files(artifact) as files:
        return [record for file in files for record in _records(file, artifact, tasks)]


def _records(file: Path, artifact: Path, tasks: Sequence[Task]) -> Iterator[ReportRecord]:
    target, judged = judge_results(file, tasks)
    gpu = {"accelerator": target.accelerator, "vendor": target.kind.vendor.named, "artifact": str(artifact)}
    for record in map(record_of, judged):
        name = f"{record.name} on {target.accelerator}"
        yield replace(record, name=name, data={**(record.data or {}), **gpu})


def record_of(judged: Judged) -> ReportRecord:
    """The record of one trial of a bundle."""
    trial, verdict = judged.trial, judged.verdict
    if verdict is None:
        return missing(trial, judged.undecided)
    if judged.undecided:
        return skipped(trial, judged.undecided, verdict.seconds)
    return judged_record(trial, verdict, judged.complaint, verdict.seconds)


@contextmanager
def _results_files(artifact: Path) -> Iterator[list[Path]]:
    """The results files of an artifact; those of an archive are removed when the block is left."""
    if artifact.is_dir():
        files = sorted(artifact.rglob(_NAME))
        if not files:
            raise ResultsUnreadable(
                "there are no results",
                where=Location(artifact),
                why=f"neither the folder nor one inside it has a {_NAME}",
            )
        yield files
    elif artifact.suffix.lower() == ".zip":
        with temporary_folder("gpu-puzzle-results-") as folder:
            yield _extracted(artifact, folder)
    else:
        yield [artifact]


def _extracted(archive: Path, folder: Path) -> list[Path]:
    """The results files of an archive, whose names are not used: they might lead out of the folder."""
    files: list[Path] = []
    try:
        with zipfile.ZipFile(archive) as content:
            for info in content.infolist():
                if Path(info.filename).name != _NAME:
                    continue
                with content.open(info) as member:
                    data = member.read(_LARGEST + 1)
                if len(data) > _LARGEST:
                    raise ValueError(f"{info.filename} has more than {_LARGEST >> 20} MiB")
                (folder / str(len(files))).mkdir()
                files.append(folder / str(len(files)) / _NAME)
                files[-1].write_bytes(data)
    except (OSError, ValueError, NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
        raise ResultsUnreadable(
            "the results cannot be read", where=Location(archive), why=str(error) or type(error).__name__
        ) from error
    if not files:
        raise ResultsUnreadable(
            "there are no results", where=Location(archive), why=f"the archive has no {_NAME}"
        )
    return files
