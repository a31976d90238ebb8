"""Optimus: one worker after the other by the time it saves."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.allocation import Allocation, ElasticJob
from heuristics.allocation import marginal_greedy
from heuristics.policies.aryl.epoch import Elastic
from heuristics.policies.aryl.schedulers import optimus
from tests.effort import cases
from tests.heuristics.policies.aryl.schedulers.epochs import assert_always_legal, calm, drawn, linear


def test_table_4() -> None:
    """Aryl's Table 4 with 4 GPUs left: A saves 50 s by its worker, B 20, 10 and 6 by its first three."""
    a, b = linear(0, 150.0, base=2, most=3), linear(1, 60.0, base=2, most=6)
    assert optimus().extras(calm(a, b, training=4)) == {0: 1, 1: 3}


def test_savings_count_per_gpu() -> None:
    """A worker of three GPUs that saves 50 s goes after one of one GPU that saves 20 s."""
    a, b = linear(0, 150.0, base=2, most=3, gpus=3), linear(1, 60.0, base=2, most=3)
    assert optimus().extras(calm(a, b, training=3)) == {0: 0, 1: 1}


def test_it_is_the_greedy_of_allocation() -> None:
    """In one pool the flexible workers are those that the library's greedy by marginal value gives."""
    for seed in range(cases(100)):
        jobs = [job._replace(pool="training") for job in drawn(seed).elastic]
        epoch = calm(*jobs, training=seed % 13)
        capacity = seed % 13 + sum(job.extra * job.worker_gpus for job in jobs)
        solution = marginal_greedy(
            Allocation(capacity=capacity, jobs=[_problem_job(job) for job in jobs])
        ).solution
        assert solution is not None
        given = {job: extra for job, extra in optimus().extras(epoch).items() if extra}
        assert given == {int(name): extra for name, extra in solution.extra.items() if extra}


def _problem_job(job: Elastic) -> ElasticJob:
    values = [job.time - job.time_with(extra) for extra in job.extras]
    name = str(job.job)
    return ElasticJob(
        name=name, min_workers=job.base, counts=job.extras, gpus_per_worker=job.worker_gpus, values=values
    )


def test_always_legal() -> None:
    """Every answer is legal, and the same again."""
    assert optimus().blocks
    assert_always_legal(optimus)


def test_bad_order() -> None:
    """An order that there is not is refused."""
    with pytest.raises(InvalidInput, match=r"^order: 1: must be one of"):
        optimus(order=1)  # type: ignore[arg-type]
