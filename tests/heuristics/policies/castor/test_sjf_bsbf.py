"""Shortest job first with best sharing benefit first: each reading of Algorithms 1 and 2 by hand."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.simulation import replay
from gsopt.testing import check_policy
from heuristics.policies import sjf, sjf_bsbf
from tests.effort import cases
from tests.heuristics.policies.algorithms import literal
from tests.heuristics.policies.shared import drawn, halves, held, job, machine, run

#: A machine of two GPUs of 8 bytes each.
PAIR = machine(2, memory=8)


@pytest.mark.parametrize("rough", [False, True])
def test_algorithm_line_by_line(rough: bool) -> None:
    """Nothing else is decided where pairs that were refused are remembered than where all are looked at."""
    random = Random(7)
    for _ in range(cases(100)):
        scenario = drawn(random, rough=rough)
        ours, plain = (replay(scenario, each, exact=True, record=True) for each in (sjf_bsbf, literal))
        assert ours.schedule == plain.schedule


@pytest.mark.parametrize(
    ("a", "b", "slowdown", "options", "ends"),
    [
        (4, 1, 2, {}, (5, 2)),  # sharing gives 5 + 2 s, waiting 4 + 5
        (4, 1, 2, {"rule": "sign"}, (4, 5)),  # the sign of a function that is not there
        (4, 1, 2, {"rule": "cases"}, (5, 2)),
        (1, 1, 3, {}, (1, 2)),  # sharing gives 3 + 3 s, waiting 1 + 2
        (1, 1, 3, {"rule": "cases"}, (3, 3)),  # Case 1 always shares as printed
    ],
)
def test_theorem(a: float, b: float, slowdown: float, options: Any, ends: tuple[float, float]) -> None:
    """Two jobs share where that gives the smaller sum; the printed tests are options, and fail."""
    jobs = job("a", 0, a + 1, 2), job("b", 1, b, 2)  # whoever runs has a second behind it
    replayed = run(sjf_bsbf, *jobs, cluster=PAIR, slowdown=slowdown, **options)
    assert replayed.completion_times == (ends[0] + 1, ends[1] + 1)


@pytest.mark.parametrize(
    ("memory", "options", "mode"),
    [
        (2, {}, ""),  # for the new job the whole batch is best
        (4, {}, "2 steps"),
        (6, {}, "4 steps"),  # the last one is tried too
        (7, {}, None),
        (4, {"batches": "whole"}, None),  # as printed
        (2, {"batches": "whole"}, ""),
    ],
)
def test_sub_batches_within_the_memory(memory: int, options: Any, mode: str | None) -> None:
    """The largest sub-batch that fits beside the running job is taken, and kept when that has completed."""
    modes = [halves(2, 0.8, 2, steps=4), halves(2, 0.9, 4)]
    jobs = job("a", 0, 9, 2, memory=memory), job("b", 1, 9, 2, memory=6, modes=modes)
    replayed = run(sjf_bsbf, *jobs, cluster=PAIR, **options)
    assert [(start, name) for start, _, name in held(replayed, "b")] == [(9, "") if mode is None else (1, mode)]
    assert [name for _, _, name in held(replayed, "a")] == [""]


def test_a_job_of_one_sample_shares() -> None:
    """A batch that cannot be divided is tried like any other."""
    jobs = job("a", 0, 9, 2), job("b", 1, 3, 2, batch_size=1)
    assert run(sjf_bsbf, *jobs, cluster=PAIR).completion_times == (9, 4)


@pytest.mark.parametrize(("ties", "mode"), [("larger", ""), ("smaller", "2 steps")])
def test_ties_of_sub_batches(ties: str, mode: str) -> None:
    """Of sub-batches with equal means the larger one is taken, or the smaller one as printed."""
    jobs = job("a", 0, 9, 2), job("b", 1, 3, 2, modes=[halves(2, 1.0)])
    assert held(run(sjf_bsbf, *jobs, cluster=PAIR, ties=ties), "b") == [(1, (0, 1), mode)]


@pytest.mark.parametrize(("speed", "start"), [(0.5, 1), (0.4, 5)])
def test_waiting_is_with_the_whole_batch(speed: float, start: float) -> None:
    """In halves 4 s take 8 or 10 s: 4 + 8 s beside the other is as much as 4 + 8 after it, and 4 + 10 more."""
    jobs = job("a", 0, 5, 2, memory=5), job("b", 1, 4, 2, memory=6, modes=[halves(2, speed)])
    assert held(run(sjf_bsbf, *jobs, cluster=PAIR), "b")[0][0] == start


def test_a_partner_gives_what_is_missing() -> None:
    """Of a job on three GPUs one is taken, and the next job takes the others, which it still has to itself."""
    jobs = job("a", 0, 9, 3), job("b", 1, 3, 1), job("c", 1, 4, 2)
    replayed = run(sjf_bsbf, *jobs, cluster=machine(3))
    assert [held(replayed, name) for name in "bc"] == [[(1, (0,), "")], [(1, (1, 2), "")]]


@pytest.mark.parametrize(("free_first", "gpus"), [(False, (0, 1, 2)), (True, (0, 2, 3))])
def test_shared_gpus_come_before_free_ones(free_first: bool, gpus: tuple[int, ...]) -> None:
    """Three GPUs are those of the running job and a free one, or all free ones and one that is shared."""
    jobs = job("a", 0, 9, 2), job("b", 1, 3, 3)
    assert held(run(sjf_bsbf, *jobs, cluster=machine(4), free_first=free_first), "b") == [(1, gpus, "")]


def test_too_few_gpus_leave_a_job_waiting() -> None:
    """With one GPU to share and two free ones a job of four waits, and is asked again when a third is free."""
    jobs = job("a", 0, 9, 1), job("x", 0, 5, 1), job("b", 1, 9, 4)
    slow = {"x": {"b": 6.0}, "b": {"x": 6.0}}
    assert held(run(sjf_bsbf, *jobs, cluster=machine(4), slowdowns=slow), "b") == [(5, (0, 1, 2, 3), "")]


@pytest.mark.parametrize(("seconds", "partner"), [(6, "b"), (8, "a")])
def test_partners_come_by_the_mean_of_the_pair(seconds: float, partner: str) -> None:
    """The shorter of two running jobs makes the smaller mean; of equal ones the lower number is taken."""
    jobs = job("a", 0, 8, 1), job("b", 0, seconds, 1), job("c", 1, 3, 1)
    replayed = run(sjf_bsbf, *jobs, cluster=PAIR, slowdown=1.25)
    assert held(replayed, "c")[0][:2] == (1, held(replayed, partner)[0][1])


def test_the_worst_partner_rules() -> None:
    """Beside two partners a job is as slow as beside the worse one, and faster when that has completed."""
    slow = {"c": {"a": 2.0, "b": 1.25}}
    jobs = job("a", 0, 3, 1), job("b", 0, 9, 1), job("c", 1, 4, 2)
    replayed = run(sjf_bsbf, *jobs, cluster=PAIR, slowdowns=slow)
    assert replayed.completion_times == (3, 9, 3 + Fraction(15, 4))


@pytest.mark.parametrize(("order", "first"), [("time", "a"), ("gpus", "b"), ("gpu_time", "c")])
def test_orders(order: str, first: str) -> None:
    """The smallest job is that of the least time, of the fewest GPUs, or of the least product."""
    jobs = job("a", 0, 2, 4), job("b", 0, 9, 1), job("c", 0, 3, 2)
    start, gpus, _ = held(run(sjf_bsbf, *jobs, cluster=machine(4), order=order), first)[0]
    assert (start, gpus[0]) == (0, 0)


@pytest.mark.parametrize(("skip", "start"), [(True, 2), (False, 6)])
def test_skipping(skip: bool, start: float) -> None:
    """Jobs behind one that cannot start do so, with no GPUs kept for it, or wait for it."""
    jobs = job("a", 0, 5, 1), job("b", 1, 1, 2), job("c", 2, 8, 1)
    assert run(sjf_bsbf, *jobs, cluster=PAIR, slowdown=6.0, skip=skip).start_times[2] == start


@pytest.mark.parametrize(("placement", "gpu"), [("best", 4), ("first", 3), ("emptiest", 6)])
def test_placements(placement: str, gpu: int) -> None:
    """Free GPUs are those of the tightest machine, of the first one, or of the one with the most."""
    machines = [Machine(name=f"m{gpus}", gpus=gpus) for gpus in (4, 2, 3)]
    jobs = job("a", 0, 9, 3), job("b", 1, 9, 1)
    replayed = run(
        sjf_bsbf, *jobs, cluster=Cluster(racks=[Rack(name="r", machines=machines)]), placement=placement
    )
    assert held(replayed, "b") == [(1, (gpu,), "")]


@pytest.mark.parametrize(("of_a", "of_b", "start"), [(1.1, 3.0, 1), (3.0, 1.1, 3)])
def test_slowdowns_are_those_of_the_pair(of_a: float, of_b: float, start: float) -> None:
    """Beside each other both are slower, each as it is: swapped slowdowns lead to another decision."""
    jobs = job("a", 0, 3, 2), job("b", 1, 4, 2)
    replayed = run(sjf_bsbf, *jobs, cluster=PAIR, slowdowns={"a": {"b": of_a}, "b": {"a": of_b}})
    assert replayed.start_times == (0, start)


@pytest.mark.parametrize("cluster", [Cluster.plain(8), machine(8)])
def test_without_sharing_it_is_shortest_job_first(cluster: Cluster) -> None:
    """In a plain cluster, and where a GPU has one job, it does what shortest job first does."""
    random = Random(3)
    sizes = [(random.randint(0, 9), random.randint(1, 9), random.randint(1, 8)) for _ in range(30)]
    jobs = [job(f"j{index}", *size) for index, size in enumerate(sizes)]
    ours, plain = (run(policy, *jobs, cluster=cluster, share_limit=1) for policy in (sjf_bsbf, sjf))
    assert ours.completion_times == plain.completion_times


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, whatever the options."""
    random = Random(11)
    scenarios = [drawn(random, rough=rough) for rough in (False, True) for _ in range(4)]
    assert check_policy(sjf_bsbf, scenarios) == 16
    options: dict[str, Any] = {"rule": "sign", "free_first": True, "skip": False, "placement": "emptiest"}
    assert check_policy(sjf_bsbf, scenarios, ties="smaller", batches="whole", **options) == 16


@pytest.mark.parametrize("option", ["rule", "batches", "ties", "order", "placement"])
def test_words(option: str) -> None:
    """A word that an option does not know is refused in one line with those that it knows."""
    options: dict[str, Any] = {option: "neither"}
    with pytest.raises(InvalidInput, match=f"^{option}: 'neither': must be one of "):
        run(sjf_bsbf, job("a", 0, 5, 2), job("b", 1, 1, 2), cluster=PAIR, **options)
