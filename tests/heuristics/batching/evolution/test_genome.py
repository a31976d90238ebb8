"""Operators on one genome, by hand: the figures of the paper."""

from collections.abc import Iterator
from itertools import cycle, product
from random import Random

import pytest

from heuristics.batching.evolution.genome import (
    IDLE,
    admit,
    counts_of,
    crossover,
    fill,
    keep,
    kept_gpus,
    preempt,
    reorder,
    score,
    trim,
)
from heuristics.batching.evolution.settings import ScaleDown
from tests.heuristics.batching.evolution.tables import chi_square

LOW, HIGH = 0.1, 0.9


class Scripted(Random):
    """Draws what it is told."""

    def __init__(self, *numbers: float) -> None:
        super().__init__(0)
        self._numbers: Iterator[float] = cycle(numbers)

    def random(self) -> float:
        """Return the next number."""
        return next(self._numbers)


def test_figure_7_fills_by_two_jobs() -> None:
    """Of three idle GPUs job 1, selected first, takes the two up to its cap, and job 2 the one that is left."""
    genome = [0, IDLE, IDLE, IDLE]
    lower = [[0, 1, 1, 1, 1], [0, 1, 2, 2, 2], [0, 1, 2, 3, 3]]
    fill(genome, lower, [[0, 1], [0, 3, 4], [0, 2, 4, 6]])

    assert genome == [0, 1, 1, 2]


def test_figure_8_crosses_two_parents() -> None:
    """332211 and 111223 give 312221 and 131213 where the second, fifth and fourth GPU are exchanged."""
    first, second = [3, 3, 2, 2, 1, 1], [1, 1, 1, 2, 2, 3]
    crossover(first, second, Scripted(HIGH, LOW, HIGH, LOW, LOW, HIGH))

    assert first == [3, 1, 2, 2, 2, 1]
    assert second == [1, 3, 1, 2, 1, 3]


def test_figure_9_replaces_two_workers() -> None:
    """A worker of job 1 and one of job 2 are preempted, the others stay, and job 4 takes both GPUs."""
    genome = [1, 2, 2, 3, 1, 3]
    preempt(genome, 0.5, Scripted(HIGH, HIGH, LOW, HIGH, LOW, HIGH), "workers")
    assert genome == [1, 2, IDLE, 3, IDLE, 3]

    cheap, dear = [0.0, 1, 1, 1, 1, 1, 1], [0.0, 1, 9, 9, 9, 9, 9]
    fill(genome, [[0] * 7, *([[0, 1, 2, 2, 2, 2, 2]] * 4)], [dear, dear, dear, dear, cheap])
    assert genome == [1, 2, 4, 3, 4, 3]


def test_jobs_are_preempted_whole() -> None:
    """By the text every worker of a job goes or none, the jobs drawn in the order in which they occur."""
    genome = [1, 2, 2, 3, 1, 3]
    preempt(genome, 0.5, Scripted(LOW, HIGH, LOW), "jobs")

    assert genome == [IDLE, 2, 2, IDLE, IDLE, IDLE]


def test_figure_10_packs_workers() -> None:
    """The figure packs 312221 to 322211, by last occurrence; by the text job 1 comes before job 2."""
    figure, text = [3, 1, 2, 2, 2, 1], [3, 1, 2, 2, 2, 1]
    reorder(figure, "last")
    reorder(text)

    assert figure == [3, 2, 2, 2, 1, 1]
    assert text == [3, 1, 1, 2, 2, 2]


def test_idle_gpus_come_last() -> None:
    """Packing keeps every worker and puts idle GPUs behind them."""
    genome = [IDLE, 1, IDLE, 0, 1]
    reorder(genome)

    assert genome == [1, 1, 0, IDLE, IDLE]


