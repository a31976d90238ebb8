"""Best pairs: what all pairs save together counts."""

from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.testing import check_policy
from heuristics.policies import best_pairs, sjf_bsbf
from tests.heuristics.policies.shared import drawn, halves, held, job, machine, run

PAIR = machine(2, memory=8)


def test_together_is_better_than_one_by_one() -> None:
    """The shorter job leaves its best partner to the other, which suits nobody else."""
    jobs = job("a", 0, 8, 1), job("b", 0, 9, 1), job("c", 1, 2, 1), job("d", 1, 3, 1)
    slow = {"b": {"d": 9.0}, "d": {"b": 9.0}}
    together, alone = (run(policy, *jobs, cluster=PAIR, slowdowns=slow) for policy in (best_pairs, sjf_bsbf))
    assert together.completion_times == (8, 9, 3, 4)
    assert alone.completion_times == (8, 9, 3, 6)


def test_pairs_that_save_nothing_wait() -> None:
    """Two jobs of 1 s that are three times slower beside each other do not share."""
    assert run(best_pairs, job("a", 0, 2, 2), job("b", 1, 1, 2), cluster=PAIR, slowdown=3.0).start_times == (
        0,
        2,
    )


def test_ties_wait_in_floats_too() -> None:
    """With slowdowns of 1.5 sharing is exactly as good as waiting, whatever the sums of seconds round to."""
    jobs = job("a", 11.125, 5.226, 2), job("b", 11.725, 6.445, 2)
    for exact in (True, False):
        replayed = run(best_pairs, *jobs, cluster=PAIR, slowdown=1.5, exact=exact)
        assert [float(time) for time in replayed.start_times] == pytest.approx([11.125, 16.351])


@pytest.mark.parametrize(("memory", "start", "mode"), [(2, 1, ""), (4, 1, "2 steps"), (7, 9, "")])
def test_memory(memory: int, start: float, mode: str) -> None:
    """A job starts in the best sub-batch that fits beside its partner."""
    jobs = job("a", 0, 9, 2, memory=memory), job("b", 1, 9, 2, memory=6, modes=[halves(2, 0.9, 4)])
    assert held(run(best_pairs, *jobs, cluster=PAIR), "b") == [(start, (0, 1), mode)]


@pytest.mark.parametrize(("several", "start", "behind"), [(False, 9, 9), (True, 1, 6)])
def test_several_partners(several: bool, start: float, behind: float) -> None:
    """A job that is wider than each partner waits, or shares with two of them; pairs come before it."""
    jobs = job("a", 0, 9, 1), job("b", 0, 9, 2), job("wide", 1, 1, 3)
    assert held(run(best_pairs, *jobs, cluster=machine(3), several=several), "wide")[0][:2] == (
        start,
        (0, 1, 2),
    )
    more = *jobs, job("c", 1, 5, 2)
    assert run(best_pairs, *more, cluster=machine(3), several=several).start_times[2:] == (behind, 1)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, whatever the options."""
    random = Random(13)
    scenarios = [drawn(random, rough=rough) for rough in (False, True) for _ in range(4)]
    assert check_policy(best_pairs, scenarios) == 16
    assert check_policy(best_pairs, scenarios, order="gpu_time", several=True, placement="first") == 16


@pytest.mark.parametrize("option", ["order", "placement"])
def test_words(option: str) -> None:
    """A word that an option does not know is refused in one line with those that it knows."""
    options: dict[str, Any] = {option: "neither"}
    with pytest.raises(InvalidInput, match=f"^{option}: 'neither': must be one of "):
        run(best_pairs, job("a", 0, 5, 2), cluster=PAIR, **options)
