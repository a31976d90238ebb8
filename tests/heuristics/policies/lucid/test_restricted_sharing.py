"""Restricted sharing: which pairs may share, each rule by hand."""

from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.testing import check_policy
from heuristics.policies import restricted_sharing
from tests.heuristics.policies.shared import drawn, halves, held, job, machine, run


def start_of_second(*jobs: Any, **options: Any) -> Any:
    """Find when the second job starts on two GPUs of 8 bytes, where both jobs run at full speed unless told."""
    return run(restricted_sharing, *jobs, cluster=machine(2, memory=8), **options).start_times[1]


@pytest.mark.parametrize(("gpus", "largest", "start"), [(1, 0, 9), (1, 1, 1), (2, 1, 9), (2, 2, 1)])
def test_only_small_jobs_share(gpus: int, largest: int, start: float) -> None:
    """By default jobs on several GPUs do not share, as the paper of Castor says of Lucid."""
    jobs = job("a", 0, 9, gpus), job("b", 1, 3, gpus)
    assert run(restricted_sharing, *jobs, cluster=machine(gpus), largest=largest).start_times == (0, start)


@pytest.mark.parametrize(
    ("of_a", "of_b", "threshold", "start"),
    [
        (1.1, 1.1, 2, 1),  # 1 + 1
        (1.2, 1.0, 2, 1),  # 2 + 0
        (1.2, 1.1, 2, 9),  # 2 + 1
        (1.2, 1.2, 4, 1),
        (1.1, 1.0, 0, 9),
        (1.05, 1.05, 0, 1),
    ],
)
def test_threshold(of_a: float, of_b: float, threshold: int, start: float) -> None:
    """The scores of both jobs are added."""
    slow = {"a": {"b": of_a}, "b": {"a": of_b}}
    jobs = job("a", 0, 9, 2), job("b", 1, 3, 2)
    assert start_of_second(*jobs, largest=2, slowdowns=slow, threshold=threshold) == start


@pytest.mark.parametrize(("seconds", "ratio", "start"), [(18, 2.0, 1), (19, 2.0, 9), (4, 0.5, 1), (5, 0.5, 9)])
def test_ratio(seconds: float, ratio: float, start: float) -> None:
    """A job that is too large for its partner waits."""
    assert start_of_second(job("a", 0, 9, 2), job("b", 1, seconds, 2), largest=2, ratio=ratio) == start


def test_pairs_are_of_one_size_and_two_jobs() -> None:
    """A job on one GPU joins no job on two, nor one that shares already."""
    assert start_of_second(job("a", 0, 9, 2), job("b", 1, 3, 1), largest=2) == 9
    jobs = [job("a", 0, 9, 2), job("b", 1, 3, 2), job("c", 2, 2, 2)]
    assert run(restricted_sharing, *jobs, cluster=machine(2), largest=2).start_times == (0, 1, 4)


def test_memory() -> None:
    """A job keeps its whole batch, and waits where that does not fit."""
    jobs = job("a", 0, 9, 2, memory=4), job("b", 1, 3, 2, memory=6, modes=[halves(2, 1.0, 1)])
    assert start_of_second(*jobs, largest=2) == 9


@pytest.mark.parametrize(("share_first", "gpu"), [(True, 0), (False, 1)])
def test_partners_come_before_free_gpus(share_first: bool, gpu: int) -> None:
    """A job that may share does so while GPUs are free, unless told otherwise."""
    jobs = job("a", 0, 9, 1), job("b", 1, 3, 1)
    replayed = run(restricted_sharing, *jobs, cluster=machine(2), share_first=share_first)
    assert held(replayed, "b") == [(1, (gpu,), "")]


def test_the_first_partner_is_taken() -> None:
    """Of several partners it is the one that has run longest."""
    jobs = job("x", 0, 5, 2), job("a", 0, 9, 1), job("b", 5, 8, 1), job("c", 6, 3, 1)
    slow = {"a": {"b": 9.0}, "b": {"a": 9.0}}
    replayed = run(restricted_sharing, *jobs, cluster=machine(3), slowdowns=slow)
    assert held(replayed, "c")[0][1] == held(replayed, "a")[0][1]


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, whatever the options."""
    random = Random(14)
    scenarios = [drawn(random, rough=rough) for rough in (False, True) for _ in range(4)]
    assert check_policy(restricted_sharing, scenarios) == 16
    assert check_policy(restricted_sharing, scenarios, largest=8, threshold=4, order="time") == 16


@pytest.mark.parametrize(
    ("option", "value"),
    [("largest", -1), ("threshold", -1), ("ratio", 0), ("order", "?"), ("placement", "?")],
)
def test_bad_options(option: str, value: Any) -> None:
    """An option out of its range is refused in one line that names it."""
    with pytest.raises(InvalidInput, match=f"^{option}: "):
        start_of_second(job("a", 0, 5, 2), **{option: value})