@pytest.mark.parametrize(
    ("how", "kept"),
    [
        ("floor", [4, 2, 0, 0]),  # printed: R c / B rounded down may leave none
        ("at least one", [4, 2, 1, 1]),
        ("widest", [4, 3, 1, 1]),  # 700 samples need three GPUs of 256
    ],
)
def test_jobs_shrink_when_their_limit_falls(how: ScaleDown, kept: list[int]) -> None:
    """A job on 4 GPUs with 1,024 samples keeps what each reading leaves, or all of them."""
    assert [kept_gpus(4, 1024, limit, 256, how) for limit in (1024, 700, 255, 1)] == kept


def test_new_jobs_take_gpus_of_the_oldest() -> None:
    """What is idle goes first, then GPUs of the job that has run longest, but one that it must have."""
    genome = [0, 0, 1, 1, 2, IDLE]
    admit(genome, least=[0, 0, 1, 1, 2, 2], victims=[2, 0, 1, 3, 4, 5])

    assert counts_of(genome, 6) == [0, 0, 1, 1, 2, 2]
    assert genome[4:] == [2, 3]  # the idle one first


def test_nothing_is_taken_where_all_run() -> None:
    """Jobs that have what they must have take nothing."""
    genome = [0, 1, IDLE]
    admit(genome, least=[1, 1], victims=[0, 1])

    assert genome == [0, 1, IDLE]


def test_jobs_are_trimmed_to_what_they_can_run_on() -> None:
    """A job with 1, 2 or 4 GPUs keeps two of three, the first ones."""
    genome = [0, 1, 0, 0, 1]
    trim(genome, [[0, 1, 2, 2, 4, 4], [0, 0, 2, 2, 2, 2]])
    assert genome == [0, 1, 0, IDLE, 1]

    keep(genome, [1, 0])
    assert genome == [0, IDLE, IDLE, IDLE, IDLE]


def test_a_job_that_cannot_use_what_is_left_is_passed_over() -> None:
    """Job 0 costs least but needs two GPUs; the one that is idle goes to job 1."""
    genome = [2, IDLE]
    fill(genome, [[0, 0, 2], [0, 1, 1], [0, 1, 1]], [[0, 0, 1], [0, 5, 5], [0, 1, 1]])

    assert genome == [2, 1]


def test_every_selection_may_have_a_draw_of_its_own() -> None:
    """The first job is selected by the costs given, each further one by the next draw."""
    genome = [IDLE] * 3
    draws = iter([[[0, 1], [0, 9], [0, 2]], [[0, 1], [0, 1], [0, 1]]])
    fill(genome, [[0, 1, 1, 1]] * 3, [[0, 1], [0, 2], [0, 3]], lambda: next(draws))

    assert genome == [0, 2, 1]


def test_too_few_gpus_in_use_cost_infinitely_much() -> None:
    """A candidate that uses fewer GPUs than it must is no solution."""
    assert score([0, IDLE], [[7, 1, 1]], target=1) == 1
    assert score([0, IDLE], [[7, 1, 1]], target=2) == float("inf")
    assert score([IDLE, IDLE], [[7, 1, 1]]) == 7


def test_children_and_mutants_have_the_distribution_of_the_text() -> None:
    """Each GPU is exchanged with probability 1/2 and each job preempted with the rate, independently."""
    random = Random(3)
    outcomes = list(product((0, 1), repeat=3))
    exchanged, gone = dict.fromkeys(outcomes, 0), dict.fromkeys(outcomes, 0)
    for _ in range(2000):
        first, second = [0, 0, 0], [1, 1, 1]
        crossover(first, second, random)
        exchanged[first[0], first[1], first[2]] += 1
        genome = [0, 1, 2, 1]
        preempt(genome, 0.25, random)
        gone[genome[0] == IDLE, genome[1] == IDLE, genome[2] == IDLE] += 1
    rates = [0.25 ** sum(each) * 0.75 ** (3 - sum(each)) for each in outcomes]

    assert chi_square(list(exchanged.values()), [2000 / 8] * 8) < 25  # one in a thousand seeds exceeds it
    assert chi_square(list(gone.values()), [2000 * rate for rate in rates]) < 25
