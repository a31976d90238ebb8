"""Gandiva as in comparisons of deadlines: turns on groups of GPUs."""

from functools import partial
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.simulation import Policy, Replay, simulate
from gsopt.testing import check_policy
from heuristics.policies import gandiva_rotation
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle
from tests.heuristics.policies.shared import drawn, held, job, machine, run


def made(*sizes: tuple[float, float, int], gpus: int = 4, **options: Any) -> Replay:
    """Run jobs of (release date, duration, GPUs) on a plain cluster."""
    jobs = bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(sizes))
    return simulate(jobs, gandiva_rotation, cluster=gpus, record=True, **options)


def starts(run: Replay, name: str) -> list[float]:
    """Return when a job began its turns."""
    assert run.schedule is not None
    return [each.start for each in run.schedule.segments if each.job == name]


def test_jobs_of_a_group_take_turns_of_a_minute() -> None:
    """Three jobs on one GPU, of which the second came late: turns end at whole minutes."""
    run = made((0, 100, 1), (30, 100, 1), (30, 10, 1), gpus=1)
    assert starts(run, "j0") == [0, 130]
    assert starts(run, "j1") == [60, 170]
    assert starts(run, "j2") == [120]


def test_turns_are_as_long_as_they_are_said_to_be() -> None:
    """Two jobs take turns of 20 s."""
    run = made((0, 50, 1), (0, 30, 1), gpus=1, span=20)
    assert (starts(run, "j0"), starts(run, "j1")) == ([0, 40, 70], [20, 60])


def test_groups_are_of_jobs_of_one_size() -> None:
    """Jobs join the group of their size that has the fewest, and nobody else's."""
    run = made((0, 100, 2), (0, 100, 1), (0, 100, 1), (0, 100, 1), (0, 100, 2))
    assert [starts(run, name)[0] for name in ("j0", "j1", "j2", "j3", "j4")] == [0, 0, 0, 60, 60]


def test_a_size_without_a_group_waits_for_gpus() -> None:
    """While a large job waits, a job that comes later joins a group, and goes on there when it is its turn."""
    run = made((0, 100, 1), (0, 50, 3), (10, 10, 4), (20, 10, 3))
    assert starts(run, "j2") == [100]
    assert starts(run, "j3") == [50]


def test_nobody_passes_who_waits_for_gpus() -> None:
    """A job of a size without a group waits behind one that waits for more GPUs than are free."""
    run = made((0, 100, 1), (10, 10, 4), (20, 10, 2))
    assert [starts(run, name) for name in ("j1", "j2")] == [[100], [110]]


def test_rounding_is_no_progress() -> None:
    """Five turns are as long as a start; that they are longer by 3e-17 s in fractions is no turn's work."""
    jobs = bundle(Job(name=name, release_date=0, duration=1, gpus=1) for name in "ab")
    start = Scenario(workload=jobs, cluster=Cluster.plain(1), overheads={"": Overhead(start=0.5)})
    assert check_policy(gandiva_rotation, [start], span=0.1) == 2


def test_turns_go_on_when_a_partner_is_complete() -> None:
    """Whoever shared with a job that ends keeps its turn, though another one has waited."""
    three = [job("a", 0, 30, 1), job("x", 0, 200, 1), job("n", 0, 200, 1)]
    slow = {"a": {"x": 3.0, "n": 1.0}, "n": {"x": 3.0, "a": 1.0}, "x": {"a": 3.0, "n": 3.0}}
    shared = run(gandiva_rotation, *three, cluster=machine(1), slowdowns=slow)
    assert held(shared, "x")[0][0] == 60
    assert [each[0] for each in held(shared, "n")][:2] == [0, 120]


def test_whoever_has_not_begun_to_work_keeps_its_turn() -> None:
    """Where starting takes longer than a slice, jobs get something done in each turn."""
    run = made((0, 100, 1), (0, 100, 1), gpus=1, overheads=Overhead(start=90.0))
    assert starts(run, "j0") == [0, 240, 480, 720]
    assert starts(run, "j1") == [120, 360, 600, 820]


