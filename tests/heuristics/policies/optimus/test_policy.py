"""Optimus: steps by hand, who waits, and every kind of scenario."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.training import Training
from gsopt.simulation import Policy, simulate
from gsopt.testing import check_policy
from heuristics.policies.optimus.policy import optimus
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, rich_scenarios
from tests.heuristics.policies.twenty import twenty_jobs

#: No word for what is known.
UNKNOWN: Any = "none"

#: Its exact form; `exact` of `simulate` is about fractions.
EXACT = partial(optimus, exact=True)

MENU = [(1, 1.0), (2, 1.5), (3, 1.8), (4, 2.0)]


def made(*sizes: tuple[float, float]) -> Workload:
    """Make elastic jobs of (release date, duration)."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=1, menu=MENU) for i, (r, d) in enumerate(sizes)
    )


@pytest.mark.parametrize(
    ("sizes", "gpus", "expected"),
    [
        ([(0, 90), (0, 360)], 4, (90, 192)),  # 120 s and 40 s of the long one are more than 30 s
        ([(0, 90), (0, 90)], 3, (60, 76 + 2 / 3)),  # the first of equals gets the third GPU
        ([(0, 60), (0, 60), (0, 60)], 2, (60, 60, 100)),  # jobs beyond the capacity wait
        ([(0, 30), (10, 60)], 4, (15, 90)),  # a job starts at the next multiple of the interval
    ],
)
def test_by_hand(sizes: list[tuple[float, float]], gpus: int, expected: tuple[float, ...]) -> None:
    """Jobs complete when the largest reductions of the time left say."""
    assert simulate(made(*sizes), optimus, cluster=gpus).completion_times == pytest.approx(expected)


def test_only_who_changes_moves() -> None:
    """A job whose number of GPUs stays keeps its GPUs while another grows beyond a machine."""
    replay = simulate(
        made((0, 60), (0, 600)), optimus, cluster=Cluster.uniform(machines=2, gpus=2), record=True
    )
    assert replay.schedule is not None
    placed = [(each.job, each.start, each.placement) for each in replay.schedule.segments]
    assert placed == [("j0", 0, (0,)), ("j1", 0, (1, 2, 3)), ("j1", 60, (0, 1, 2, 3))]


def test_exact_differs_where_steps_rise() -> None:
    """A job whose second GPU saves nothing and whose third saves all gets them only by the exact division."""
    late = Job(name="late", release_date=0, duration=120, gpus=1, menu=[(1, 1.0), (2, 1.0), (3, 4.0)])
    even = Job(name="even", release_date=0, duration=120, gpus=1, menu=[(1, 1.0), (2, 1.25), (3, 1.5)])
    steps, exact = (
        simulate(bundle([late, even]), policy, cluster=4).completion_times for policy in (optimus, EXACT)
    )
    assert (steps, exact) == ((120, 80), (30, 100))


@settings(max_examples=cases(24), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_elastic_jobs(scenario: Scenario) -> None:
    """Whatever the jobs, overheads and changes of capacity, all that is booked is what the judge finds."""
    assert check_policy(optimus, [scenario], interval=0.5) == 2
    assert check_policy(EXACT, [scenario], exact=False, interval=None) == 1


@settings(max_examples=cases(24), deadline=None)
@given(scenario=rich_scenarios())
def test_racks_of_several_kinds(scenario: Scenario) -> None:
    """The same holds where GPUs have types and memory, and machines come and go."""
    assert check_policy(optimus, [scenario], exact=False, interval=0.5) == 1


def test_as_its_authors_have_it() -> None:
    """Work is predicted from losses: until three were seen a job has one GPU, then more."""
    training = Training(epoch=10, samples=5000, initial_loss=2.0, loss=0.25, curvature=2)
    long = Job(name="long", release_date=0, duration=5000, gpus=1, menu=MENU, training=training)
    replay = simulate(
        bundle([long]), optimus, cluster=4, record=True, interval=600, stops=True, knowledge="predicted"
    )
    assert replay.schedule is not None
    assert [(each.start, each.gpus) for each in replay.schedule.segments] == [(0, 1), (1200, 4)]
    assert replay.completion_times == (1200 + 3800 / 2,)


def test_the_first_step_that_does_not_fit_may_end_it() -> None:
    """A job whose step needs two GPUs ends the decision for one whose step would have fit."""
    wide = Job(name="wide", release_date=0, duration=600, gpus=1, menu=[(1, 1.0), (3, 3.0)])
    jobs = bundle([wide, *made((0, 60)).jobs])
    found = [simulate(jobs, optimus, cluster=3, stops=stops).completion_times for stops in (False, True)]
    assert found == [(240, 40), (240, 60)]


def test_the_simulator_of_pollux() -> None:
    """20 jobs complete to the second when they do in the simulator of the authors of Pollux."""
    spans = "4688 22083 5959 26887 6049 6046 4732 4761 9513 10472 9287 97049 9532 11205 15067 14973 13575 15631"
    replay = simulate(twenty_jobs(), optimus, bound=False)
    assert replay.jct == (*map(float, spans.split()), 16585, 19330)
    assert replay.metrics.mean_jct == pytest.approx(16171.2)


def test_edges() -> None:
    """No jobs at all, and one GPU, are no exceptions."""
    assert simulate(bundle([]), optimus, cluster=1).completion_times == ()
    assert check_policy(optimus, [Scenario(workload=made((0, 9), (0, 3)), cluster=Cluster.plain(1))]) == 2


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (partial(optimus, interval=0), "interval: 0: must be a finite number of seconds"),
        (EXACT, "cluster: .*: must be alike"),
        (partial(optimus, knowledge=UNKNOWN), "knowledge: 'none': must be one of known, predicted"),
    ],
)
def test_bad_options(policy: Policy, reason: str) -> None:
    """An option out of its range is refused in a line that names it."""
    machines = [Machine(name=kind, gpus=2, gpu_type=kind) for kind in ("V100", "T4")]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    with pytest.raises(InvalidInput, match=reason):
        simulate(made((0, 9)), policy, cluster=cluster)
