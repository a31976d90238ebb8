"""Colocating: who starts where in its turn, whatever a judge says of the pairs."""

from typing import Any

import pytest

from gsopt.simulation import Decider, State
from gsopt.simulation.parts import Match
from heuristics.policies.castor.colocating import Colocating
from tests.heuristics.policies.shared import held, job, machine, run


def anybody(state: State, **options: Any) -> Decider:
    """Let every pair share, the partner with the lower number first."""
    return Colocating(state, key=lambda job: job, judge=lambda _s, _j, partner, _g: Match(partner), **options)


def nobody(state: State, **options: Any) -> Decider:
    """Let no pair share."""
    return Colocating(state, key=lambda job: job, judge=lambda *_pair: None, **options)


def test_the_order_is_that_of_the_key() -> None:
    """Jobs that come at the same time take free GPUs in turn, then shared ones, and the last one waits."""
    jobs = [job(f"j{i}", 0, 2, 1) for i in range(5)]
    replayed = run(anybody, *jobs, cluster=machine(2))
    assert [held(replayed, f"j{i}")[0][:2] for i in range(5)] == [
        (0, (0,)),
        (0, (1,)),
        (0, (0,)),
        (0, (1,)),
        (2, (0,)),
    ]


@pytest.mark.parametrize(("share_first", "gpu"), [(False, 1), (True, 0)])
def test_sharing_first(share_first: bool, gpu: int) -> None:
    """A job may seek partners before it looks at free GPUs, which it takes if it has none."""
    first = run(anybody, job("a", 0, 5, 1), job("b", 1, 5, 1), cluster=machine(2), share_first=share_first)
    assert held(first, "b")[0][1] == (gpu,)
    alone = run(nobody, job("a", 0, 5, 1), job("b", 1, 5, 1), cluster=machine(2), share_first=share_first)
    assert held(alone, "b")[0][1] == (1,)


@pytest.mark.parametrize(("skip", "starts"), [(True, (0, 4, 1)), (False, (0, 4, 6))])
def test_skipping(skip: bool, starts: tuple[float, ...]) -> None:
    """A job that cannot start is skipped, or blocks all behind it."""
    jobs = job("a", 0, 4, 1), job("b", 1, 2, 2), job("c", 1, 3, 1)
    assert run(nobody, *jobs, cluster=machine(2), skip=skip).start_times == starts


def test_a_third_job_never_joins() -> None:
    """Where two jobs are on all GPUs the next one waits, even if the limit is three."""
    jobs = [job(f"j{i}", i, 9, 2) for i in range(3)]
    assert run(anybody, *jobs, cluster=machine(2), share_limit=3).start_times == (0, 1, 9)
