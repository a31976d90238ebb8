"""Maximal patterns: all of them and no others, and giving up in time."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import Packing
from gsopt.core.budget import Budget
from gsopt.problems.placement import Placement, Resources, Server, Workers
from instances.placement import vectors
from tests.strategies.placement import placements


@given(placements())
@settings(deadline=None, max_examples=40)
def test_they_are_the_maximal_ones_of_all_fillings(problem: Placement) -> None:
    """The patterns of every zone and kind are the feasible fillings to which nothing can be added."""
    packing = Packing.of(problem)
    patterns = maximal_patterns(packing, limit=10_000, budget=Budget())
    assert patterns is not None
    found = {
        (z, k, tuple(c)) for z, k, c in zip(patterns.zone, patterns.kind, patterns.counts.tolist(), strict=True)
    }
    expected = set()
    for z, zone in enumerate(packing.zones):
        most = [total if i in zone.demands else 0 for i, total in enumerate(packing.totals.tolist())]
        for k in zone.kinds:
            fillings = [c for c in product(*(range(m + 1) for m in most)) if fits(packing, k, c)]
            for filling in fillings:
                steps = (np.add(filling, unit) for unit in np.eye(len(most), dtype=int))
                if not any((step <= most).all() and fits(packing, k, step) for step in steps):
                    expected.add((z, k, filling))

    assert found == expected
    assert len(found) == len(patterns)


def fits(packing: Packing, kind: int, counts: object) -> bool:
    """Check whether a filling fits on a server of a kind."""
    return bool((np.asarray(counts) @ packing.demands <= packing.rooms[kind]).all())


def test_whole_gpus_on_eight() -> None:
    """Sizes 4, 3 and 2 without a limit on their number fill 8 GPUs in six maximal ways."""
    problem = Placement(
        servers=(Server(name="s", count=9, capacity=Resources(gpu=8)),),
        workers=tuple(Workers(job=str(gpu), count=9, demand=Resources(gpu=gpu)) for gpu in (4, 3, 2)),
    )
    patterns = maximal_patterns(Packing.of(problem), limit=100, budget=Budget())

    assert patterns is not None
    assert patterns.counts.tolist() == [[2, 0, 0], [1, 1, 0], [1, 0, 2], [0, 2, 1], [0, 1, 2], [0, 0, 4]]


@pytest.mark.parametrize("limit", [0, 10, 1000])
def test_it_gives_up_beyond_the_limit(limit: int) -> None:
    """With more maximal patterns than the limit there is no answer."""
    assert maximal_patterns(Packing.of(vectors(types=30, workers=2000)), limit=limit, budget=Budget()) is None


def test_hundreds_of_demands_are_refused_at_once() -> None:
    """With more than 200 demands that fit on a server there is no answer, and no deep recursion."""
    assert maximal_patterns(Packing.of(vectors(types=450, workers=450)), limit=10**9, budget=Budget()) is None
