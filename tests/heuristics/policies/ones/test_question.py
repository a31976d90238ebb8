"""Question: arrays and instance are the same decision."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.enumeration import brute_force
from gsopt.problems.batching import Batches, Batching, Grant
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.training import Training
from gsopt.simulation.parts.ways import ways_of
from heuristics.policies.ones.decision import BatchingDecision
from heuristics.policies.ones.dividing import Division
from tests.effort import cases

_CRITERIA = [("sruf", "none"), ("sruf", "new"), ("sruf", "all"), ("rate", "all"), ("sum_time", "all")]
_SPEEDS = st.integers(1, 40).map(lambda x: x / 8)


@st.composite
def divisions(draw: st.DrawFn) -> Division:
    """Draw three jobs or fewer, some with batch sizes, some that run, on five GPUs or fewer."""
    gpus = draw(st.integers(1, 5))
    jobs: list[Job] = []
    held: list[int] = []
    batches: list[int] = []
    for index in range(draw(st.integers(1, 3))):
        counts = draw(st.sets(st.integers(1, 5), min_size=1, max_size=3)) | {1}
        menu = [(count, 1.0 if count == 1 else draw(_SPEEDS)) for count in sorted(counts)]
        size = draw(st.sampled_from([None, 8]))
        large = [Mode(name="l", menu=[(3, draw(_SPEEDS))], batch_size=16)] if size else []
        jobs.append(
            Job(name=str(index), release_date=0, duration=9, gpus=1, menu=menu, batch_size=size, modes=large)
        )
        free = gpus - sum(held)
        held.append(draw(st.sampled_from([0, *(count for count in sorted(counts) if count <= free)])))
        batches.append(draw(st.sampled_from([size, 2 * size])) if size and held[-1] else 0)
    return Division(
        gpus=gpus,
        numbers=range(len(jobs)),
        jobs=jobs,
        left=np.array([draw(st.integers(1, 64)) / 4 for _ in jobs]),
        ways=[ways_of(job, draw(st.sampled_from([None, 8]))) for job in jobs],
        held=np.array(held),
        batches=np.array(batches),
        started=np.array([bool(count) or draw(st.booleans()) for count in held]),
    )


@pytest.mark.parametrize("caps", ["convergence", "batch"])
@pytest.mark.parametrize(("criterion", "forced"), _CRITERIA)
@settings(max_examples=cases(60), deadline=None)
@given(division=divisions(), reconfiguration=st.sampled_from([0.0, 0.75]))
def test_arrays_are_as_good_as_enumeration(
    criterion: Any, forced: Any, caps: Any, division: Division, reconfiguration: float
) -> None:
    """What the arrays choose is legal, and worth what the judge says is the optimum of the instance."""
    decision = BatchingDecision(criterion, forced, caps, reconfiguration)
    problem = decision.problem(division)
    solution = _batches(problem, decision.by_arrays(division).tolist())
    optimum = brute_force(problem)
    assert optimum is not None
    assert problem.violations(solution) == []
    assert float(problem.objective(solution)) == pytest.approx(float(optimum[0]))
    assert decision.by_method(division, lambda _: optimum[1]) == [
        optimum[1].running[job.name].gpus if job.name in optimum[1].running else 0 for job in problem.jobs
    ]


def _batches(problem: Batching, counts: list[int]) -> Batches:
    granted = {
        job.name: Grant(gpus=count, batch_size=job.fastest(count) or count)
        for job, count in zip(problem.jobs, counts, strict=True)
        if count
    }
    return Batches(running=granted)


def test_samples_are_those_of_the_default_mode() -> None:
    """A mode that needs twice the samples counts as half as fast: what is left is its time left."""
    large = Mode(name="l", menu=[(2, 1.5)], batch_size=16, samples=80)
    training = Training(epoch=4, samples=40)
    job = Job(name="a", release_date=0, duration=8, gpus=1, batch_size=8, modes=[large], training=training)
    division = Division(
        gpus=2, numbers=[7], jobs=[job], left=np.array([4.0]), ways=[ways_of(job)],
        held=np.array([0]), batches=np.array([0]), started=np.array([False]),
    )  # fmt: skip
    problem = BatchingDecision("rate", "all", "convergence", 0.0).problem(division)
    assert (problem.jobs[0].name, problem.jobs[0].remaining) == ("7", 20)
    solution = Batches(running={"7": Grant(gpus=2, batch_size=16)})
    assert float(problem.objective(solution)) == pytest.approx(1.5 / 4)


@pytest.mark.parametrize(("batch", "counts"), [(8, [1, 1]), (16, [2, 0])])
def test_another_batch_size_is_a_reconfiguration(batch: int, counts: list[int]) -> None:
    """A job that keeps its GPU is reconfigured where its batch changes, and then may as well have both GPUs."""
    grows = Job(name="a", release_date=0, duration=8, gpus=1, menu=[(1, 1.0), (2, 1.2)], batch_size=8)
    waits = Job(name="b", release_date=0, duration=10, gpus=1, batch_size=8)
    division = Division(
        gpus=2, numbers=[0, 1], jobs=[grows, waits], left=np.array([4.0, 10.0]),
        ways=[ways_of(grows), ways_of(waits)], held=np.array([1, 0]), batches=np.array([batch, 0]),
        started=np.array([True, False]),
    )  # fmt: skip
    decision = BatchingDecision("rate", "none", "batch", 0.1)
    assert decision.by_arrays(division).tolist() == counts
    assert decision.by_method(division, brute_force_of) == counts


def brute_force_of(problem: Batching) -> Batches:
    """Solve an instance by enumeration."""
    found = brute_force(problem)
    assert found is not None
    return found[1]
