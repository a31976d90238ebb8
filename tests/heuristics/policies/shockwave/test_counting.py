"""Counting: the relaxation against all numbers of rounds."""

from itertools import pairwise, product
from random import Random

import numpy as np
import pytest

from heuristics.policies.shockwave.counting import Counting
from tests.effort import cases
from tests.heuristics.policies.shockwave.drawn import drawn


def test_choices_are_the_best_numbers_of_rounds() -> None:
    """The first is the best of all that fit, the next ones gain less on fewer GPUs, the ceiling is no less."""
    random = Random(3)
    for _ in range(cases(400)):
        window = drawn(random)
        least = np.array([min(claim.least, window.rounds) for claim in window.claims])
        counting, room = Counting(window), window.gpus * window.rounds
        ceiling = counting.ceiling(least)
        if window.sizes @ least > room:
            assert ceiling is None
            continue
        ranges = [range(number, window.rounds + 1) for number in least.tolist()]
        fitting = [np.array(counts) for counts in product(*ranges) if window.sizes @ counts <= room]
        choices = list(counting.choices(least))
        taken = [int(window.sizes @ counts) for counts in choices]
        assert all(fewer < more for more, fewer in pairwise(taken))
        gains = [window.gained(counts) for counts in choices]
        assert gains[0] == pytest.approx(max(map(window.gained, fitting)), rel=1e-12, abs=1e-12)
        assert gains == sorted(gains, reverse=True)
        assert gains[-1] == window.gained(least)
        assert ceiling is not None
        assert ceiling >= gains[0] * (1 - 1e-12)
