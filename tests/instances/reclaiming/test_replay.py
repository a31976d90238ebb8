"""Replay, against a plain simulation that tries every waiting job at every departure."""

from collections.abc import Sequence
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.scenario.job import Job, Workload
from instances.reclaiming.best_fit import BestFit
from instances.reclaiming.replay import Replay
from instances.reclaiming.workers import Mode, split
from tests.effort import cases

ROWS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 15), st.sampled_from([1, 2, 4, 6, 8, 12, 16, 24, 40])),
    max_size=30,
)


def workload(rows: list[tuple[int, int, int]]) -> Workload:
    """Return a workload from release dates, durations and GPUs."""
    return Workload(
        jobs=tuple(
            Job(name=f"j{number}", release_date=release, duration=duration, gpus=gpus)
            for number, (release, duration, gpus) in enumerate(rows)
        )
    )


def plain_replay(jobs: Sequence[Job], servers: int, until: int) -> tuple[dict[str, dict[int, int]], int]:
    """Step through whole seconds: departures, then the whole queue in order, then arrivals."""
    cluster = BestFit(servers)
    running: dict[str, tuple[float, dict[int, int]]] = {}
    queue: list[Job] = []

    def start(candidates: list[Job], now: int) -> list[Job]:
        left = []
        for job in candidates:
            placement = cluster.place(split(job.gpus, min(job.gpus, 8)))
            if placement is None:
                left.append(job)
            else:
                running[job.name] = now + job.duration, placement
        return left

    for now in range(until + 1):
        ended = [name for name, (end, _) in running.items() if end == now]
        for name in ended:
            cluster.release(running.pop(name)[1])
        if ended:
            queue = start(queue, now)
        for job in jobs:
            if job.release_date == now and job.gpus <= 8 * servers:
                queue += start([job], now)
    return {name: placement for name, (_, placement) in running.items()}, len(queue)


@settings(deadline=None, max_examples=cases(200))
@given(ROWS, st.integers(1, 4), st.lists(st.integers(0, 60), min_size=1, max_size=4))
def test_the_replay_is_that_of_a_plain_simulation(
    rows: list[tuple[int, int, int]], servers: int, times: list[int]
) -> None:
    """At every time the same jobs run on the same servers, and as many wait."""
    jobs = workload(rows)
    replay = Replay(jobs, servers)
    for time in sorted(times):
        replay.advance(time)
        assert (replay.running, replay.waiting) == plain_replay(jobs.jobs, servers, time)


@settings(deadline=None, max_examples=cases(60))
@given(ROWS, st.integers(1, 4), st.sampled_from(get_args(Mode)), st.integers(0, 99))
def test_every_job_runs_or_is_left_out(
    rows: list[tuple[int, int, int]], servers: int, mode: Mode, seed: int
) -> None:
    """In the end nothing runs or waits, and exactly the jobs larger than the cluster were left out."""
    jobs = workload(rows)
    replay = Replay(jobs, servers, mode, seed)
    replay.advance(10_000)

    assert (replay.running, replay.waiting) == ({}, 0)
    assert set(replay.left_out) == {job.name for job in jobs.jobs if job.gpus > 8 * servers}


def test_a_large_job_takes_whole_servers_first() -> None:
    """A job of 20 GPUs has two whole servers, and its last 4 GPUs go where they fit best."""
    replay = Replay(workload([(0, 9, 3), (1, 9, 20)]), servers=4)
    replay.advance(1)

    assert replay.running == {"j0": {0: 3}, "j1": {1: 8, 2: 8, 0: 4}}


def test_a_later_job_passes_one_that_does_not_fit() -> None:
    """A job of a whole server waits, a smaller one submitted later starts; the first follows when it fits."""
    replay = Replay(workload([(0, 10, 4), (1, 10, 8), (2, 3, 4)]), servers=1)

    replay.advance(2)
    assert (list(replay.running), replay.waiting) == (["j0", "j2"], 1)
    replay.advance(10)
    assert (list(replay.running), replay.waiting) == (["j1"], 0)


def test_waiting_jobs_start_in_the_order_of_their_arrival() -> None:
    """When room for one job appears, the job that came first gets it, whatever its size."""
    replay = Replay(workload([(0, 10, 8), (1, 9, 6), (2, 9, 8), (3, 9, 2), (4, 9, 1)]), servers=1)
    replay.advance(10)

    assert list(replay.running) == ["j1", "j3"]
    assert replay.waiting == 2
