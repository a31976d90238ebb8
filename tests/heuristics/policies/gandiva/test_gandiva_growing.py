"""Gandiva as in comparisons of elastic jobs: growing while nobody waits."""

from hypothesis import given, settings

from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Replay, simulate
from gsopt.testing import check_policy
from heuristics.policies import fifo, gandiva_growing
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios

_MENU = ((1, 1.0), (2, 2.0), (4, 4.0))


def made(*sizes: tuple[float, float, int], elastic: bool = True) -> Replay:
    """Run jobs of (release date, duration, GPUs) on four GPUs."""
    jobs = bundle(
        Job(
            name=f"j{i}",
            release_date=r,
            duration=d,
            gpus=g,
            menu=[(count, speed / g) for count, speed in _MENU] if elastic else (),
        )
        for i, (r, d, g) in enumerate(sizes)
    )
    return simulate(jobs, gandiva_growing, cluster=4, record=True)


def held(run: Replay, job: str) -> list[tuple[float, int]]:
    """Return from when a job had how many GPUs."""
    assert run.schedule is not None
    return [(each.start, each.gpus) for each in run.schedule.segments if each.job == job]


def test_who_started_first_grows_first() -> None:
    """Of three jobs the first has two GPUs, until it is complete."""
    run = made((0, 8, 1), (0, 8, 1), (0, 8, 1))
    assert held(run, "j0") == [(0, 2)]
    assert held(run, "j1") == [(0, 1), (4, 2)]


def test_jobs_shrink_to_their_demand_where_somebody_waits() -> None:
    """A job on all GPUs gives all but its demand back to one that comes, and more where another one waits."""
    run = made((0, 16, 1), (1, 2, 1), (2, 2, 4))
    assert held(run, "j0")[:3] == [(0, 4), (1, 2), (2, 1)]
    assert held(run, "j2")[0][1] == 4


def test_menus_without_more_are_no_reason_to_grow() -> None:
    """Rigid jobs run in the order of their release."""
    sizes = [(0.0, 5.0, 1), (0.0, 2.0, 4), (1.0, 3.0, 2), (2.0, 1.0, 1)]
    run = made(*sizes, elastic=False)
    assert run.completion_times == simulate(run.scenario.workload, fifo, cluster=4).completion_times


def test_who_fits_may_pass() -> None:
    """Without blocking a small job starts beside a running one, before a large one that waits."""
    jobs = bundle(
        Job(name=n, release_date=0, duration=4, gpus=g) for n, g in (("a", 3), ("large", 4), ("small", 1))
    )
    assert simulate(jobs, gandiva_growing, cluster=4).start_times == (0, 4, 8)
    assert simulate(jobs, gandiva_growing, cluster=4, blocks=False).start_times == (0, 4, 0)


@settings(max_examples=cases(24))
@given(plain_scenarios(elastic=True))
def test_always_legal(scenario: Scenario) -> None:
    """Every decision is legal and every figure the judge's, whatever comes and goes."""
    assert check_policy(gandiva_growing, [scenario]) == 2
