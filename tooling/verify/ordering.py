"""The order of tasks: the longest first, so that no long task runs alone at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tooling.verify.plan import Task


def longest_first(tasks: Sequence[Task], seconds: Mapping[str, float]) -> tuple[Task, ...]:
    """Sorts tasks by the time that their trials took in the last run.

    A task without a record is first: it has to be built, which takes longer than running it.

    Args:
        seconds: of earlier trials, by id.
    """

    def length(task: Task) -> float:
        if any(trial.id not in seconds for trial in task.trials):
            return float("inf")
        return sum(seconds[trial.id] for trial in task.trials)

    return tuple(sorted(tasks, key=length, reverse=True))  # stable: equal ones stay in the book's order
