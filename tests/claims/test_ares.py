"""Claims of Ares about elastic fair queuing, in fractions or by counting."""

from collections import defaultdict
from fractions import Fraction
from itertools import chain
from math import log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.problems.scheduling import Run, SchedulingSolution
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.speed import linear_menu
from gsopt.schedule.fairness import VirtualTime, gps_finish_times
from gsopt.simulation import simulate
from heuristics.policies import efq, srtf
from heuristics.policies.efq.delays import longest_busy_period
from instances.scheduling import figure_4
from instances.traces import ares
from instances.traces.ares import NUMBERS
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, workloads


class Counted(float):
    """A number that counts how often it is compared."""

    comparisons = 0

    def __radd__(self, other: float) -> "Counted":
        return Counted(float(other) + float(self))

    def __lt__(self, other: float) -> bool:
        Counted.comparisons += 1
        return float(self) < float(other)

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return float(self) == other

    __hash__ = float.__hash__


@settings(deadline=None, max_examples=cases(400))
@given(gpus=st.integers(1, 6), data=st.data())
def test_virtual_finish_times_are_the_order_of_completion(gpus: int, data: st.DataObject) -> None:
    """Fixed at the release, they order jobs as they complete under the fluid share, whatever comes later."""
    jobs = data.draw(workloads(gpus)).jobs
    clock, fixed = VirtualTime(gpus, Fraction), []
    for number, job in enumerate(jobs):
        clock.advance(Fraction(job.release_date))
        fixed.append((clock.arrive(number, Fraction(job.duration) * job.gpus), number))
    completions = gps_finish_times(bundle(jobs), gpus, exact=True)

    in_order = [completions[number] for _, number in sorted(fixed)]
    assert in_order == sorted(in_order)


@settings(deadline=None, max_examples=cases(400))
@given(gpus=st.integers(1, 6), data=st.data())
def test_equation_5(gpus: int, data: st.DataObject) -> None:
    """What arrives from some moment on and completes no later than a job is served between the two."""
    jobs = data.draw(workloads(gpus)).jobs
    completions = gps_finish_times(bundle(jobs), gpus, exact=True)
    for end in completions:
        for begin in {Fraction(job.release_date) for job in jobs}:
            served = sum(
                Fraction(job.duration) * job.gpus
                for job, completion in zip(jobs, completions, strict=True)
                if job.release_date >= begin and completion <= end
            )
            assert served == 0 or end >= begin + served / gpus


@pytest.mark.parametrize("jobs", [2**6, 2**9, 2**12])
def test_the_place_in_the_order_takes_logarithmic_work(jobs: int) -> None:
    """However many jobs there are, arriving and completing take at most a few comparisons per doubling."""
    clock = VirtualTime(1, Counted)
    Counted.comparisons = 0
    for number in range(jobs):
        clock.arrive(number, Counted(jobs - number))  # each the first: the longest way up the heap
    assert Counted.comparisons <= 2 * jobs * log2(jobs)
    Counted.comparisons = 0
    assert len(clock.advance(None)) == jobs
    assert Counted.comparisons <= 5 * jobs * log2(jobs)


@pytest.mark.parametrize("gpus", [2, 16, 128])
def test_a_decision_may_have_to_stop_every_job(gpus: int) -> None:
    """A short job on all GPUs stops as many jobs as there are GPUs: what is to be done is not logarithmic."""
    running = [Job(name=str(i), release_date=0, duration=1000 * gpus, gpus=1) for i in range(gpus)]
    arriving = Job(name="all", release_date=1, duration=1, gpus=gpus)
    run = simulate(Workload(jobs=[*running, arriving]), efq, cluster=gpus, bound=False)

    assert run.metrics.preemptions == gpus
    assert run.completion_times[-1] == 2


def test_jobs_released_together_run_smallest_first() -> None:
    """Their virtual finish times are their GPU-seconds: the smallest goes first, be it the longest."""
    sizes = [(6, 1), (2, 4), (1, 4)]  # seconds and GPUs
    jobs = bundle(Job(name=str(i), release_date=0, duration=d, gpus=g) for i, (d, g) in enumerate(sizes))
    assert simulate(jobs, efq, cluster=4, exact=True).completion_times == (7, 9, 1)


@pytest.mark.parametrize("stream", [12, 40, 160])
def test_a_long_job_is_not_starved(stream: int) -> None:
    """Beside a stream of short jobs that fills the GPU it completes under fair queuing at 11 s.

    By the shortest remaining time it waits for the end of the stream, however long that is.
    """
    long = Job(name="long", release_date=0, duration=3, gpus=1)
    short = [Job(name=str(i), release_date=i, duration=1, gpus=1) for i in range(stream)]
    ends = [
        simulate(bundle([long, *short]), policy, cluster=1, exact=True).completion_times
        for policy in (efq, srtf)
    ]

    assert (ends[0][0], ends[1][0]) == (11, stream + 3)


