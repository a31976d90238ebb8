"""The judge of batching, against values by hand and an oracle that shares nothing with it."""

from fractions import Fraction
from itertools import islice
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.enumeration import brute_force
from gsopt.core.problem import Sense
from gsopt.performance.batching import BatchingJob, Progress, StepTime
from gsopt.problems.batching import Batches, Batching, Grant
from gsopt.testing import check_judge
from tests.effort import cases
from tests.exactness import batching as oracle
from tests.strategies.batching import CRITERIA, tiny

MODEL = StepTime(fixed=2, per_sample=0.5)


def job(name: str = "a", **changes: Any) -> BatchingJob:
    """Return a job of 100 samples, with a limit of 10 of which 4 fit on a GPU."""
    fields: dict[str, Any] = {"batch_limit": 10, "local_limit": 4, "throughput": MODEL, "remaining": 100}
    return BatchingJob(name=name, **{**fields, **changes})


def ask(gpus: int, jobs: list[BatchingJob], **options: Any) -> Batching:
    """Return a problem with options by name."""
    return Batching(gpus=gpus, jobs=jobs, **options)


def batches(**running: tuple[int, int]) -> Batches:
    """Return a solution by GPUs and batch size of each running job."""
    return Batches(running={name: Grant(gpus=c, batch_size=b) for name, (c, b) in running.items()})


def test_values_by_hand() -> None:
    """Two jobs on 3 GPUs: of 100 samples 8 in 4 s take 50 s, 4 in 4 s of 40 samples with weight 2 take 40 s."""
    jobs = [job(), job("b", remaining=40, weight=2.0)]
    chosen = batches(a=(2, 8), b=(1, 4))
    values = {name: Batching(gpus=3, jobs=jobs, criterion=name).objective(chosen) for name in CRITERIA}
    assert values == {
        "sruf": 50 * 2 + Fraction(40, 2),
        "rate": Fraction(1, 50) + Fraction(2, 40),
        "sum_time": 50 + 2 * 40,
    }


def test_reconfiguration_counts_who_changes() -> None:
    """One job keeps what it had, one starts and one stops: two changes, on the bad side of either sense."""
    jobs = [job(previous_gpus=2, previous_batch=8), job("b"), job("c", previous_gpus=1), job("d")]
    chosen = batches(a=(2, 8), b=(1, 4))
    for criterion, sign in zip(CRITERIA, (1, -1, 1), strict=True):
        free = Batching(gpus=3, jobs=jobs, criterion=criterion)
        charged = Batching(gpus=3, jobs=jobs, criterion=criterion, reconfiguration=0.1)
        assert charged.objective(chosen) - free.objective(chosen) == sign * Fraction(2, 10)


def test_senses_and_units() -> None:
    """Completions per second are to be many, the others few."""
    problems = [Batching(gpus=1, jobs=[], criterion=name) for name in CRITERIA]
    assert [each.sense for each in problems] == [Sense.MINIMIZE, Sense.MAXIMIZE, Sense.MINIMIZE]
    assert [each.unit for each in problems] == ["GPU-seconds", "completions per second", "seconds"]


def test_caps_by_hand() -> None:
    """A limit of 10, 4 on a GPU, and 6 on 3 GPUs before: 3 GPUs, 10, or 10 * 3 / 6 = 5."""
    ran = job(previous_gpus=3, previous_batch=6)
    caps = [Batching(gpus=99, jobs=[ran], caps=name).cap(ran) for name in ("convergence", "batch", "refresh")]
    assert caps == [3, 10, 5]
    shrunk = job(batch_limit=2, previous_gpus=1, previous_batch=6)
    assert Batching(gpus=99, jobs=[shrunk], caps="refresh").cap(shrunk) == 1


def test_menus_by_hand() -> None:
    """Doublings leave 1, 2, 4 and 8 of 10 GPUs; a floor cuts from below, the cluster from above."""
    wide = job(local_limit=1)
    assert list(Batching(gpus=99, jobs=[wide], menu="doublings").counts[0]) == [1, 2, 4, 8]
    floor = job(local_limit=1, min_gpus=3)
    assert list(Batching(gpus=5, jobs=[floor]).counts[0]) == [3, 4, 5]
    assert list(Batching(gpus=2, jobs=[floor]).counts[0]) == []


def test_who_must_run() -> None:
    """Of all jobs the shortest ones, of new jobs the first ones, as many as there are GPUs."""
    jobs = [job("long"), job("short", remaining=1, new=True), job("middle", remaining=9, new=True)]
    required = {
        forced: ask(gpus, jobs, forced=forced).required
        for forced, gpus in (("none", 1), ("new", 1), ("all", 2))
    }
    assert required == {"none": set(), "new": {"short"}, "all": {"short", "middle"}}
    turned = [jobs[2], jobs[1]]
    assert Batching(gpus=1, jobs=turned, forced="new").required == {"middle"}
    wide = job("wide", min_gpus=2, remaining=0.1)
    assert Batching(gpus=2, jobs=[*jobs, wide]).required == {"wide"}


