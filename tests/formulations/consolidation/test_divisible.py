"""The slots of machines, where demands divide each other."""

import pytest

from formulations.consolidation import divisible, laminar, patterns
from formulations.consolidation.case import Case
from gsopt.core.errors import Unsupported
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack
from gsopt.solvers.backends import CpSat
from gsopt.testing import check_formulation
from instances.consolidation import half_busy
from tests.strategies.consolidation import check_builders, committed, seeds


def divides(problem: Consolidation) -> bool:
    """Check whether the model takes a problem with some jobs."""
    try:
        divisible.check(Case.of(problem))
    except Unsupported:
        return False
    return len(problem.jobs) > 1 and problem.free_gpus > 3


def test_proves_the_optimum_of_every_small_instance_that_divides() -> None:
    """On every committed small instance whose demands divide each other HiGHS proves the optimum."""
    problems = [problem for problem in committed() if divides(problem)]
    assert check_formulation(divisible, problems) == len(problems) >= 8


def test_another_family_agrees() -> None:
    """CP-SAT proves the same optima."""
    problems = [problem for problem in committed() if divides(problem)][::5]
    assert check_formulation(divisible, problems, backends=[CpSat()]) == len(problems)


def test_equals_the_other_models_at_scale() -> None:
    """With thirty jobs on two racks slots, patterns and groups have the same optimum."""
    problem = half_busy(racks=2, jobs=30, seed=1)
    best = divisible(problem).objective
    assert patterns(problem).objective == laminar(problem).objective == best


def test_whole_machines_of_several_racks_count() -> None:
    """Where machines of two racks shall be left whole, slots equal groups, and arrays the Pyomo model."""
    for seed in range(4):
        problem = half_busy(racks=2, machines=3, gpus=4, jobs=4, busy=0.2, maximize="fragmentation", seed=seed)
        if divides(problem):
            assert divisible(problem).objective == laminar(problem).objective, seed
            check_builders(divisible, problem)


def test_only_demands_on_machines_must_divide() -> None:
    """Demands of 2, 4, 7 and 9 are taken where machines have four GPUs, and 3 beside 2 is refused."""
    cluster = Cluster.uniform(racks=2, machines=3, gpus=4)

    def of(*gpus: int) -> Consolidation:
        jobs = [Job(name=str(index), gpus=each, model="vgg11") for index, each in enumerate(gpus)]
        return Consolidation(cluster=cluster, jobs=jobs)

    problem = of(2, 4, 7, 9)
    assert divisible(problem).objective == laminar(problem).objective
    with pytest.raises(Unsupported, match="2 GPUs do not divide 3"):
        divisible(of(1, 2, 3))


def test_whole_machines_of_islands_are_refused() -> None:
    """Machines that consist of islands are no innermost groups, and cannot be counted as whole."""
    islands = [Island(name=name, gpus=2) for name in "ab"]
    cluster = Cluster(racks=[Rack(name="r", machines=[Machine(name="m", gpus=4, islands=islands)])])
    jobs = [Job(name="a", gpus=2, model="vgg11")]
    with pytest.raises(Unsupported, match="laminar takes them"):
        divisible(Consolidation(cluster=cluster, jobs=jobs, maximize="fragmentation"))
    assert divisible(Consolidation(cluster=cluster, jobs=jobs)).objective is not None


def test_the_arrays_are_those_of_the_pyomo_model() -> None:
    """Filled directly or compiled from Pyomo: the same columns, rows, costs and limits."""
    for problem in seeds(8, divides):
        check_builders(divisible, problem)
