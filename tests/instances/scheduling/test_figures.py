"""The examples of the paper."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.scheduling import Run, Scheduling, SchedulingSolution
from gsopt.schedule.fairness import gps_finish_times
from gsopt.simulation import simulate
from heuristics.policies import efq
from instances.scheduling import figure_1, figure_4
from instances.scheduling.figures import Reading


def fair(problem: Scheduling) -> list[float]:
    """Return the completion times under fair sharing."""
    return [round(time, 9) for time in gps_finish_times(problem.workload, problem.gpus)]


def queued(problem: Scheduling) -> list[float]:
    """Return the completion times under elastic fair queuing."""
    return [round(time, 9) for time in simulate(problem.workload, efq, cluster=problem.gpus).completion_times]


@pytest.mark.parametrize(
    ("reading", "shared", "first"),
    [("rounded", [4.5, 7.5, 7.8], [1.5, 4.5, 7.8]), ("truncated", [6, 6, 8], [2, 4, 8])],
)
def test_figure_1(reading: Reading, shared: list[float], first: list[float]) -> None:
    """Both readings give the printed means: 6.6 under fair sharing, 4.6 with the shortest job first."""
    problem = figure_1(reading=reading)

    assert fair(problem) == shared
    assert queued(problem) == first
    assert int(10 * sum(shared) / 3 + 1e-9) == 66
    assert int(10 * sum(first) / 3 + 1e-9) == 46


@pytest.mark.parametrize("work", [24.0, 19.0, 60.0])
def test_figure_4(work: float) -> None:
    """Whatever the size of job 2: jobs 1 and 3 complete at 3 and 5.5, and none is later than its fair share."""
    problem = figure_4(work=work)

    assert queued(problem) == [3, round((24 + work) / 6, 9), 5.5]
    assert fair(problem) == [5, round((24 + work) / 6, 9), 7]


def test_figure_4_as_drawn() -> None:
    """The schedule of the figure is one of the problem, and leaves no GPU idle."""
    runs = [
        ("job 1", 0, 3, 4),
        ("job 2", 0, 2, 2),
        ("job 3", 2, 3, 2),
        ("job 3", 3, 5.5, 4),
        ("job 2", 3, 5.5, 2),
        ("job 2", 5.5, 8, 6),
    ]
    solution = SchedulingSolution(
        runs=[Run(job=job, start=start, end=end, gpus=gpus) for job, start, end, gpus in runs]
    )
    problem = figure_4()

    assert problem.violations(solution) == []
    assert problem.objective(solution) == pytest.approx((3 + 8 + 3.5) / 3)


def test_arguments_are_checked() -> None:
    """An unknown reading and too small a job are refused in one line."""
    with pytest.raises(InvalidInput, match="reading: 'exact': must be one of rounded, truncated"):
        figure_1(reading="exact")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="work: 18: must be more than 18"):
        figure_4(work=18)
