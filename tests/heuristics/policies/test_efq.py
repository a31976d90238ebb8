"""Elastic fair queuing: the figures of the paper, exactly, and what the paper leaves open."""

from fractions import Fraction
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import RELAUNCH_OVERHEADS, CapacityChange, Scenario
from gsopt.scenario.speed import linear_menu
from gsopt.schedule.fairness import gps_finish_times
from gsopt.simulation import Replay, simulate
from gsopt.testing import check_policy
from heuristics.policies import efq
from tests.gsopt.simulation.scenarios import bundle
from tests.heuristics.policies.shared import pieces

#: Two jobs of Figure 4 scale to 4 of 6 GPUs: on 6 they are no faster, which is less than alpha on each.
_TO_FOUR = ((1, 1.0), (2, 2.0), (4, 4.0), (6, 4.0))
_TO_SIX = linear_menu(1, [1, 2, 4, 6])


def _elastic(*jobs: tuple[float, float, Any]) -> Workload:
    """Make a workload of jobs that demand one GPU, given by release date, GPU-seconds and menu."""
    return bundle(
        Job(name=f"job {i}", release_date=r, duration=work, gpus=1, menu=menu)
        for i, (r, work, menu) in enumerate(jobs, start=1)
    )


def _allocation(run: Replay) -> dict[str, list[tuple[Any, Any, int]]]:
    """Return what each job holds and when."""
    held: dict[str, list[tuple[Any, Any, int]]] = {}
    for piece in pieces(run):
        held.setdefault(piece.job, []).append((piece.start, piece.end, piece.gpus))
    return held


@pytest.mark.parametrize(
    ("sizes", "fluid", "completions"),
    [  # tenths of an hour on the whole cluster
        ((15, 30, 33), (45, 75, 78), (15, 45, 78)),
        ((20, 20, 40), (60, 60, 80), (20, 40, 80)),
    ],
)
def test_figure_1(sizes: tuple[int, ...], fluid: tuple[int, ...], completions: tuple[int, ...]) -> None:
    """Ares, Figure 1: one after the other on all GPUs, no job is later than under the fluid share."""
    jobs = _elastic(*((0, 4 * size, linear_menu(1, [1, 2, 4])) for size in sizes))
    run = simulate(jobs, efq, cluster=4, exact=True)

    assert tuple(gps_finish_times(jobs, 4, exact=True)) == fluid
    assert run.completion_times == completions
    assert run.metrics.gps_unfair_fraction == 0
    if sizes == (15, 30, 33):
        assert (sum(fluid) / 30, sum(completions) / 30) == (6.6, 4.6)


def test_figure_4() -> None:
    """Ares, Figure 4: job 1 and 3 use 4 of 6 GPUs, job 2 what they leave, and in [3, 5.5] that is 2."""
    jobs = _elastic((0, 12, _TO_FOUR), (0, 24, _TO_SIX), (2, 12, _TO_FOUR))
    run = simulate(jobs, efq, cluster=6, exact=True, record=True)
    later = Fraction(11, 2)

    assert run.completion_times == (3, 8, later)
    assert gps_finish_times(jobs, 6, exact=True) == [5, 8, 7]
    assert _allocation(run) == {
        "job 1": [(0, 3, 4)],
        "job 2": [(0, 2, 2), (3, later, 2), (later, 8, 6)],
        "job 3": [(2, 3, 2), (3, later, 4)],
    }
    assert (run.metrics.preemptions, run.metrics.resizes, run.metrics.gps_unfair_fraction) == (1, 2, 0)


def test_the_threshold_decides_how_far_a_job_grows() -> None:
    """On 4 GPUs each does 3/5 of its work: too little for 0.75, enough for 0.6."""
    jobs = _elastic((0, 12, ((1, 1.0), (2, 1.8), (4, 2.4))))
    counts = [simulate(jobs, efq, cluster=4, alpha=alpha, record=True) for alpha in (0.95, 0.75, 0.6)]
    assert [_allocation(run)["job 1"][0][2] for run in counts] == [1, 2, 4]


@pytest.mark.parametrize(("skip", "completions"), [(True, (2, 5, 7)), (False, (2, 5, 9))])
def test_skipping_is_an_option(skip: bool, completions: tuple[int, ...]) -> None:
    """A job that does not fit beside the one before it is skipped, or blocks those behind it."""
    sizes = [(2, 2), (3, 2), (7, 1)]  # seconds and GPUs; virtual finish times 4, 6 and 7
    jobs = bundle(Job(name=f"j{i}", release_date=0, duration=d, gpus=g) for i, (d, g) in enumerate(sizes))
    run = simulate(jobs, efq, cluster=3, skip=skip, exact=True)
    assert run.completion_times == completions


def test_a_stop_and_a_resize_cost_a_relaunch() -> None:
    """A BERT job pays 73 s when it shrinks for a shorter job, and again when it grows."""
    jobs = bundle(
        [
            Job(name="long", release_date=0, duration=4000, gpus=1, menu=_TO_SIX, model="bert"),
            Job(name="short", release_date=100, duration=400, gpus=1, menu=_TO_FOUR, model="resnet50"),
        ]
    )
    run = simulate(jobs, efq, cluster=6, overheads=RELAUNCH_OVERHEADS, exact=True, record=True)
    # 600 s of work are done at 100 s; then 27 s on 2 GPUs, and the rest on 6
    assert run.completion_times == (200 + 73 + Fraction(4000 - 600 - 54, 6), 200)
    assert run.metrics.resizes == 2


def test_rounds_decide_at_their_ends() -> None:
    """In rounds every start, stop and resize of Figure 4 waits for a multiple of the round length."""
    jobs = _elastic((0, 12, _TO_FOUR), (0, 24, _TO_SIX), (2, 12, _TO_FOUR))
    run = simulate(jobs, efq, cluster=6, exact=True, record=True, round_length=2)
    assert _allocation(run) == {
        "job 1": [(0, 3, 4)],
        "job 2": [(0, 2, 2), (4, 6, 2), (6, 8 + Fraction(2, 3), 6)],
        "job 3": [(2, 4, 2), (4, 6, 4)],
    }


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    jobs = _elastic((0, 12, _TO_FOUR), (0, 24, _TO_SIX), (2, 12, _TO_FOUR))
    drop = [CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=6)]
    steady = Scenario(workload=jobs, cluster=Cluster.plain(6))
    unsteady = steady.model_copy(update={"capacity_changes": tuple(drop)})
    assert check_policy(efq, [steady, unsteady]) == 4
    assert check_policy(efq, [steady, unsteady], skip=False, alpha=0.5) == 4


@pytest.mark.parametrize("alpha", [0, -1, 1.01, float("nan"), float("inf"), "1", None])
def test_bad_alpha(alpha: Any) -> None:
    """A threshold that is no number above 0 and at most 1 is refused."""
    with pytest.raises(InvalidInput, match=r"^alpha: .* must be a number above 0 and at most 1$"):
        simulate(_elastic((0, 1, ())), efq, cluster=1, alpha=alpha)