def test_growth_can_hurt_other_jobs() -> None:
    """A job that takes a second GPU at 3/4 efficiency makes the other wait: 23/6 s instead of 5/2 s.

    Under the fluid share the other ends at 9/4 s.
    """
    growing = Job(name="growing", release_date=0, duration=2, gpus=1, menu=((1, 1.0), (2, 1.5)))
    rigid = Job(name="rigid", release_date=0, duration=2.5, gpus=1)
    jobs = bundle([growing, rigid])
    ends = [simulate(jobs, efq, cluster=2, alpha=alpha, exact=True).completion_times for alpha in (0.75, 1.0)]

    assert ends == [(Fraction(4, 3), Fraction(23, 6)), (2, Fraction(5, 2))]
    assert gps_finish_times(jobs, 2, exact=True) == [2, Fraction(9, 4)]


@pytest.mark.parametrize("trace", NUMBERS)
def test_busy_periods_of_the_traces(traces: Path, trace: str) -> None:
    """All GPUs are held for a twentieth of the time at a stretch, at most; jobs are there nearly all along."""
    workload = ares(traces, trace=trace, number=1).workload
    run = simulate(workload, efq, cluster=64, record=True, bound=False)
    assert run.schedule is not None
    all_held, jobs_there = (
        longest_busy_period(run.schedule, run.scenario, busy) / run.metrics.makespan
        for busy in ("GPUs", "jobs")
    )

    assert all_held < 0.05
    assert jobs_there > 0.9


def test_speed_on_more_gpus(traces: Path) -> None:
    """As Sia measured it, every model can more than double its speed on two GPUs; from there each gains less.

    On eight GPUs ResNet-50 is best, with at least 0.92 of its speed per GPU.
    """
    menus: dict[str, list[dict[int, float]]] = defaultdict(list)
    for number in range(1, NUMBERS["philly"] + 1):
        for job in ares(traces, number=number, halvings=3).workload.jobs:
            if job.gpus == 1 and job.menu:
                menus[job.model].append(dict(job.menu))

    assert len(menus) == 5
    assert all(any(menu[2] > 2 for menu in found) for found in menus.values())
    for menu in chain.from_iterable(menus.values()):
        each = [menu[gpus] / gpus for gpus in (2, 4, 8, 16)]
        assert each == sorted(each, reverse=True)
    slowest = {model: min(menu[8] / 8 for menu in found) for model, found in menus.items()}
    assert max(slowest, key=slowest.__getitem__) == "imagenet"
    assert slowest["imagenet"] > 0.92


def four(counts: tuple[int, ...]) -> Workload:
    """Make the jobs of Figure 4, the second of which may use some numbers of GPUs."""
    to_four = linear_menu(1, [1, 2, 4])
    sizes: list[tuple[float, float, Any]] = [
        (0, 12, to_four),
        (0, 24, linear_menu(1, counts)),
        (2, 12, to_four),
    ]
    return bundle(
        Job(name=f"job {i}", release_date=release, duration=work, gpus=1, menu=menu)
        for i, (release, work, menu) in enumerate(sizes, start=1)
    )


def test_figure_4_by_doublings_is_late() -> None:
    """Section 3.3 doubles counts: on four of the six GPUs job 2 ends at 9.25 s, its fair share at 8 s."""
    assert simulate(four((1, 2, 4, 6)), efq, cluster=6, exact=True).completion_times[1] == 8
    assert simulate(four((1, 2, 4)), efq, cluster=6, exact=True).completion_times[1] == Fraction(37, 4)


def test_figure_4_without_the_leftover_gpus_is_late() -> None:
    """If job 2 is idle until 5.5 s, as the text can be read, it ends at 53/6 s and not at 8 s or before."""
    end = 5.5 + 20 / 6
    runs = [
        ("job 1", 0, 3, 4),
        ("job 2", 0, 2, 2),
        ("job 3", 2, 3, 2),
        ("job 3", 3, 5.5, 4),
        ("job 2", 5.5, end, 6),
    ]
    idle = SchedulingSolution(runs=[Run(job=j, start=float(s), end=float(e), gpus=g) for j, s, e, g in runs])

    assert figure_4().violations(idle) == []
    (late,) = figure_4().model_copy(update={"fairness": 0.0}).violations(idle)
    assert late.startswith("job 'job 2' completes at 8.8")
