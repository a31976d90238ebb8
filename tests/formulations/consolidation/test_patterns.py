"""The patterns of machines, for any demands."""

import pytest

from formulations.consolidation import laminar, patterns
from formulations.consolidation.case import Case
from formulations.consolidation.patterns import maximal
from gsopt.core.errors import Unsupported
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from gsopt.testing import check_formulation
from instances.consolidation import half_busy
from tests.strategies.consolidation import check_builders, committed, seeds


def is_taken(problem: Consolidation) -> bool:
    """Check whether the model takes a problem with some jobs."""
    try:
        patterns.check(Case.of(problem))
    except Unsupported:
        return False
    return len(problem.jobs) > 1 and problem.free_gpus > 3


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every second of the committed small instances HiGHS proves the optimum that enumeration finds."""
    problems = committed()[1::2]
    assert check_formulation(patterns, problems) == len(problems)


def test_maximal_patterns_by_hand() -> None:
    """Eight GPUs hold 5 + 3, 5 + 2, 3 + 3 + 2, 3 + 2 + 2 and four times 2; one GPU holds nothing."""
    assert set(maximal((5, 3, 2), 8)) == {(1, 1, 0), (1, 0, 1), (0, 2, 1), (0, 1, 2), (0, 0, 4)}
    assert maximal((5, 3, 2), 1) == ((0, 0, 0),)
    assert maximal((), 8) == ((),)


def test_equals_the_model_by_groups_at_scale() -> None:
    """With twenty jobs of any demands on two racks both models have the same optimum."""
    problem = half_busy(racks=2, jobs=20, demands="any", weights="drawn", seed=1)
    assert patterns(problem).objective == laminar(problem).objective


def test_too_many_patterns_are_refused() -> None:
    """A machine of 200 GPUs can be filled with a dozen demands in more ways than are listed."""
    jobs = [Job(name=str(gpus), gpus=gpus, model="vgg11") for gpus in range(2, 14)]
    with pytest.raises(Unsupported, match="ways to fill 200 GPUs; laminar does without"):
        patterns(Consolidation(cluster=Cluster.uniform(machines=1, gpus=200), jobs=jobs))


def test_the_arrays_are_those_of_the_pyomo_model() -> None:
    """Filled directly or compiled from Pyomo: the same columns, rows, costs and limits."""
    for problem in seeds(8, is_taken):
        check_builders(patterns, problem)