def test_gpus_that_can_be_used() -> None:
    """Two jobs of at most 3 GPUs use 5 of 5 and 6 of 9; by doublings 4 of 9; 0 where any number will do."""
    jobs = [job("a"), job("b")]
    assert [Batching(gpus=gpus, jobs=jobs).target for gpus in (5, 9)] == [5, 6]
    assert Batching(gpus=9, jobs=jobs, menu="doublings").target == 4
    assert Batching(gpus=9, jobs=jobs, use="any").target == 0


BROKEN = {
    "unknown": (batches(x=(1, 4)), "'x' is not a job of the instance"),
    "too wide": (batches(a=(4, 8), b=(1, 4)), "'a' gets 4 GPUs, must be 1 to 3"),
    "no sample": (batches(a=(2, 1), b=(3, 9)), "'a' has a batch of 1, must be between 2 and 8 on 2 GPUs"),
    "too many samples": (batches(a=(2, 9), b=(3, 9)), "'a' has a batch of 9, must be between 2 and 8"),
    "waits": (batches(a=(3, 9)), "'b' must run"),
    "too many": (batches(a=(3, 9), b=(3, 9)), "6 GPUs are used, there are 5"),
    "too few": (batches(a=(2, 8), b=(2, 8)), "4 GPUs are used, 5 can be"),
}


@pytest.mark.parametrize(("chosen", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_rules_are_named(chosen: Batches, said: str) -> None:
    """Each rule that a solution breaks is named with what it is about."""
    problem = Batching(gpus=5, jobs=[job("a"), job("b")])
    assert any(said in each for each in problem.violations(chosen)), problem.violations(chosen)


def test_mutations_are_caught() -> None:
    """Of all grants of one job beside a good one of the other, those are refused that break a rule."""
    problem = Batching(gpus=5, jobs=[job("a"), job("b")])
    good = batches(a=(3, 10), b=(2, 8))
    mutations = [batches(a=(c, b), b=(2, 8)) for c in range(1, 5) for b in range(1, 12) if (c, b) != (3, 10)]
    caught, tried = check_judge(problem, good, mutations)
    assert (caught, tried) == (36, 43)  # on 3 GPUs batches of 3 to 9 break none


def test_judge_and_oracle_agree_on_every_decision() -> None:
    """On random instances every decision is allowed by both or neither, and both count the same."""
    allowed = 0
    for seed in range(cases(150)):
        problem = tiny(seed)
        for candidate in islice(problem.candidates(), 400):
            value = oracle.value(problem, candidate)
            assert (value is None) == bool(problem.violations(candidate)), (seed, candidate)
            if value is not None:
                assert problem.objective(candidate) == value, (seed, candidate)
                allowed += 1
    assert allowed > cases(150)


def test_enumeration_finds_the_oracle_s_optimum() -> None:
    """Judging every decision gives the optimum that the oracle finds from the formulas of the paper."""
    for seed in range(cases(100)):
        problem = tiny(1000 + seed)
        if sum(len(counts) for counts in problem.counts) <= 8:
            found = brute_force(problem)
            assert found is not None
            assert found[0] == oracle.optimum(problem), seed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jobs": [job(), job()]}, r"jobs\[1\].name: 'a': must differ"),
        ({"criterion": "rate", "jobs": [job(remaining=0)]}, r"jobs\[0\].remaining: 0.0: must be above 0"),
        ({"criterion": "sum_time", "forced": "new"}, "forced: 'new': must be all"),
        (
            {"jobs": [job(remaining=None, progress=Progress(alpha=1, beta=2, processed=3))]},
            r"jobs\[0\].progress.alpha: 1.0: must be above 1",
        ),
    ],
)
def test_bad_problems_are_refused(changes: dict[str, Any], message: str) -> None:
    """Each rule across fields names field, value and rule."""
    with pytest.raises(ValidationError, match=message):
        Batching(**{"gpus": 1, "jobs": [job()], **changes})


def test_drawn_problems_have_known_jobs() -> None:
    """Each distribution becomes a number of samples, and known ones stay; a seed gives one problem."""
    believed = job("b", remaining=None, progress=Progress(alpha=1, beta=2, processed=3))
    problem = Batching(gpus=1, jobs=[job(), believed], estimate="mean_progress")
    drawn = problem.sampled(seed=7)
    assert drawn.jobs[0] == problem.jobs[0]
    assert (drawn.jobs[1].remaining or 0) > 0
    assert drawn == problem.sampled(seed=7)
    assert drawn != problem.sampled(seed=8)


def test_printed_goal_is_degenerate_and_repaired() -> None:
    """By Equations 3 and 4 alone a single job has all GPUs, however many wait; with all forced each runs."""
    jobs = [job(f"j{k}", batch_limit=4, remaining=100 + k) for k in range(3)]
    for forced, running in (("none", 1), ("all", 3)):
        found = brute_force(ask(4, jobs, forced=forced, caps="batch"))
        assert found is not None
        assert len(found[1].running) == running
