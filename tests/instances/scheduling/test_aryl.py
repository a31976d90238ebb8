"""The examples of Aryl's tables have the completion times that the paper prints."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.evaluation.catalogue import load
from gsopt.problems.scheduling import Run, Scheduling, SchedulingSolution
from heuristics.scheduling import two_phase
from instances.scheduling import crawling, table_3, table_4
from instances.scheduling.suites import whole


def favoured(problem: Scheduling, first: str) -> float:
    """Return the mean completion time when one job has its most workers and the other one what is left."""
    jobs = {job.name: job for job in problem.jobs}
    other = next(name for name in jobs if name != first)
    most = {name: max(job.rates) for name, job in jobs.items()}
    left = min(problem.gpus - most[first], most[other])
    end = jobs[first].work / most[first]
    turn = min(end, jobs[other].work / left)
    runs = [Run(job=first, start=0, end=end, gpus=most[first]), Run(job=other, start=0, end=turn, gpus=left)]
    if jobs[other].work > turn * left:
        rest = (jobs[other].work - turn * left) / most[other]
        runs.append(Run(job=other, start=turn, end=turn + rest, gpus=most[other]))
    solution = SchedulingSolution(runs=runs)
    assert problem.violations(solution) == []
    return float(problem.objective(solution))


def test_table_3() -> None:
    """Favouring A gives a mean of 51.67 s, favouring B 41.67 s."""
    assert favoured(table_3(), "A") == pytest.approx(51.67, abs=0.005)
    assert favoured(table_3(), "B") == pytest.approx(41.67, abs=0.005)


def test_table_4() -> None:
    """Favouring A gives a mean of 62 s, favouring B 63.33 s."""
    assert favoured(table_4(), "A") == pytest.approx(62)
    assert favoured(table_4(), "B") == pytest.approx(63.33, abs=0.005)


def test_crawling_jobs_have_no_limit() -> None:
    """The two phases take 3.1, 4.1 and 5.2 times the proven optimum with 3, 4 and 5 jobs."""
    ratios = []
    for problem in whole()[2:]:
        about = load(problem.name).about
        assert about is not None
        assert about.proved_by
        ratios.append(float(two_phase(problem).objective or 0) / (about.objective or 1))
    assert ratios == pytest.approx([3.1, 4.1, 5.2], abs=0.05)


@pytest.mark.parametrize(("options", "field"), [({"jobs": 0}, "jobs"), ({"jobs": 4, "gpus": 4}, "gpus")])
def test_bad_arguments_are_refused(options: dict[str, int], field: str) -> None:
    """There is an elastic job, and a GPU for the one beside them."""
    with pytest.raises(InvalidInput, match=field):
        crawling(**options)