def test_jobs_without_checkpoints_run_to_their_end() -> None:
    """Whoever would begin anew keeps its turn, and the others wait."""
    first = job("a", 0, 100, 1, checkpoints=False)
    others = job("b", 0, 100, 1), job("c", 0, 70, 1)
    rotated = run(gandiva_rotation, first, *others, cluster=machine(1), share_limit=1)
    assert rotated.completion_times == (100, 270, 250)


def test_jobs_share_only_where_it_pays() -> None:
    """Two jobs that make 4/3 of the progress of one share from the start, others take turns."""
    two = [job("a", 0, 60, 1), job("b", 0, 60, 1)]
    good = run(gandiva_rotation, *two, cluster=machine(1), slowdown=1.5)
    assert good.completion_times == (90, 90)
    bad = run(gandiva_rotation, *two, cluster=machine(1), slowdown=2.5)
    assert bad.completion_times == (60, 120)
    anyhow = run(gandiva_rotation, *two, cluster=machine(1), slowdown=2.5, sharing="memory")
    assert anyhow.completion_times == (150, 150)
    never = run(gandiva_rotation, *two, cluster=machine(1), slowdown=1.5, sharing="never")
    assert never.completion_times == (60, 120)


def test_memory_is_never_exceeded() -> None:
    """Jobs whose memory does not fit together take turns, whatever they would gain."""
    two = [job("a", 0, 60, 1, memory=6), job("b", 0, 60, 1, memory=6)]
    for sharing in ("measured", "memory"):
        apart = run(gandiva_rotation, *two, cluster=machine(1, memory=8), sharing=sharing)
        assert apart.completion_times == (60, 120)


def test_a_partner_follows_as_soon_as_one_is_complete() -> None:
    """A third job takes the place of the first one beside the second at once."""
    three = [job("a", 0, 30, 1), job("b", 0, 200, 1), job("c", 0, 30, 1)]
    shared = run(gandiva_rotation, *three, cluster=machine(1))
    assert held(shared, "c") == [(30, (0,), "")]


def test_gpus_that_go_away_dissolve_their_group() -> None:
    """Whoever took turns on them finds a place elsewhere."""
    jobs = bundle(Job(name=n, release_date=0, duration=100, gpus=1) for n in "abc")
    changes = [{"time": 50.0, "gpus": 1}, {"time": 1000.0, "gpus": 2}]
    racks = Cluster.uniform(machines=2, gpus=1)
    run = simulate(jobs, gandiva_rotation, cluster=racks, capacity_changes=changes, record=True)
    assert run.metrics.completed == 3


@pytest.mark.parametrize("cluster", [Cluster.plain(2), Cluster.uniform(machines=2, gpus=1)])
def test_gpus_that_go_as_the_last_job_completes_dissolve_its_group(cluster: Cluster) -> None:
    """Nobody loses the GPUs, as nobody holds them, and still no turn begins there before they are back."""
    jobs = bundle(Job(name=name, release_date=0, duration=1, gpus=1) for name in "abcd")
    changes = [CapacityChange(time=1, gpus=1), CapacityChange(time=4, gpus=2)]
    run = simulate(jobs, gandiva_rotation, cluster=cluster, capacity_changes=changes)
    assert run.completion_times == (1, 1, 2, 3)


def test_turns_end_after_they_begin_at_dates_of_today() -> None:
    """Where rounding makes a date the multiple of a span that follows it, a turn ends one span later."""
    begin, span = 1.7e9 + 0.1, 0.06
    assert (begin // span + 1) * span == begin
    run = made((begin, 0.2, 1), (begin, 0.2, 1), gpus=1, span=span)
    assert max(run.completion_times) == pytest.approx(begin + 0.4, abs=1e-6)


def test_always_legal() -> None:
    """Every decision is legal and every figure the judge's, with phases, overheads and GPUs that go."""
    policies: list[Policy] = [
        gandiva_rotation,
        partial(gandiva_rotation, span=2),
        partial(gandiva_rotation, span=0.5, sharing="memory"),
    ]
    for seed in range(cases(8)):
        for policy in policies:
            assert check_policy(policy, [drawn(Random(seed), rough=True)]) == 2


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"span": 0}, "span: 0: must be a finite number of seconds, at least"),
        ({"sharing": "always"}, "sharing: 'always': must be one of measured, memory, never"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], line: str) -> None:
    """An option out of its range is one line."""
    with pytest.raises(InvalidInput, match=line):
        made((0, 1, 1), **options)
