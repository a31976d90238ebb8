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


def failing(state: simulation.State) -> simulation.Decider:
    """Fail at once."""
    raise ValueError(state.capacity)


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


def test_rows_are_handed_out_as_they_come() -> None:
    """Each policy's figures are handed out once it has run, under its name; a failed policy has none."""
    seen: list[str] = []
    gsopt.compare_policies(JOBS, [fifo, failing, fifo], cluster=1, on_row=lambda row: seen.append(row.policy))
    assert seen == ["fifo", "fifo (2)"]


def test_clusters_and_overheads_are_written_as_on_the_command_line() -> None:
    """A cluster may be given by its shape, and overheads of all models by their fields."""
    racks = gsopt.Cluster.uniform(racks=2, machines=1, gpus=2)
    for take in TAKERS.values():
        assert take(JOBS, cluster="2x1x2") == take(JOBS, cluster=racks)
    wanted = gsopt.Scenario.of(JOBS, 1, overheads={"": {"start": 4}})
    assert gsopt.Scenario.of(JOBS, 1, overheads={"start": 4}) == wanted
    with pytest.raises(gsopt.GsoptError, match=r"^cluster: '2x0x2': must be racks, machines of each"):
        gsopt.simulate(JOBS, "fifo", cluster="2x0x2")
