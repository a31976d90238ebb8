"""Options of jobs."""

from math import isclose

import pytest

from formulations.goodput.case import Case, Option
from gsopt.problems.goodput import Goodput
from instances.goodput import running_jobs
from tests.strategies.goodput import job


def shapes(options: tuple[Option, ...]) -> list[tuple[int, int, int]]:
    """Return GPUs and numbers of nodes of options."""
    return [(option.gpus, option.least, option.most) for option in options]


def test_numbers_of_nodes_with_one_speed_up_are_one_option() -> None:
    """Two to four nodes with the same speed-up are one option, one node is another one."""
    rows = [[1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0], [3.0, 4.0], [4.0]]
    case = Case.of(Goodput(nodes=[4] * 4, jobs=[job("a", *rows)]))
    singles, several = [(k, 1, 1) for k in (1, 2, 3, 4)], [(2, 2, 2), (3, 2, 3), (4, 2, 4)]
    assert sorted(shapes(case.options[0])) == sorted([(0, 0, 0), *singles, *several])


def test_a_speed_up_that_rises_with_the_nodes_is_another_option() -> None:
    """Three nodes that are faster than two are not taken for as fast."""
    case = Case.of(Goodput(nodes=[3] * 3, jobs=[job("a", [0.0], [0.0, 1.0], [2.0])]))
    assert shapes(case.options[0]) == [(0, 0, 0), (3, 2, 2), (3, 3, 3)]


def test_what_gains_nothing_is_no_option() -> None:
    """More GPUs on as many nodes that are no faster are left out, and so is what is no better than no GPUs."""
    case = Case.of(Goodput(nodes=[4], jobs=[job("a", [0.0, 1.0, 1.0, 0.9]), job("b", [1.0], age=0.0)]))
    assert shapes(case.options[0]) == [(0, 0, 0), (2, 1, 1)]
    assert shapes(case.options[1]) == [(0, 0, 0)]


def test_nodes_and_limits_leave_out_what_cannot_be() -> None:
    """Options are within the job's limit, the nodes, and the GPUs of the largest of these."""
    rows = [[1.0, 2.0, 3.0, 4.0], [2.5, 3.5, 4.5], [6.0]]
    case = Case.of(Goodput(nodes=[1, 2], jobs=[job("a", *rows), job("b", *rows, max_gpus=1)]))
    assert shapes(case.options[0]) == [(0, 0, 0), (1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 2, 2)]
    assert shapes(case.options[1]) == [(0, 0, 0), (1, 1, 1)]


def test_costs_are_those_of_the_judge() -> None:
    """Each option costs what the judge counts, to the error that is stated."""
    problem = running_jobs(nodes=4, jobs=9, seed=3)
    case = Case.of(problem)
    kept = 0
    for place, options in enumerate(case.options):
        for option in options:
            exact = problem.cost(place, option.least, option.gpus, restarts=not option.keeps)
            assert isclose(option.cost, exact, rel_tol=case.error)
            kept += option.keeps
    assert kept == sum(bool(job.current) for job in problem.jobs)


@pytest.mark.parametrize("power", range(-10, 0))
def test_no_option_is_where_a_job_does_not_run(power: int) -> None:
    """Whatever floor and power, an option has a speed-up, and costs less than no GPUs."""
    for floor in (1e-9, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.3, 1.0):
        gaps = job("a", [0.0, 0.0, 1.0, 1.0, 0.0, 2.0], [0.0, 3.0], [0.0, 0.0, 1e-9])
        case = Case.of(Goodput(nodes=[6, 6, 6], jobs=[gaps], power=power, floor=floor))
        idle, *others = case.options[0]
        assert idle.gpus == 0
        assert all(gaps.speedup(option.least, option.gpus) for option in others), floor
        assert all(option.cost < idle.cost for option in others), floor
