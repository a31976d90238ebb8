"""AFS-L: comparisons by hand, who waits, and every kind of scenario."""

from functools import partial

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Policy, simulate
from gsopt.testing import check_policy
from heuristics.policies.optimus.policy import afs
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, rich_scenarios
from tests.heuristics.policies.twenty import twenty_jobs

#: Its exact form; `exact` of `simulate` is about fractions.
EXACT = partial(afs, exact=True)

MENU = [(1, 1.0), (2, 1.5), (3, 1.8), (4, 2.0)]


def made(*sizes: tuple[float, float]) -> Workload:
    """Make elastic jobs of (release date, duration)."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=1, menu=MENU) for i, (r, d) in enumerate(sizes)
    )


@pytest.mark.parametrize(
    ("sizes", "gpus", "expected"),
    [
        ([(0, 90), (0, 360)], 4, (60, 195)),  # the short one wins the third GPU, the long one the last
        ([(0, 360), (0, 90)], 3, (226 + 2 / 3, 60)),  # whichever is released first
        ([(0, 90), (0, 60), (0, 60)], 1, (210, 120, 60)),  # of jobs without GPUs the last of the shortest
        ([(0, 90), (10, 30)], 1, (120, 40)),  # at every event
    ],
)
def test_by_hand(sizes: list[tuple[float, float]], gpus: int, expected: tuple[float, ...]) -> None:
    """Jobs complete when the winners of the comparisons say."""
    assert simulate(made(*sizes), afs, cluster=gpus).completion_times == pytest.approx(expected)


def test_steps_of_several_gpus_count_for_each() -> None:
    """A job that doubles its speed on three more GPUs loses to one that gains two thirds of it on one."""
    wide = Job(name="wide", release_date=0, duration=60, gpus=1, menu=[(1, 1.0), (4, 2.0)])
    even = Job(name="even", release_date=0, duration=90, gpus=1, menu=MENU)
    assert simulate(bundle([wide, even]), afs, cluster=5).completion_times == (52.5, 45)


def test_steps_that_gain_nothing_are_not_taken() -> None:
    """A job that is no faster on two GPUs stays on one, though nobody else wants them."""
    flat = Job(name="flat", release_date=0, duration=60, gpus=1, menu=[(1, 1.0), (2, 1.0)])
    assert simulate(bundle([flat]), afs, cluster=2).metrics.gpu_seconds == 60


def test_exact_differs_where_steps_rise() -> None:
    """A job whose second GPU saves nothing and whose third saves all gets them only by the exact division."""
    late = Job(name="late", release_date=0, duration=120, gpus=1, menu=[(1, 1.0), (2, 1.0), (3, 4.0)])
    even = Job(name="even", release_date=0, duration=120, gpus=1, menu=[(1, 1.0), (2, 1.25), (3, 1.5)])
    pairs, exact = (
        simulate(bundle([late, even]), policy, cluster=4).completion_times for policy in (afs, EXACT)
    )
    assert (pairs, exact) == ((120, 80), (30, 90))


@settings(max_examples=cases(24), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_elastic_jobs(scenario: Scenario) -> None:
    """Whatever the jobs, overheads and changes of capacity, all that is booked is what the judge finds."""
    assert check_policy(afs, [scenario]) == 2
    assert check_policy(EXACT, [scenario], exact=False) == 1


@settings(max_examples=cases(24), deadline=None)
@given(scenario=rich_scenarios())
def test_racks_of_several_kinds(scenario: Scenario) -> None:
    """The same holds where GPUs have types and memory, and machines come and go."""
    assert check_policy(afs, [scenario], exact=False) == 1


def test_the_simulator_of_pollux() -> None:
    """20 jobs have the mean that the rule has in the simulator of the authors of Pollux."""
    replay = simulate(twenty_jobs(), afs, interval=60, bound=False)
    assert replay.metrics.mean_jct == pytest.approx(13242.1)


def test_edges() -> None:
    """No jobs at all, and one GPU, are no exceptions."""
    assert simulate(bundle([]), afs, cluster=1).completion_times == ()
    assert check_policy(afs, [Scenario(workload=made((0, 9), (0, 3)), cluster=Cluster.plain(1))]) == 2


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (partial(afs, interval=0), "interval: 0: must be a finite number of seconds"),
        (EXACT, "cluster: .*: must be alike"),
    ],
)
def test_bad_options(policy: Policy, reason: str) -> None:
    """An option out of its range is refused in a line that names it."""
    machines = [Machine(name=kind, gpus=2, gpu_type=kind) for kind in ("V100", "T4")]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    with pytest.raises(InvalidInput, match=reason):
        simulate(made((0, 9)), policy, cluster=cluster)
