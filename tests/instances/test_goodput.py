"""The generators of goodput and the decisions of the authors' simulator."""

from itertools import pairwise
from math import isclose
from pathlib import Path

import pytest

from formulations.goodput import exact
from gsopt.core.errors import InvalidInput
from gsopt.core.result import Status
from gsopt.problems.goodput import GoodputSolution
from instances.goodput import running_jobs, triples
from instances.goodput.decisions import FILE, from_data, records
from tests.instances.traces.samples import recorded

JOB = '{"max": 2, "restarts": 1, "age": 67.0, "s": {"1,1": 0.5, "2,2": 0.75}}'
LINE = f'{{"N": 2, "base": [[0, 1]], "jobs": [{JOB}]}}'


def test_a_line_is_a_decision(tmp_path: Path) -> None:
    """Nodes have four GPUs, and jobs what they have, their age, restarts, limit and speed-ups."""
    (problem,) = from_data(recorded(tmp_path, FILE, LINE + "\n"))
    assert (problem.name, problem.nodes) == ("goodput/real/pollux-01", (4, 4))
    (job,) = problem.jobs
    assert (job.current, job.age, job.restarts, job.max_gpus) == ((0, 1), 67.0, 1, 2)
    assert [job.speedup(*shape) for shape in ((1, 1), (2, 2), (1, 2))] == [0.5, 0.75, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "must be lines of JSON"),
        ("{}", "line 1.*must be a decision of the simulator"),
        (LINE + "\n" + LINE.replace("67.0", "-1"), r"line 2.*jobs\[0\].age|line 2.*age"),
        (LINE.replace("1,1", "1;1"), "line 1.*must be a decision of the simulator"),
        (LINE.replace('"1,1": 0.5', '"1,2": 0.5'), "line 1.*must be a decision of the simulator"),
        ("7", "line 1.*must be a decision of the simulator"),
    ],
)
def test_a_bad_record_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """What is no decision is named by its file and line."""
    with pytest.raises(InvalidInput, match=message):
        list(from_data(recorded(tmp_path, FILE, text)))


def test_the_authors_decisions_are_decided_no_worse(traces: Path) -> None:
    """On 45 decisions the fitness of the search is the recorded one, and the proven one is never below it."""
    known, better = records(traces), 0
    for problem, record in zip(from_data(traces), known, strict=True):
        searched = GoodputSolution(gpus={f"j{k}": gpus for k, gpus in enumerate(record["state"])})
        assert problem.violations(searched) == []
        assert isclose(problem.measures(searched)["fitness"], record["ga"], rel_tol=1e-12)
        result = exact(problem)
        assert result.status is Status.OPTIMAL
        assert result.objective is not None
        assert result.objective <= problem.objective(searched) + problem.resolution(result.objective)
        better += isclose(problem.objective(searched), result.objective, rel_tol=1e-6)
    assert (len(known), better) == (45, 45)


def test_what_runs_keeps_to_the_rules() -> None:
    """What jobs have breaks no rule, is within the asked parts, and some jobs stand on several nodes."""
    wide = 0
    for seed in range(20):
        problem = running_jobs(nodes=4, jobs=10, running=0.5, busy=0.75, seed=seed)
        held = {job.name: job.current for job in problem.jobs if job.current}
        assert problem.violations(GoodputSolution(gpus=held)) == []
        assert len(held) <= 5
        assert sum(map(sum, held.values())) <= 12
        wide += sum(sum(map(bool, current)) > 1 for current in held.values())
    assert wide > 5


def test_speed_ups_grow_by_less_and_less_and_are_no_better_on_more_nodes() -> None:
    """On one node each further GPU adds less; on several as many GPUs are no faster."""
    for job in running_jobs(nodes=4, jobs=10, seed=1).jobs:
        rows = [list(row) for row in job.speedups]
        steps = [after - before for before, after in zip([0.0, *rows[0]], rows[0], strict=False)]
        assert all(later <= step * 1.001 for step, later in pairwise(steps))
        for nodes, row in enumerate(rows[1:], start=2):
            on_one = rows[0][nodes - 1 :]
            assert all(several <= single for single, several in zip(on_one, row, strict=False))


def test_no_job_has_more_than_twice_its_gpus() -> None:
    """The limit is twice what a job has, one GPU for new ones, and at most the asked one."""
    for job in running_jobs(jobs=20, most_gpus=5, seed=2).jobs:
        assert job.max_gpus == min(max(2 * sum(job.current), 1), 5)
        assert len(job.speedups[0]) <= job.max_gpus


def test_nothing_gives_nothing() -> None:
    """No jobs and no nodes are an instance too."""
    assert running_jobs(nodes=0, jobs=0).headline() == {"jobs": 0, "nodes": 0, "gpus": 0}
    assert running_jobs(nodes=0, jobs=2).total == 0


def test_every_job_gains_from_its_size_only() -> None:
    """A job stands still on fewer GPUs than its size, and cannot have more, nor GPUs of several nodes."""
    problem = triples(nodes=3, gpus_per_node=20, excess=2, seed=1)

    assert len(problem.jobs) == 9
    for job in problem.jobs:
        assert job.max_gpus is not None
        (row,) = job.speedups
        assert len(row) == job.max_gpus
        assert set(row[:-1]) == {0.0}
        assert row[-1] > 0


@pytest.mark.parametrize("excess", [0, 1])
def test_all_run_only_without_excess(excess: int) -> None:
    """Without excess every job has its GPUs in the optimum; with it some job has none that help."""
    problem = triples(nodes=3, gpus_per_node=16, excess=excess, seed=1)
    solution = exact(problem).solution

    assert solution is not None
    served = [job for job in problem.jobs if sum(solution.gpus.get(job.name, ())) == job.max_gpus]
    assert (len(served) == 9) == (excess == 0)
