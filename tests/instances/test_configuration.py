"""The generators of configuration and the decisions of the authors' simulator."""

from math import isclose
from pathlib import Path

import pytest

from formulations.configuration import exact
from gsopt.core.errors import InvalidInput
from gsopt.core.result import Status
from instances.configuration import growing_jobs, triples
from instances.configuration.decisions import FILE, from_data
from instances.records import compressed_lines
from tests.instances.traces.samples import recorded
from tests.strategies.configuration import chosen
from tests.unwrap import unwrap

LINE = (
    '{"jobs": ["a"], "configs": [["aws", 1, 1], ["aws", 1, 2]], "gpus": [4], '
    '"goodput": [[1.0, 0.0001]], "factor": [0.5], "prev": [0], "pinned": ["a"]}'
)


def test_a_line_is_a_decision(tmp_path: Path) -> None:
    """Jobs have their goodputs where they may run, factor and configuration, and some are pinned."""
    (problem,) = from_data(recorded(tmp_path, FILE, LINE))
    assert (problem.name, problem.gpus) == ("configuration/real/sia-001", {"aws": 4})
    (job,) = problem.jobs
    assert (job.goodputs, job.restart_factor, job.current, job.pinned) == ((1.0, None), 0.5, 0, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "line 1.*must be a decision of the simulator"),
        (LINE + "\n" + LINE.replace("0.5", "1.5"), r"line 2.*restart_factor"),
        (LINE.replace('"gpus": [4]', '"gpus": [4, 4]'), "line 1.*must be a decision of the simulator"),
        ("7", "line 1.*must be a decision of the simulator"),
    ],
)
def test_a_bad_record_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """What is no decision is named by its file and line."""
    with pytest.raises(InvalidInput, match=message):
        list(from_data(recorded(tmp_path, FILE, text)))


#: To how many units the authors' numbers of 24 bits are right.
NEAR = 1e-6


def test_the_authors_costs_and_optima_come_out(traces: Path) -> None:
    """Of 147 decisions all costs in allowed configurations are the recorded ones, and so are all optima.

    Those in configurations that are not allowed are far above the penalty.
    """
    known = compressed_lines(traces / FILE)
    for problem, record in zip(from_data(traces), known, strict=True):
        for job, costs, cells in zip(problem.jobs, problem.costs, record["cost"], strict=True):
            assert all(isclose(costs[place], cells[place], abs_tol=NEAR) for place in costs)
            refused = [cell for cell, goodput in zip(cells, job.goodputs, strict=True) if goodput is None]
            assert min(refused, default=100.0) >= 100.0
        result = exact(problem)
        assert result.status is Status.OPTIMAL
        assert isclose(unwrap(result.objective), record["objective"], abs_tol=NEAR)
    assert len(known) == 147


def test_what_runs_keeps_to_the_rules() -> None:
    """What jobs have breaks no rule and is within the asked parts."""
    for seed in range(20):
        problem = growing_jobs(nodes=4, types=2, jobs=10, running=0.5, busy=0.75, seed=seed)
        held = {job.name: job.current for job in problem.jobs if job.current is not None}
        assert problem.violations(chosen(**held)) == []
        assert 0 < len(held) <= 5
        assert problem.measures(chosen(**held))["idle_gpus"] >= 8


def test_goodputs_are_relative_to_the_least_and_jobs_double_at_most() -> None:
    """The least goodput is 1; a job may have twice its GPUs, one where it has not run."""
    problem = growing_jobs(nodes=4, types=3, jobs=30, most_gpus=6, seed=2)
    for job in problem.jobs:
        known = {shape: goodput for shape, goodput in enumerate(job.goodputs) if goodput is not None}
        assert min(known.values()) == 1.0
        most = 1 if job.current is None else min(2 * problem.configurations[job.current].gpus, 6)
        assert max(problem.configurations[place].gpus for place in known) <= most
    assert all(set(job.goodputs) <= {1.0, None} for job in problem.jobs if job.current is None)


def test_running_jobs_have_at_most_the_largest_number_of_gpus() -> None:
    """A job runs on no more GPUs than it may have."""
    problem = growing_jobs(nodes=16, jobs=4, most_gpus=4, seed=1)
    held = [problem.configurations[job.current].gpus for job in problem.jobs if job.current is not None]
    assert held
    assert max(held) <= 4


def test_no_jobs_are_an_instance_too() -> None:
    """Without jobs there are only GPUs."""
    assert growing_jobs(jobs=0).headline() == {"jobs": 0, "gpus": 64, "types": 1, "configurations": 18}


def test_every_job_runs_on_one_number_of_gpus_of_any_pool() -> None:
    """A job is as fast in every pool, and runs on one number of GPUs there."""
    problem = triples(pools=3, gpus=20, excess=2, seed=1)

    assert len(problem.jobs) == 9
    for job in problem.jobs:
        runs = [(problem.configurations[place], each) for place, each in enumerate(job.goodputs) if each]
        assert len({shape.gpus for shape, _ in runs}) == len({goodput for _, goodput in runs}) == 1
        assert [shape.type for shape, _ in runs] == list(problem.gpus)


@pytest.mark.parametrize("excess", [0, 1])
def test_all_run_only_without_excess(excess: int) -> None:
    """Without excess the optimum leaves nobody waiting; with it somebody waits."""
    problem = triples(pools=3, gpus=16, excess=excess, seed=1)
    solution = unwrap(exact(problem).solution)

    assert (len(solution.configurations) == 9) == (excess == 0)
