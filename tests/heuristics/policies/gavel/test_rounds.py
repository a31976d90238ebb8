"""Rounds: when they begin and end, who takes a turn in them, and when shares are computed."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange
from gsopt.scenario.training import Training
from gsopt.simulation import Replay, State, simulate
from gsopt.simulation.parts.inventory import Inventory
from heuristics.policies.gavel.rounds import Divide, Form, Rounds
from tests.gsopt.simulation.scenarios import bundle

Sizes = Sequence[tuple[float, float, int]]


def equally(state: State, jobs: Sequence[int], inventory: Inventory) -> dict[int, dict[str, float]]:
    """Return all jobs equal shares on all kinds."""
    del state
    return {job: dict.fromkeys(inventory.kinds_of(job), 1 / len(jobs)) for job in jobs}


def always(shares: Callable[[int], dict[str, float]]) -> Divide:
    """Grant each job the same shares each time."""

    def divide(state: State, jobs: Sequence[int], inventory: Inventory) -> dict[int, dict[str, float]]:
        del state, inventory
        return {job: shares(job) for job in jobs}

    return divide


def run(sizes: Sizes, divide: Divide = equally, cluster: Cluster | int = 1, **options: Any) -> Replay:
    """Replay jobs of (release date, duration, GPUs) in fractions."""
    jobs = bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(sizes))
    physics = {name: options.pop(name) for name in ("capacity_changes", "clock_start") if name in options}
    policy = partial(Rounds, divide=divide, **options)
    return simulate(jobs, policy, cluster=cluster, record=True, exact=True, bound=False, **physics)


def turns(replay: Replay, job: str) -> list[tuple[Any, Any]]:
    """Return when a job ran."""
    assert replay.schedule is not None
    return [(each.start, each.end) for each in replay.schedule.segments if each.job == job]


def test_jobs_take_turns_by_what_they_have_had() -> None:
    """Two jobs of equal shares run round by round in turn; the last round ends with its job."""
    replay = run([(0, 540, 1), (0, 540, 1)])
    assert turns(replay, "j0") == [(0, 360), (720, 900)]
    assert turns(replay, "j1") == [(360, 720), (900, 1080)]


def test_a_job_of_twice_the_share_has_two_rounds_of_three() -> None:
    """Of three rounds the job with two thirds of the time has two."""
    divide = always(lambda job: {"gpu": 1 / 3 if job else 2 / 3})
    replay = run([(0, 9000, 1), (0, 9000, 1)], divide, interval=60)
    assert sum(min(end, 1800) - start for start, end in turns(replay, "j0") if start < 1800) == 1200


def test_a_job_that_comes_waits_for_the_next_shares_and_its_room_is_kept() -> None:
    """Shares of second 10 hold until 1,930 s; who comes before runs from the first round after that."""
    replay = run([(10, 4000, 1), (20, 700, 1), (30, 700, 1)], cluster=2, clock_start=0)
    assert turns(replay, "j1")[0][0] == 10 + 6 * 360
    late = run([(10, 4000, 1), (20, 700, 1)], cluster=2, renewal=300, clock_start=0)
    assert late.start_times == (10, 370)


@pytest.mark.parametrize("first", [0, 1_700_000_000])
def test_the_first_shares_hold_until_something_happens(first: int) -> None:
    """As in Gavel's program, a job that comes in the first round runs in the second, whatever the date."""
    found = run([(first, 4000, 1), (first + 20, 700, 1)], cluster=2)
    assert found.start_times == (first, first + 360)


def test_nobody_waits_for_shares_while_all_gpus_are_idle() -> None:
    """When the only job with a share is complete the shares are computed at once."""
    assert run([(10, 100, 1), (20, 700, 1)]).start_times == (10, 110)


def test_a_round_ends_when_all_its_jobs_are_through() -> None:
    """GPUs of a job that completes stay idle until the round is over for all."""
    replay = run([(0, 100, 1), (0, 200, 1), (0, 500, 1)], cluster=2)
    assert replay.start_times == (0, 0, 200)


def test_rounds_of_the_port_begin_at_multiples_of_their_length() -> None:
    """A job that comes in a round runs in the next one, even where all GPUs are idle."""
    replay = run([(10, 100, 1), (400, 700, 1)], form="port", clock_start=0)
    assert replay.start_times == (360, 720)
    replay = run([(10, 100, 1), (365, 50, 1), (366, 30, 1)], form="port", clock_start=0)
    assert replay.start_times == (360, 720, 1080)


def test_the_port_forgets_nothing() -> None:
    """A newcomer has its turns until it has had as much time as the others, whatever the renewal."""
    replay = run([(0, 7200, 1), (720, 7200, 1)], form="port", renewal=1)
    assert turns(replay, "j1")[0] == (720, 1440)


def test_the_original_counts_anew_with_new_shares() -> None:
    """What a job had before the last computation is only what it may miss then, and no part of its time."""
    replay = run([(0, 7200, 1), (720, 7200, 1)], renewal=1)
    assert turns(replay, "j1")[0] == (1080, 1440)


def test_what_does_not_fit_is_skipped_and_runs_on_what_is_left_only_if_it_may() -> None:
    """A large job is passed over; jobs without a share run beside it only where that is allowed."""
    divide = always(lambda job: {"gpu": 0.0 if job else 1.0})
    sizes = [(0, 100, 2), (0, 100, 2), (0, 100, 1)]
    assert run(sizes, divide, cluster=3).start_times == (0, 100, 0)
    assert run(sizes[:1] + sizes[2:], divide, cluster=3, leftovers=False).start_times[0] == 0


@pytest.mark.parametrize(("form", "second"), [("original", 357), ("port", 360)])
def test_a_round_has_whole_steps(form: Form, second: float) -> None:
    """A job with steps of seven seconds is through with a round of the original after 51 of them."""
    jobs = bundle(
        Job(
            name=name,
            release_date=0,
            duration=1400,
            gpus=1,
            batch_size=2,
            training=Training(epoch=1, samples=400),
        )
        for name in "ab"
    )
    replay = simulate(jobs, partial(Rounds, divide=equally, form=form), cluster=1, exact=True, bound=False)
    assert replay.start_times == (0, second)


def test_each_kind_is_given_away_before_the_next() -> None:
    """The original fills the first kind though claims on the second are larger; the port goes by claims."""
    divide = always(lambda job: {"x": 0.1, "y": 0.2 if job else 0.9})
    machines = [Machine(name=kind, gpus=1, gpu_type=kind) for kind in "xy"]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    for form, place in (("original", (0,)), ("port", (1,))):
        replay = run([(0, 100, 1), (0, 100, 1)], divide, cluster=cluster, form=form)
        assert replay.schedule is not None
        assert next(each.placement for each in replay.schedule.segments if each.job == "j0") == place


def test_gpus_that_come_back_are_used_in_the_next_round() -> None:
    """Who found no room has shares from 725 s on; nobody had time since then, and the first job goes first."""
    changes = [CapacityChange(time=0, gpus=1), CapacityChange(time=400, gpus=2)]
    replay = run([(5, 3000, 1), (5, 300, 2)], cluster=2, capacity_changes=changes, renewal=400)
    assert replay.start_times == (5, 1085)


def test_jobs_stay_where_they_are() -> None:
    """A job that runs in the next round too keeps its GPU, though the first one is free."""
    replay = run([(0, 100, 1), (0, 900, 1)], cluster=Cluster.uniform(machines=1, gpus=2))
    assert replay.schedule is not None
    assert [each.placement for each in replay.schedule.segments if each.job == "j1"] == [(1,)]
