"""Improve: a search that changes the sort keys of individual jobs in a policy to find a better schedule."""

from collections.abc import Callable, Mapping, Sequence
from math import exp
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from gsopt.core.errors import InvalidInput, require, shorten
from gsopt.core.files import read_data, write
from gsopt.core.problem import Frozen
from gsopt.evaluation.catalogue import find_policy
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.fairness import FairTimes
from gsopt.simulation.policy import Policy
from gsopt.simulation.run import Replay, replay

#: Maximum number of jobs whose multipliers a try changes, standard deviation of the logarithm of a change, and
#: fraction of tries that reset multipliers to 1 instead.
_MOST_CHANGED, _SPREAD, _SET_BACK = 3, 2.0, 0.15

#: Largest multiplier; its inverse is the smallest multiplier.
_MOST = 1e6


class ImprovedSchedule(Frozen):
    """The best multipliers found so far, with the result of the run that uses them.

    Attributes
    ----------
    mean_jct
        Mean job completion time of the run with these multipliers, in seconds.
    tries
        Number of tries so far.
    multipliers
        Factors for the sort keys of jobs, keyed by job name; 1 for jobs that are not listed.
    """

    mean_jct: float
    tries: Annotated[int, Field(ge=0)] = 0
    multipliers: Mapping[str, float] = {}


def improve(
    scenario: Scenario,
    policy: Policy | str,
    file: str | Path,
    *,
    tries: int,
    seed: int = 0,
    round_length: float | None = None,
    on_better: Callable[[ImprovedSchedule], Any] | None = None,
    **options: Any,
) -> ImprovedSchedule:
    """Search for multipliers that improve a policy's schedule, and keep the best ones in a file.

    A multiplier is a factor for the sort keys by which the policy ranks a job. The search begins with the
    multipliers in the file, or without any if there is no file. Each try changes the multipliers of one to
    three jobs, preferring jobs with long completion times, and simulates the whole scenario. If the mean job
    completion time is at most the best one so far, the new multipliers replace the best ones. Every try is
    recorded in the file immediately. After an interruption, a call with the same arguments therefore continues
    where the search stopped, and leads to the same result as without the interruption.

    Parameters
    ----------
    scenario
        The scenario.
    policy
        A policy with an option `multipliers`, such as `heuristics.policies.marginal`, or its name.
    file
        Path of the file with the best multipliers.
    tries
        Total number of tries, including those already recorded in the file.
    seed
        Seed of the random changes.
    round_length
        Seconds between decisions, as for `gsopt.simulate`.
    on_better
        Called with each better result.
    options
        Other options of the policy.

    Raises
    ------
    InvalidInput
        The file cannot be read or written, or states another mean job completion time than a run with its
        multipliers has; some job does not complete; or an argument is out of range.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from gsopt.scenario.job import Job, Workload
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 4), ("b", 2)]]
    >>> scenario = Scenario.of(Workload(jobs=jobs), 1)
    >>> with TemporaryDirectory() as folder:
    ...     found = improve(scenario, "marginal", f"{folder}/found.json", tries=3)
    >>> found.mean_jct, found.tries
    (4.0, 3)
    """
    require(tries >= 0, "tries", tries, "must be at least 0")
    chosen, fair_times = find_policy(policy), FairTimes.of(scenario)

    names = [job.name for job in scenario.workload.jobs]

    def run(multipliers: Mapping[str, float]) -> Replay:
        given: dict[str, Any] = {"round_length": round_length, "fair_times": fair_times, **options}
        made = replay(scenario, chosen, multipliers=multipliers, **given)
        rule = f"must complete all {len(names)} jobs"
        require(made.metrics.completed == len(names), "policy", made.metrics.policy, rule)
        return made

    found, best = _begun(Path(file), run)
    for number in range(found.tries, tries):
        tried = _changed(found.multipliers, names, best.jct, np.random.default_rng((seed, number)))
        other = run(tried)
        is_better = other.metrics.mean_jct < found.mean_jct
        if other.metrics.mean_jct <= found.mean_jct:
            best = other
            found = ImprovedSchedule(mean_jct=other.metrics.mean_jct, multipliers=tried)
        found = found.model_copy(update={"tries": number + 1})
        write(found, file)
        if is_better and on_better is not None:
            on_better(found)
    return found


def _begun(file: Path, run: Callable[[Mapping[str, float]], Replay]) -> tuple[ImprovedSchedule, Replay]:
    """Return the multipliers in a file, and the run with these multipliers.

    If there is no file, the policy is run without multipliers, and the file is created.
    """
    found = read_data(ImprovedSchedule, file) if file.exists() else None
    best = run(found.multipliers if found else {})
    value = best.metrics.mean_jct
    if found is None:
        found = ImprovedSchedule(mean_jct=value)
        write(found, file)
    if found.mean_jct != value:
        rule = f"must be that of the run, which is {value}: the file belongs to something else"
        raise InvalidInput("mean_jct", shorten(found.mean_jct), rule, source=str(file))
    return found, best


def _changed(
    multipliers: Mapping[str, float], names: Sequence[str], jct: Sequence[Any], draw: np.random.Generator
) -> dict[str, float]:
    """Return the multipliers, changed for a few random jobs.

    The jobs are drawn with probabilities proportional to the square roots of their completion times.
    """
    likely = np.sqrt(np.array(jct, dtype=float))
    jobs = draw.choice(len(names), size=int(draw.integers(1, _MOST_CHANGED + 1)), p=likely / likely.sum())
    changed, sets_back = dict(multipliers), draw.random() < _SET_BACK
    for job in jobs.tolist():
        before = changed.pop(names[job], 1.0)
        if not sets_back:
            changed[names[job]] = min(max(before * exp(draw.normal(0, _SPREAD)), 1 / _MOST), _MOST)
    return changed
