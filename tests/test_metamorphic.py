"""An instance that is written differently has the same answer: other clocks, units, names and orders."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from inspect import signature
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import BrokenModel, InvalidInput, Unsupported
from gsopt.core.problem import Problem
from gsopt.core.result import Result, Status
from gsopt.evaluation.catalogue import (
    exact_methods,
    find_policy,
    own_heuristics,
    policies,
    policy_paths,
)
from gsopt.evaluation.solve import solve
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.simulation import Policy, simulate
from tests.effort import cases
from tests.exactness.changes import CHANGES, EPOCH, FAR, Pair, pairs, plus, remade, shuffled, times
from tests.exactness.trial import ORACLES, instance
from tests.unwrap import unwrap

#: Instances of each decision. On each the default method and some others, which take turns, are given one of
#: the changes, which take turns too.
_INSTANCES, _OTHERS = cases(300), 4

#: Heuristics that draw numbers, which permutations and names may draw otherwise.
_RANDOM = frozenset({"random_choice", "random_order", "random_pairs", "evolution", "genetic", "pop"})

#: Options of policies that are seconds: written in another unit, they are scaled with the jobs.
_IN_SECONDS: Mapping[str, Sequence[str]] = {
    "afs": ["interval"],
    "allox": ["interval", "renewal"],
    "allox_port": ["interval"],
    "aryl": ["interval", "orchestrator_interval"],
    "break_even": ["lease"],
    "dally": ["lease", "delays", "history"],
    "elasticflow": ["slot"],
    "gandiva": ["lease"],
    "gandiva_packing": ["interval", "renewal"],
    "gandiva_rotation": ["span"],
    "gavel": ["interval", "renewal"],
    "lucid": ["profiling"],
    "marginal_attained": ["grace"],
    "muri": ["interval"],
    "optimus": ["interval"],
    "pollux": ["interval", "restart_time"],
    "shockwave": ["interval"],
    "sia": ["interval", "restart_time"],
    "skew_consolidation": ["lease", "thresholds"],
    "themis": ["interval", "renewal"],
    "themis_auction": ["lease"],
    "tiresias": ["thresholds"],
}

_GAVEL = "heuristics.policies.gavel:gavel"

#: Units in which rounding is the same: it chooses between orders that cost the same.
_UNITS: Mapping[str, Sequence[str]] = {"allox_port": ["1048576"]}

#: Options without which a policy has a clock of its own: Lucid's program looks every 100 seconds who has come.
_ON_ANY_CLOCK: Mapping[str, Mapping[str, Any]] = {"lucid": {"load": "always"}}


def test_every_decision_is_changed() -> None:
    """No decision is left out."""
    assert CHANGES.keys() == ORACLES.keys()


@pytest.mark.parametrize("word", CHANGES)
def test_answers_follow(word: str) -> None:
    """Status and value of every method follow every change, exactly where values are exact."""
    heuristics = {name: each for name, each in own_heuristics(word).items() if name not in _RANDOM}
    methods = {**exact_methods(word), "solve": solve, **heuristics}
    others = [name for name in methods if name != "exact"]
    special = exact_methods(word).keys() - {"exact"}
    found: list[str] = []
    for seed in range(_INSTANCES):
        changes = list(pairs(word, instance(word, seed), Random(seed)))
        chosen = {others[(seed * _OTHERS + turn) % len(others)] for turn in range(_OTHERS)}
        for turn, name in enumerate(["exact", *sorted(chosen)] if changes else []):
            change, pair = changes[(turn + seed) % len(changes)]
            if change.binds_heuristics or name not in heuristics:
                method, is_scaled = methods[name], change.name == "scale times"
                options = _options(name, method, str(float(pair.value(Fraction(1)))) if is_scaled else "1")
                said = _differences(method, pair, options, is_special=name in special)
                found += (f"{word} {seed}, {change.name}, {name}: {line}" for line in said)
    assert not found, "\n".join(found)


def _options(name: str, call: Callable[..., Any], factor: str) -> dict[str, Any]:
    """Return the options of a policy in a unit of time of which there are so many in a second."""
    parameters = signature(find_policy(_GAVEL) if name == "themis" else call).parameters  # it has its options
    scaled = {option: _times(parameters[option].default, factor) for option in _IN_SECONDS.get(name, ())}
    return scaled | dict(_ON_ANY_CLOCK.get(name, {}))


def _times(seconds: Any, factor: str) -> Any:
    if isinstance(seconds, Sequence):
        return [_times(each, factor) for each in seconds]
    return times(seconds, factor)


def _differences(method: Any, pair: Pair, options: Mapping[str, Any], *, is_special: bool) -> Iterator[str]:
    before = _answer(partial(method, **_options(method.__name__, method, "1")), pair.first)
    after = _answer(partial(method, **options), pair.second)
    if before is None or after is None:  # a special method is not for this instance
        return
    if is_special and Status.FEASIBLE in (before.status, after.status):  # or stops short of a proof
        return
    if before.status is not after.status:
        yield f"{before.status} became {after.status}"
    if before.objective is None or after.objective is None:
        if before.objective is not after.objective:
            yield f"{before.objective} became {after.objective}"
        return
    wanted = pair.value(Fraction(before.objective))
    allowed = 2 * Fraction(pair.second.resolution(after.objective))
    if abs(Fraction(after.objective) - wanted) > allowed:
        yield f"{before.objective} became {after.objective}, not {wanted}"


def _answer(method: Any, problem: Problem[Any]) -> Result[Any] | None:
    try:
        found: Result[Any] = method(problem)
    except (Unsupported, BrokenModel):
        return None
    return found


#: Policies that draw numbers in the order of the jobs' names.
_DRAWN = frozenset({"random_order", "ones"})


def _workload(random: Random) -> Workload:
    """Draw a few jobs, no two of which are released together."""
    releases = random.sample(range(400), random.randint(2, 7))
    return Workload(
        jobs=[
            Job(
                name=f"j{index}",
                release_date=round(release / 10, 1),
                duration=round(random.uniform(0.5, 60), 2),
                gpus=random.choice((1, 1, 2, 4)),
            )
            for index, release in enumerate(releases)
        ]
    )


def _later(workload: Workload) -> Workload:
    return Workload(jobs=[remade(job, release_date=plus(job.release_date, EPOCH)) for job in workload.jobs])


def _among_others(workload: Workload, random: Random) -> Workload:
    """Add a job long after the others, in another order and with other names."""
    far = Job(name="far", release_date=float(FAR), duration=10, gpus=1)
    return Workload(jobs=shuffled([far, *workload.jobs], random))


def _scaled(workload: Workload, factor: str) -> Workload:
    return Workload(
        jobs=[
            remade(job, release_date=times(job.release_date, factor), duration=times(job.duration, factor))
            for job in workload.jobs
        ]
    )


@pytest.mark.parametrize("name", [*policies(), *policy_paths()])
def test_policies_follow(name: str) -> None:
    """Each job takes as long on a clock since 1970, beside a job long after it, in any order and any unit."""
    policy = find_policy(policy_paths().get(name, name))
    usual = partial(policy, **_options(name, policy, "1"))
    for seed in range(cases(30)):
        random = Random(f"{name} {seed}")
        workload = _workload(random)
        before = _times_taken(usual, workload)
        for changed in (_later(workload), _among_others(workload, random)):
            after = _times_taken(usual, changed)
            after.pop("far", None)
            assert before.keys() <= after.keys()
            assert {job: after[job] for job in before} == before, (name, seed)
        for factor in _UNITS.get(name, ("1e-6", "1e6")):
            after = _times_taken(partial(policy, **_options(name, policy, factor)), _scaled(workload, factor))
            wanted = {job: float(factor) * taken for job, taken in before.items()}
            assert after == pytest.approx(wanted, rel=1e-12), (name, seed, factor)  # differences of doubles


def _times_taken(policy: Policy, workload: Workload) -> dict[str, float]:
    try:
        run = simulate(workload, policy, cluster=_CLUSTER, bound=False)
    except (InvalidInput, Unsupported):  # the policy is for other jobs
        return {}
    return {job.name: taken for job, taken in zip(run.scenario.workload.jobs, run.jct, strict=True)}


_CLUSTER = Cluster.uniform(racks=1, machines=1, gpus=4)


@pytest.mark.parametrize("evaluations", [0, 20])
def test_bounds_follow(evaluations: int) -> None:
    """A bound is the same on another clock and in another order, and scales with the unit of time."""
    for seed in range(cases(300)):
        random = Random(seed)
        workload = _workload(random)
        found = _bound(workload, evaluations)
        assert _bound(_later(workload), evaluations) == found
        assert _bound(Workload(jobs=shuffled(workload.jobs, random)), evaluations) == found
        for factor in ("1e-6", "1e6"):
            wanted = float(factor) * found
            assert _bound(_scaled(workload, factor), evaluations) == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize("evaluations", [0, 20])
def test_bounds_with_overheads_and_rounds_follow(evaluations: int) -> None:
    """So are bounds where starts take time and decisions are made in rounds, which are in that unit too."""
    for seed in range(cases(100)):
        random = Random(seed)
        workload, start, length = _workload(random), random.choice([0.5, 7.0]), random.choice([None, 2.5, 60.0])

        bound = partial(_bound_in_rounds, start=start, length=length, evaluations=evaluations)
        found = bound(workload)
        assert bound(_later(workload)) == pytest.approx(found, rel=1e-12)
        assert bound(Workload(jobs=shuffled(workload.jobs, random))) == found
        for factor in ("1e-6", "1e6"):
            wanted = float(factor) * found
            assert bound(_scaled(workload, factor), factor) == pytest.approx(wanted, rel=1e-12)


def _bound_in_rounds(
    workload: Workload, factor: str = "1", *, start: float, length: float | None, evaluations: int
) -> float:
    overhead = Overhead(start=float(unwrap(times(start, factor))))
    scenario = Scenario.of(workload, _CLUSTER, overheads=overhead)
    found = mean_jct_bound(scenario, evaluations=evaluations, round_length=times(length, factor))
    return unwrap(found).mean_jct


def _bound(workload: Workload, evaluations: int) -> float:
    found = mean_jct_bound(Scenario.of(workload, _CLUSTER), evaluations=evaluations)
    assert found is not None
    return found.mean_jct
