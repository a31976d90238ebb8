"""Configurations of all jobs at once, every minute."""

from typing import Any

import pytest
from hypothesis import given, settings

from gsopt.cluster import Cluster, Machine, Rack
from gsopt.errors import InvalidInput, Unsupported
from gsopt.job import Job, Mode
from gsopt.scenario import Overhead, Scenario
from gsopt.simulation import Replay, simulate
from gsopt.speed import Speed
from gsopt.testing import check_policy
from heuristics.policies import sia
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, tree_scenarios

MENU = ((1, 1.0), (2, 1.8), (4, 3.0), (8, 5.0))


def job(name: str, duration: float = 600, **fields: Any) -> Job:
    """Give an elastic job."""
    return Job(**{"name": name, "release_date": 0, "duration": duration, "gpus": 1, "menu": MENU, **fields})


def counts(run: Replay, name: str) -> list[tuple[float, int]]:
    """Give when a job got how many GPUs."""
    assert run.schedule is not None
    return [(float(each.start), each.gpus) for each in run.schedule.segments if each.job == name]


def nodes(*gpus: int, kinds: str = "") -> Cluster:
    """Give machines of so many GPUs, with a letter for the type of each."""
    types = kinds or " " * len(gpus)
    machines = [
        Machine(name=f"m{place}", gpus=count, gpu_type=kind.strip())
        for place, (count, kind) in enumerate(zip(gpus, types, strict=True))
    ]
    return Cluster(racks=[Rack(name="rack", machines=machines)])


def test_a_job_doubles_at_most() -> None:
    """A job alone has 1, 2, 4 and 8 GPUs, each as soon as it has lived long enough for the restart."""
    run = simulate(bundle([job("a")]), sia, cluster=nodes(4, 4), record=True)
    assert counts(run, "a") == [(0, 1), (60, 2), (180, 4), (240, 8)]
    fast = simulate(bundle([job("a")]), sia, cluster=nodes(4, 4), record=True, growth=None, interval=30)
    assert counts(fast, "a") == [(0, 8)]


def test_decisions_are_at_multiples_of_the_interval() -> None:
    """A job waits for the next minute, and what it leaves is given away at a minute."""
    jobs = bundle([job("a", 50, release_date=7), job("b", 50, release_date=61)])
    assert simulate(jobs, sia, cluster=1).completion_times == (110.0, 170.0)


def test_restarts_are_weighed() -> None:
    """With longer restarts a job that is young stays as it is; age is counted from the release."""
    run = simulate(bundle([job("a")]), sia, cluster=4, record=True, restart_time=59.0)
    first = simulate(bundle([job("a", model="imagenet")]), sia, cluster=4, record=True, restart_times={})
    assert counts(run, "a")[:2] == [(0, 1), (120, 2)]
    assert counts(first, "a")[:2] == [(0, 1), (60, 2)]


def test_models_have_seconds_of_their_own() -> None:
    """Below the seconds of a restart nothing is taken off, so a job of which these are many grows at once."""
    run = simulate(bundle([job("a", model="bert")]), sia, cluster=4, record=True)
    other = simulate(bundle([job("a")]), sia, cluster=4, record=True)
    assert counts(other, "a")[:3] == [(0, 1), (60, 2), (180, 4)]
    assert counts(run, "a")[:3] == [(0, 1), (60, 2)]


def test_who_is_restarting_keeps_what_it_has() -> None:
    """While a restart takes two minutes nothing changes."""
    overhead = Overhead(start=130)
    run = simulate(bundle([job("a"), job("b")]), sia, cluster=2, record=True, overheads=overhead)
    assert counts(run, "a")[0] == (0, 1)
    alone = simulate(bundle([job("a")]), sia, cluster=2, record=True, overheads=overhead)
    assert counts(alone, "a")[:2] == [(0, 1), (180, 2)]


def test_rigid_jobs_have_what_they_demand() -> None:
    """A rigid job of three GPUs runs on three; two of them on four GPUs run one after the other."""
    jobs = bundle([Job(name=name, release_date=0, duration=90, gpus=3) for name in "ab"])
    assert simulate(jobs, sia, cluster=4).completion_times == (90.0, 210.0)


def test_a_menu_of_other_numbers_is_taken_as_it_is() -> None:
    """A job of three or six GPUs, which are no configurations, may have both."""
    run = simulate(bundle([job("a", gpus=3, menu=[(3, 1.0), (6, 1.9)])]), sia, cluster=nodes(4, 4), record=True)
    assert counts(run, "a") == [(0, 3), (60, 6)]


def test_fast_gpus_go_to_whom_they_help() -> None:
    """Of two jobs of fixed size the one runs on the fast type that gains more by it."""
    jobs = [
        Job(
            name=name,
            release_date=0,
            duration=600,
            gpus=2,
            gpu_type="x",
            modes=[Mode(name="on y", menu=[(2, speed)], gpu_type="y")],
        )
        for name, speed in (("little", 0.9), ("much", 0.25))
    ]
    run = simulate(bundle(jobs), sia, cluster=nodes(2, 2, kinds="yx"), record=True)
    assert run.schedule is not None
    first = {each.job: each.placement for each in run.schedule.segments if each.start == 0}
    assert first == {"little": (0, 1), "much": (2, 3)}


def test_types_are_not_mixed() -> None:
    """A job has GPUs of one type, of which it takes the faster one; one that needs both is refused."""
    speed = Speed(gpu_types={"y": 3.0})
    run = simulate(bundle([job("a", 60)]), sia, cluster=nodes(2, 2, kinds="yx"), speed=speed, record=True)
    assert run.schedule is not None
    assert run.schedule.segments[0].placement == (2,)
    wide = Job(name="wide", release_date=0, duration=60, gpus=3)
    with pytest.raises(Unsupported, match="job 'wide' runs on no number of GPUs of one kind"):
        simulate(bundle([wide]), sia, cluster=nodes(2, 2, kinds="yx"), speed=speed)


def test_another_method_decides_too() -> None:
    """The greedy heuristic takes the place of dynamic programming by name."""
    jobs = bundle([job("a"), job("b", 300), job("c", 100, release_date=90)])
    assert simulate(jobs, sia, cluster=4, solver="greedy").metrics.completed == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"power": 0}, "power: 0: must be from -10 to 10, not 0"),
        ({"penalty": -1}, "penalty: -1: must be from 0"),
        ({"growth": 1}, "growth: 1: must be above 1, or None"),
        ({"most_gpus": 0}, "most_gpus: 0: must be at least 1"),
        ({"interval": 0}, "interval: 0: must be a finite number of seconds"),
        ({"restart_time": -1}, "restart_time: -1: must be a finite number of seconds"),
        ({"restart_times": {"bert": float("inf")}}, "bert: inf: must be a finite number of seconds"),
        ({"solver": "none"}, "none"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """Each option is named with its value and rule."""
    with pytest.raises(InvalidInput, match=message):
        simulate(bundle([job("a")]), sia, cluster=1, **options)


@settings(max_examples=cases(80), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_any_plain_cluster(scenario: Scenario) -> None:
    """Whatever jobs come, and GPUs go, it is legal and all is booked right."""
    assert check_policy(sia, [scenario], interval=2.0) == 2


@settings(max_examples=cases(80), deadline=None)
@given(scenario=tree_scenarios())
def test_any_tree(scenario: Scenario) -> None:
    """On nodes in racks too."""
    assert check_policy(sia, [scenario], interval=2.0) == 2
