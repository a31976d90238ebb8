"""Packing: numbers of rounds in rounds, and no GPU idle that a job could use."""

from random import Random

import numpy as np

from heuristics.policies.shockwave.packing import conserving, packed
from heuristics.policies.shockwave.window import Window, WindowClaim
from tests.effort import cases
from tests.heuristics.policies.shockwave.drawn import drawn


def test_a_packing_has_the_rounds_and_fits() -> None:
    """A packing gives every job its rounds on no more GPUs than there are."""
    random, found = Random(4), 0
    for _ in range(cases(400)):
        window = drawn(random)
        counts = np.array([random.randint(0, window.rounds) for _ in window.claims])
        plan = packed(window, counts)
        if plan is not None:
            found += 1
            assert plan.sum(axis=1).tolist() == counts.tolist()
            assert (window.load(plan) <= window.gpus).all()
    assert found > 0


def test_jobs_of_one_size_are_packed_whenever_they_can_be() -> None:
    """Jobs of one GPU fit as soon as all their rounds together do."""
    random = Random(5)
    for _ in range(cases(200)):
        gpus, rounds = random.randint(1, 4), random.randint(1, 6)
        counts = [random.randint(0, rounds) for _ in range(random.randint(1, 8))]
        claims = [WindowClaim(1, (0.0,) * rounds, left=1.0) for _ in counts]
        window = Window(gpus=gpus, rounds=rounds, length=60.0, claims=claims, price=0.0)
        assert (packed(window, np.array(counts)) is not None) == (sum(counts) <= gpus * rounds)


def test_no_gpu_is_idle_that_a_job_could_use() -> None:
    """Nobody loses a round, and who does not run in one does not fit it; the longest come first."""
    random = Random(6)
    for _ in range(cases(200)):
        window = drawn(random)
        plan = np.zeros((len(window.claims), window.rounds), dtype=np.bool_)
        plan[0, 0] = True
        filled = conserving(window, plan)
        load = window.load(filled)
        assert filled[0, 0]
        assert (load <= window.gpus).all()
        assert (filled | (load + window.sizes[:, None] > window.gpus)).all()


def test_the_longest_job_takes_idle_gpus_first() -> None:
    """Of two jobs for one GPU the one with more left runs, whatever their order."""
    claims = [WindowClaim(1, (0.0, 0.0), left=5.0), WindowClaim(1, (0.0, 0.0), left=9.0)]
    window = Window(gpus=1, rounds=2, length=60.0, claims=claims, price=0.0)
    assert conserving(window, np.zeros((2, 2), dtype=np.bool_)).tolist() == [[False, False], [True, True]]
