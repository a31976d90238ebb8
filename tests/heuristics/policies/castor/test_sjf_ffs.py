"""Shortest job first with first-fit sharing: it shares where it can, whatever that costs."""

from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.testing import check_policy
from heuristics.policies import sjf_bsbf, sjf_ffs
from tests.heuristics.policies.shared import drawn, halves, held, job, machine, run

PAIR = machine(2, memory=8)


def test_it_shares_where_that_costs() -> None:
    """Two jobs of 1 s that are three times slower beside each other take 3 s each instead of 1 and 2."""
    jobs = job("a", 0, 2, 2), job("b", 1, 1, 2)
    assert run(sjf_ffs, *jobs, cluster=PAIR, slowdown=3.0).completion_times == (4, 4)
    assert run(sjf_bsbf, *jobs, cluster=PAIR, slowdown=3.0).completion_times == (2, 3)


def test_it_shares_only_where_gpus_are_too_few() -> None:
    """A job that fits on free GPUs takes those, and the first shared ones else."""
    jobs = job("a", 0, 9, 1), job("b", 1, 9, 1), job("c", 2, 9, 1)
    replayed = run(sjf_ffs, *jobs, cluster=PAIR, slowdown=1.5)
    assert [held(replayed, name) for name in "bc"] == [[(1, (1,), "")], [(2, (0,), "")]]


@pytest.mark.parametrize(("memory", "start", "mode"), [(2, 1, ""), (4, 1, "2 steps"), (7, 9, "")])
def test_memory(memory: int, start: float, mode: str) -> None:
    """The largest sub-batch that fits beside the running job is taken; where none does the job waits."""
    jobs = job("a", 0, 9, 2, memory=memory), job("b", 1, 9, 2, memory=6, modes=[halves(2, 0.9, 4)])
    assert held(run(sjf_ffs, *jobs, cluster=PAIR), "b") == [(start, (0, 1), mode)]


def test_beside_two_partners_the_smaller_sub_batch_counts() -> None:
    """One partner leaves room for the whole batch and the other for halves, in which the job starts."""
    jobs = job("a", 0, 9, 1, memory=2), job("b", 0, 9, 1, memory=4), job("c", 1, 9, 2, memory=6)
    divided = jobs[2].model_copy(update={"modes": (halves(2, 0.9, 4),)})
    assert held(run(sjf_ffs, *jobs[:2], divided, cluster=PAIR), "c") == [(1, (0, 1), "2 steps")]


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, whatever the options."""
    random = Random(12)
    scenarios = [drawn(random, rough=rough) for rough in (False, True) for _ in range(4)]
    assert check_policy(sjf_ffs, scenarios) == 16
    options: dict[str, Any] = {"free_first": True, "skip": False, "placement": "first", "order": "gpu_time"}
    assert check_policy(sjf_ffs, scenarios, **options) == 16


@pytest.mark.parametrize("option", ["order", "placement"])
def test_words(option: str) -> None:
    """A word that an option does not know is refused in one line with those that it knows."""
    options: dict[str, Any] = {option: "neither"}
    with pytest.raises(InvalidInput, match=f"^{option}: 'neither': must be one of "):
        run(sjf_ffs, job("a", 0, 5, 2), cluster=PAIR, **options)
