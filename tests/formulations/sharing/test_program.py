"""Tiny linear programs in whole numbers, against another solver and by trying every corner."""

from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from formulations.sharing.program import least
from tests.effort import cases


def by_corners(cost: list[Fraction], rows: list[tuple[list[Fraction], Fraction]]) -> Fraction | None:
    """Return the least cost of all corners of two numbers; None when there is none."""
    every = [*rows, ([Fraction(1), Fraction(0)], Fraction(0)), ([Fraction(0), Fraction(1)], Fraction(0))]
    best = None
    for (one, first), (two, second) in combinations(every, 2):
        area = one[0] * two[1] - one[1] * two[0]
        if area:
            x = (first * two[1] - second * one[1]) / area
            y = (second * one[0] - first * two[0]) / area
            value = cost[0] * x + cost[1] * y
            kept = all(row[0] * x + row[1] * y >= limit for row, limit in every)
            if kept and (best is None or value < best):
                best = value
    return best


def test_no_corner_is_better() -> None:
    """In two numbers, the least is that of the best corner, or there is none."""
    infeasible = 0
    for seed in range(cases(2000)):
        random = Random(seed)
        scale = random.choice((1, 10**9, Fraction(1, 10**9)))
        cost = [Fraction(random.randint(0, 4)) for _ in range(2)]
        rows = [
            (
                [Fraction(random.randint(-3, 3)) * scale, Fraction(random.randint(-3, 3), 2)],
                Fraction(random.randint(-6, 6), 3),
            )
            for _ in range(random.randint(1, 5))
        ]
        found, known = least(cost, rows), by_corners(cost, rows)
        infeasible += known is None
        assert (found and found[0]) == known
        if found:
            assert sum(own * value for own, value in zip(cost, found[1], strict=True)) == known
            assert all(sum(a * x for a, x in zip(row, found[1], strict=True)) >= limit for row, limit in rows)
            assert min(found[1]) >= 0
    assert infeasible > cases(2000) // 20


@pytest.mark.parametrize("seed", range(5))
def test_another_solver_finds_the_same(seed: int) -> None:
    """With many numbers and rows, some of them equal, HiGHS finds the same value to its tolerance."""
    from scipy.optimize import linprog

    random = Random(seed)
    cost = [random.randint(0, 9) for _ in range(8)]
    rows = [([random.randint(-4, 9) for _ in range(8)], random.randint(-5, 20)) for _ in range(8)]
    rows += [([-factor for factor in rows[0][0]], -rows[0][1])]
    found = least(cost, rows)
    known = linprog(cost, A_ub=[[-a for a in row] for row, _ in rows], b_ub=[-limit for _, limit in rows])

    assert (found is None) == (known.status == 2)
    if found is not None:
        assert float(found[0]) == pytest.approx(known.fun)
