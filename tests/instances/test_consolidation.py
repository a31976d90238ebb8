"""The generators and the suites of consolidation."""

import pytest

from formulations.consolidation import exact
from heuristics.consolidation import greedy
from instances.consolidation import half_busy, triples
from tests.strategies.consolidation import committed
from tests.unwrap import unwrap


@pytest.mark.parametrize(("busy", "least", "most"), [(0.0, 0, 0), (0.5, 400, 620), (1.0, 1024, 1024)])
def test_so_many_gpus_are_busy(busy: float, least: int, most: int) -> None:
    """About the share of the 1,024 GPUs is taken, and not the same number on every machine."""
    problem = half_busy(racks=16, busy=busy)
    taken = [sum(gpu in problem.busy for gpu in gpus) for gpus in problem.cluster.gpus_of.values()]
    assert least <= sum(taken) <= most
    assert (len(set(taken)) > 1) == (least != most)


def test_demands_and_weights() -> None:
    """Powers of two divide each other, others do not; weights are as asked for."""
    two, others = half_busy(jobs=200), half_busy(jobs=200, demands="any", weights="drawn")
    assert {job.gpus for job in two.jobs} == {1, 2, 4, 8, 16, 32}
    assert {3, 5, 6, 12} <= {job.gpus for job in others.jobs}
    assert {job.weight for job in two.jobs} == {1.0}
    assert {job.weight for job in half_busy(jobs=99, weights="levels").jobs} == {1.0, 2.0, 4.0}
    assert len({job.weight for job in others.jobs}) > 100


@pytest.mark.parametrize("excess", [0, 3])
@pytest.mark.parametrize(("machines", "gpus"), [(2, 8), (17, 1), (3, 7), (8, 8)])
def test_three_jobs_come_to_a_rack_and_the_excess(machines: int, gpus: int, excess: int) -> None:
    """All jobs together need what was asked for, and each is between a quarter and half of a rack."""
    problem = triples(racks=5, machines=machines, gpus=gpus, excess=excess, seed=1)

    rack = machines * gpus
    assert len(problem.jobs) == 15
    assert sum(job.gpus for job in problem.jobs) == 5 * (rack + excess)
    assert all(rack < 4 * job.gpus and 2 * job.gpus < rack for job in problem.jobs)
    assert problem.busy == ()


def test_the_small_suite_tells_variants_apart() -> None:
    """The number of jobs and their value are different questions, and the greedy order is not always right."""
    small = {problem.name.rpartition("/")[2]: problem for problem in committed()}
    by_value, by_number = (unwrap(exact(small[name]).solution) for name in ("by-value", "by-number"))
    assert len(by_value.placed) < len(by_number.placed)
    assert small["by-value"].objective(by_value) > small["by-value"].objective(by_number)
    lost = [name for name, problem in small.items() if greedy(problem).objective != exact(problem).objective]
    assert len(lost) >= 3
