"""What is given to a function over time: a workload, a reading of a trace, or a whole scenario."""

from collections.abc import Callable
from typing import Any

import pytest

import gsopt
from gsopt import simulation
from gsopt.scenario.job import Job, Workload
from gsopt.testing import check_policy
from heuristics.policies import fifo
from instances.traces.reading import Reading

JOBS = Workload(
    jobs=[Job(name=name, release_date=0, duration=duration, gpus=1) for name, duration in [("a", 4), ("b", 2)]]
)
RUNS = [{"job": "a", "start": 0, "end": 4, "gpus": 1}, {"job": "b", "start": 4, "end": 6, "gpus": 1}]

#: Everything that takes a workload, with the figure by which the answers are compared.
TAKERS: dict[str, Callable[..., Any]] = {
    "simulate": lambda given, **options: gsopt.simulate(given, "fifo", **options).metrics,
    "simulation.simulate": lambda given, **options: simulation.simulate(given, fifo, **options).metrics,
    "compare_policies": lambda given, **options: gsopt.compare_policies(given, "fifo", **options).rows,
    "judge": lambda given, **options: gsopt.judge(RUNS, given, **options).as_dict(),
    "mean_jct_bound": gsopt.bounds.mean_jct_bound,
    "Scenario.of": gsopt.Scenario.of,
    "check_policy": lambda given, **options: check_policy(fifo, given, **options),
}


@pytest.mark.parametrize("name", TAKERS)
def test_workloads_readings_and_scenarios_are_alike(name: str) -> None:
    """A workload with its cluster, a reading of one, and a scenario of both give the same answer."""
    take = TAKERS[name]
    wanted = take(gsopt.Scenario.of(JOBS, 1))
    assert take(JOBS, cluster=1) == wanted
    assert take(Reading(workload=JOBS, issues=()), cluster=1) == wanted


def test_options_are_written_as_on_the_command_line() -> None:
    """A backend may be given by its name, one policy without a list, and an unknown name is one line."""
    problem = gsopt.load("reclaiming/aryl-figure-5")
    assert gsopt.solve(problem, backend="highs").objective == 1
    with pytest.raises(gsopt.GsoptError, match=r"^backend: 'glpk': must be one of highs, cp-sat, scip$"):
        gsopt.solve(problem, backend="glpk")
    both = gsopt.compare_policies(JOBS, [fifo, fifo], cluster=1)
    assert [row.policy for row in both] == ["fifo", "fifo (2)"]
