"""What a linear relaxation rules out."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest

from formulations.common.probing import ChoiceColumns, Finding, probe
from gsopt.core.budget import Budget
from gsopt.solvers.backends.process import POOL
from gsopt.solvers.standard_form import StandardForm
from tests.processes import wait_until

#: What each of the two choices may cost, by rank: 0 at best, and more towards both ends.
COSTS = ((5.0, 2.0, 0.0, 1.0, 4.0), (3.0, 0.0, 2.0, 4.0))


class Program:
    """Choices, each a number equal to the rank that is chosen, with rows that couple them."""

    def __init__(
        self,
        costs: Sequence[Sequence[float]],
        rows: Sequence[tuple[list[float], float]] = (),
        ranks: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.costs = costs
        self.ranks = [list(range(len(own))) for own in costs] if ranks is None else ranks
        sizes = [len(own) for own in costs]
        count = len(costs)
        starts = np.cumsum([count, *sizes])
        self.choices = [
            ChoiceColumns(np.arange(starts[i], starts[i + 1], dtype=np.int32), np.array(own, dtype=np.int32), i)
            for i, own in enumerate(self.ranks)
        ]
        width = int(starts[-1])
        matrix, lower, upper = [], [], []
        for i, choice in enumerate(self.choices):
            one, level = np.zeros(width), np.zeros(width)
            one[choice.columns] = 1.0
            level[i], level[choice.columns] = -1.0, choice.ranks
            matrix += [one, level]
            lower += [1.0, 0.0]
            upper += [1.0, 0.0]
        for coefficients, most in rows:
            row = np.zeros(width)
            row[:count] = coefficients
            matrix, lower, upper = [*matrix, row], [*lower, -np.inf], [*upper, most]
        self.rows = rows
        self.largest = np.concatenate([[float(own[-1]) for own in self.ranks], np.ones(sum(sizes))])
        self.form = StandardForm.build(
            cost=np.concatenate([np.zeros(count), *map(np.array, costs)]),
            matrix=np.array(matrix),
            row_lower=lower,
            row_upper=upper,
            column_upper=self.largest,
            integer=np.zeros(width, dtype=bool),
        )

    def probe(self, cutoff: float, *, pairs: Sequence[tuple[int, int]] = ()) -> Finding:
        """Ask what exceeds a cutoff."""
        found = probe(
            self.form, Budget(), choices=self.choices, largest=self.largest, cutoff=cutoff, pairs=pairs
        )
        assert found is not None
        return found

    def within(self, cutoff: float) -> Iterator[tuple[int, ...]]:
        """Enumerate the solutions up to a cutoff."""
        for ranks in product(*(range(len(own)) for own in self.costs)):
            cost = sum(own[rank] for own, rank in zip(self.costs, ranks, strict=True))
            if cost <= cutoff and all(np.dot(row, ranks) <= most for row, most in self.rows):
                yield ranks


@pytest.mark.parametrize("cutoff", [0.1, 1.5, 2.9, 3.5, 4.5])
def test_all_that_costs_too_much_is_ruled_out_and_nothing_else(cutoff: float) -> None:
    """Where the relaxation is exact, what is kept reaches from the first to the last rank within the cutoff."""
    found = Program(COSTS).probe(cutoff)
    solutions = list(Program(COSTS).within(cutoff))
    kept = [(min(ranks), max(ranks) + 1) for ranks in zip(*solutions, strict=True)]

    assert found.bound == pytest.approx(0)
    assert list(found.kept) == kept


def test_what_reduced_costs_do_not_tell_is_found_by_bisection() -> None:
    """A choice that is next to free is kept in its place where moving it moves three others, each cheaply."""
    away = (3.9, 3.0, 0.0, 3.0, 3.9)
    rows: list[tuple[list[float], float]] = []
    for other in range(1, 7):
        sign = 1.0 if other <= 3 else -1.0  # the first is at most three others, and at least three more
        rows.append(([sign, *(-sign if number == other else 0.0 for number in range(1, 7))], 0.0))
    program = Program([(0.01, 0.01, 0.0, 0.01, 0.01), *[away] * 6], rows)

    assert program.probe(4.0).kept[0] == (2, 3)
    assert program.probe(6.0).kept[0] == (1, 4)
    assert program.probe(99.0).kept == ((0, 5),) * 7


@pytest.mark.parametrize(("cutoff", "known"), [(0.5, False), (1.9, True), (2.1, False), (3.9, False)])
def test_an_order_that_costs_too_much_is_ruled_out(cutoff: float, known: bool) -> None:
    """The first wants rank 0 and the second 3; the other order costs 2; below 1 the ranks tell it anyway."""
    program = Program([(0.0, 1.0, 9.0), (1.0, 0.0)], ranks=[(0, 2, 4), (1, 3)])

    assert program.probe(cutoff, pairs=[(0, 1)]).orders == (((0, 1),) if known else ())


def test_solutions_within_the_cutoff_are_never_ruled_out() -> None:
    """On random coupled choices all enumerated solutions are kept, in their orders; much else is not."""
    cut = ordered = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        costs = [random.uniform(0, 9, random.integers(2, 6)).round(1).tolist() for _ in range(3)]
        rows = [(random.integers(-2, 3, 3).tolist(), float(random.integers(0, 5))) for _ in range(2)]
        program = Program(costs, rows)
        every = sorted(sum(own[r] for own, r in zip(costs, ranks, strict=True)) for ranks in program.within(99))
        if not every:
            continue
        for cutoff in (every[0], every[len(every) // 3]):
            found = program.probe(cutoff, pairs=[(0, 1), (0, 2), (1, 2)])
            assert found.bound <= every[0] + 1e-9
            for ranks in program.within(cutoff):
                assert all(low <= rank < high for rank, (low, high) in zip(ranks, found.kept, strict=True))
                assert all(ranks[first] < ranks[second] for first, second in found.orders)
            cut += sum(len(own) for own in costs) - sum(high - low for low, high in found.kept)
            ordered += len(found.orders)
    assert cut >= 100
    assert ordered >= 10


def test_what_is_all_too_dear_is_left_as_it_is() -> None:
    """With a cutoff below the optimum the bound tells that nothing is left; no choice becomes empty."""
    found = Program(COSTS).probe(-1.0)

    assert found.bound > -1.0
    assert all(low < high for low, high in found.kept)


def test_without_time_nothing_is_found() -> None:
    """A budget that has passed gives None, or what a relaxation without an optimum tells."""
    program = Program(COSTS)
    found = probe(
        program.form, Budget(time_limit=0.0), choices=program.choices, largest=program.largest, cutoff=1.0
    )

    assert found is None or (found.values is None and found.kept == ((0, 5), (0, 4)))


def test_a_worker_that_dies_is_no_answer() -> None:
    """When the worker is gone there is no finding, and the next question is answered."""
    program = Program(COSTS)
    program.probe(1.0)
    before = POOL.pids
    POOL.close()
    wait_until(lambda: not set(POOL.pids) & set(before))

    assert program.probe(1.5).kept == ((2, 4), (1, 2))
