"""Checks of judges and files that decisions share."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.reader import read_problem


def refusal(folder: Path, text: str, old: str = "", new: str = "") -> str:
    """Return the line in which a file is refused, from its field on, once a part of it has been replaced."""
    path = folder / "bad.json"
    assert old in text
    path.write_text(text.replace(old, new) if old else text)
    with pytest.raises(InvalidInput) as raised:
        read_problem(path)
    file, _, line = str(raised.value).partition(": ")
    assert file == str(path)
    assert "\n" not in line
    return line


def check_mutants(
    problem: Any, solution: Any, value: Callable[[Any, Any], Fraction | None], random: Random, gpus: int
) -> tuple[int, int]:
    """Judge a schedule with one run changed in every way that there is as an oracle does.

    Returns how many of the mutants were broken, and how many were valid.
    """
    runs, kind = list(solution.runs), type(solution)
    run = runs.pop(random.randrange(len(runs)))
    longest = max(job.duration for job in problem.jobs)
    changes: list[dict[str, Any]] = [
        {"start": max(run.start - random.uniform(0.1, 1) * longest, 0.0)},
        {"start": run.start + random.uniform(0.1, 1) * longest},
        {"gpus": tuple(random.sample(range(gpus), len(run.gpus)))},
        {"gpus": (*run.gpus, gpus)},
        {"gpus": (*run.gpus[1:], gpus)},
        {"gpus": (*run.gpus, run.gpus[0])},
        {"gpus": (*run.gpus[1:], run.gpus[-1])},
        {"job": "nobody"},
        {"job": random.choice(problem.jobs).name},
    ]
    changed = [kind(runs=[*runs, run.model_copy(update=change)]) for change in changes]
    assert problem.violations(solution) == []
    assert problem.objective(solution) == value(problem, solution), problem.name
    valid = 0
    for mutant in [kind(runs=runs), kind(runs=[*solution.runs, run]), *changed]:
        differ = all(max(each.gpus) < gpus and len(set(each.gpus)) == len(each.gpus) for each in mutant.runs)
        right = value(problem, mutant) if differ else None
        assert (problem.violations(mutant) == []) == (right is not None), problem.name
        assert right is None or problem.objective(mutant) == right, problem.name
        valid += right is not None
    return len(changed) + 2 - valid, valid
