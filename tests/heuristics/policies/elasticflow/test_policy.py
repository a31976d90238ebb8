"""ElasticFlow: deadlines planned and kept, and every kind of scenario of one kind of GPUs."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies.elasticflow.guaranteeing import Admission
from heuristics.policies.elasticflow.policy import elasticflow
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios

MENU = [(1, 1.0), (2, 1.8), (4, 3.0)]


def made(*sizes: tuple[float, float, float | None]) -> Workload:
    """Make elastic jobs of (release date, duration, deadline)."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=1, menu=MENU, deadline=due)
        for i, (r, d, due) in enumerate(sizes)
    )


def test_by_hand() -> None:
    """Each job has the fewest GPUs that keep its deadline, and the last GPU goes to the first of equals."""
    replay = simulate(made((0, 360, 240), (0, 360, 480)), elasticflow, cluster=4, record=True)
    assert replay.schedule is not None
    first = [(each.job, each.gpus) for each in replay.schedule.segments if each.start == 0]
    assert first == [("j0", 2), ("j1", 2)]
    assert replay.completion_times == (200, 200)


@pytest.mark.parametrize(
    ("options", "times"),
    [({}, (100, 220)), ({"slot": 50}, (100, 200)), ({"rejected": "never"}, (100, None))],
)
def test_rejected_jobs(options: dict[str, Any], times: tuple[float | None, ...]) -> None:
    """A job that cannot be complete in time waits for the slot after the other is complete, or for ever."""
    jobs = bundle(
        Job(name=name, release_date=r, duration=100, gpus=1, deadline=150) for name, r in [("a", 0), ("b", 10)]
    )
    assert simulate(jobs, elasticflow, cluster=1, bound=False, **options).completion_times == times


def test_planned_is_not_kept() -> None:
    """Overheads are not planned, so a job that is admitted may be late; without them it is not."""
    told: list[Admission] = []
    work = made((0, 230, 240))
    kept = [
        simulate(work, elasticflow, cluster=1, overheads=Overhead(start=start), on_admission=told.append)
        for start in (0, 20)
    ]
    assert [each.admitted for each in told] == [True, True]
    assert [replay.metrics.deadlines_kept for replay in kept] == [1, 0]


def test_exact_admits_what_the_rule_refuses() -> None:
    """The relaxation admits a job that minimum satisfactory shares by deadline have no room for."""
    flat = [(1, 1.0), (2, 1.0 + 1e-6)]
    early = Job(name="a", release_date=0, duration=110, gpus=1, menu=flat, deadline=120)
    late = Job(name="b", release_date=0, duration=115, gpus=2, deadline=180)
    told: list[Admission] = []
    for policy in (elasticflow, partial(elasticflow, exact=True)):
        simulate(bundle([early, late]), policy, cluster=2, on_admission=told.append)
    assert [each.admitted for each in told] == [True, False, True, True]


@settings(max_examples=cases(24), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_any_jobs(scenario: Scenario) -> None:
    """Whatever the jobs, with deadlines for two in three, all that is booked is what the judge finds."""
    jobs = [
        job if number % 3 == 2 else job.model_copy(update={"deadline": job.release_date + 2 * job.duration})
        for number, job in enumerate(scenario.workload.jobs)
    ]
    due = scenario.model_copy(update={"workload": bundle(jobs)})
    assert check_policy(elasticflow, [due], slot=0.5) == 2
    assert check_policy(partial(elasticflow, exact=True), [due], slot=0.5, exact=False) == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rejected": "first"}, "rejected: 'first': must be one of last, never"),
        ({"slot": -1}, "slot: -1"),
        ({"on_admission": "print"}, "on_admission: 'print': must be a function, or None"),
    ],
)
def test_bad_options(options: dict[str, Any], reason: str) -> None:
    """An option out of its range is refused in a line that names it."""
    with pytest.raises(InvalidInput, match=reason):
        simulate(made((0, 9, None)), elasticflow, cluster=1, **options)
