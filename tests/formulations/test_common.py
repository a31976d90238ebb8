"""What exact methods of several decisions are made of."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from math import isfinite
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import gsopt
from formulations.common.best import Best
from formulations.common.duals import prove
from formulations.common.first import ends
from formulations.common.prices import proves
from formulations.common.probing import ChoiceColumns, Finding, probe
from formulations.common.prover import Prover
from gsopt.core.budget import Budget
from gsopt.core.errors import Contradiction
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.reclaiming import ReclaimingSolution
from gsopt.problems.shares import Shares, TimeShares, TypedJob
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.problems.waiting import CellShare, Waiting, WaitingSolution
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.solvers.backends import Highs
from gsopt.solvers.backends.highs import Model
from gsopt.solvers.backends.process import POOL
from gsopt.solvers.standard_form import StandardForm
from tests.processes import wait_until
from tests.unwrap import unwrap

Known = Best[Waiting, WaitingSolution]


def two_jobs() -> Waiting:
    """Return jobs of 1 and 3 s on all GPUs of one machine; in the better order their mean is 2.5 s."""
    jobs = [Job(name=name, release_date=0, duration=seconds, gpus=2) for name, seconds in [("a", 1), ("b", 3)]]
    return Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)


def begun(budget: Budget) -> Known:
    """Begin with nothing known."""
    return Best(two_jobs(), budget, "test")


def in_order(*jobs: int) -> Any:
    """Return the schedule of an order."""
    return two_jobs().started([CellShare(job, {0: 2}) for job in jobs])


def test_only_better_schedules_are_kept_and_told_of() -> None:
    """The first is told, a worse one is not, a better one is; the callback's True asks to stop."""
    heard: list[Result[Any]] = []

    def stop_at_second(result: Result[Any]) -> bool:
        heard.append(result)
        return len(heard) == 2

    best = begun(Budget(on_incumbent=stop_at_second))

    assert best.take(in_order(1, 0))
    assert not best.take(in_order(1, 0))
    assert best.finished is None
    assert best.take(in_order(0, 1))
    assert [result.objective for result in heard] == [Fraction(7, 2), Fraction(5, 2)]
    assert best.finished is StoppedBy.INTERRUPT


def test_bounds_are_rounded_to_the_step_and_end_the_search() -> None:
    """Means are multiples of half a second, so 2.1 proves 2.5."""
    best = begun(Budget())
    best.take(in_order(0, 1))
    best.raise_bound(2.1)
    assert (best.bound, best.finished) == (Fraction(5, 2), StoppedBy.FINISHED)
    assert best.result(StoppedBy.FINISHED).status is Status.OPTIMAL


def test_no_better_solution_than_the_best_one_proves_it() -> None:
    """That all better schedules take 99 s says that none is better than one of 3.5 s."""
    best = begun(Budget())
    best.take(in_order(1, 0))
    best.raise_bound(99, of_better=True)
    assert (best.bound, best.finished) == (Fraction(7, 2), StoppedBy.FINISHED)
    with pytest.raises(Contradiction, match=r"found 2.5, better than the bound 3.5"):
        best.take(in_order(0, 1))


def test_a_proof_that_a_solution_beats_is_wrong() -> None:
    """A bound beyond the value known is refused, by however little, and not taken for that value."""
    best = begun(Budget())
    best.take(in_order(0, 1))
    for wrong in (99, Fraction(5, 2) + Fraction(1, 10**30)):
        with pytest.raises(Contradiction, match=r"found 2.5, better than the bound"):
            best.raise_bound(wrong)
    assert (best.bound, best.finished) == (0, None)


def test_a_gap_and_a_limit_end_the_search() -> None:
    """Within the asked gap it is enough; without time too."""
    near, late = begun(Budget(gap=0.5)), begun(Budget(time_limit=0.0))
    for best in (near, late):
        best.take(in_order(1, 0))
        best.raise_bound(2.5)

    assert near.finished is StoppedBy.GAP
    assert late.finished is StoppedBy.TIME_LIMIT


def test_the_start_is_the_first_schedule() -> None:
    """What the budget brings is known from the beginning."""
    best = begun(Budget(start=in_order(1, 0)))
    assert best.known == in_order(1, 0)
    assert best.value == best.known_value == Fraction(7, 2)


def test_nothing_is_known_at_first() -> None:
    """Without a start there is neither solution nor value, and the bound is the one given."""
    best: Known = Best(two_jobs(), Budget(), "test", bound=Fraction(3, 2))

    assert (best.solution, best.value, best.bound, best.finished) == (None, None, Fraction(3, 2), None)
    assert best.result(StoppedBy.TIME_LIMIT).status is Status.UNKNOWN
    with pytest.raises(AssertionError):
        _ = best.known
    with pytest.raises(AssertionError):
        _ = best.known_value


def test_a_float_is_weakened_where_values_have_no_step() -> None:
    """A third as a float is taken to be a little less than a third, and exact numbers are taken as they are."""
    job = Job(name="a", release_date=0, duration=1, gpus=1)
    best: Best[Sharing, SharingSolution] = Best(Sharing(gpus=1, jobs=[job]), Budget(), "test")

    best.raise_bound(1 / 3)
    assert 0.3333333 < best.bound < Fraction(1 / 3)
    best.raise_bound(Fraction(1, 3))
    assert best.bound == Fraction(1, 3)
    best.raise_bound(Fraction(1, 4))
    assert best.bound == Fraction(1, 3)


def test_what_is_maximised_has_its_bound_above() -> None:
    """A higher value is better, a lower bound too, and a float is weakened upwards."""
    jobs = [TypedJob(name=name, throughputs={"v100": 1.0}) for name in "ab"]
    problem = Shares(gpus={"v100": 1}, jobs=jobs, criterion="fifo")
    best: Best[Shares, TimeShares] = Best(problem, Budget(), "test", bound=3)
    some, more = (TimeShares(shares={"a": {"v100": share}}) for share in (0.5, 1.0))

    assert best.take(some)
    assert best.take(more)
    assert not best.take(some)
    best.raise_bound(Fraction(5, 2))
    best.raise_bound(3)
    assert (best.value, best.bound, best.finished) == (2, Fraction(5, 2), None)
    best.raise_bound(2 + 1 / 3)
    assert 2 + 1 / 3 < best.bound < 2.3333334
    best.raise_bound(2 - 1e-10)  # as far as shares can be told apart
    assert (best.bound, best.finished) == (2, StoppedBy.FINISHED)
    with pytest.raises(Contradiction):
        best.raise_bound(1)


def first(bound: float) -> Result[Any]:
    """Return a result of value 2 with a bound."""
    problem = gsopt.load("reclaiming/aryl-figure-5")
    chosen = ReclaimingSolution(servers=("s1", "s3"))
    found = Result.judged(problem, method="by hand", solution=chosen, runtime=0.0)
    return replace(found, objective=2, bound=bound)


def test_value_and_bound_that_meet_are_the_end() -> None:
    """A bound that is the value ends the search as finished, one within the asked gap as close enough."""
    assert ends(first(2), Budget()) == (first(2), True)
    result, ended = ends(first(1.5), Budget(gap=0.5))
    assert (result.stopped_by, ended) == (StoppedBy.GAP, True)
    assert ends(first(1.5), Budget(gap=0.1)) == (first(1.5), False)


def test_callers_hear_of_it_and_may_stop() -> None:
    """The caller is told in any case; only True is the end."""
    heard: list[Any] = []

    def hear(result: Result[Any]) -> bool:
        heard.append(result)
        return len(heard) > 1

    assert not ends(first(1), Budget(on_incumbent=hear))[1]
    result, ended = ends(first(1), Budget(on_incumbent=hear))
    assert (result.stopped_by, ended, len(heard)) == (StoppedBy.INTERRUPT, True, 2)


def test_no_time_is_the_end() -> None:
    """Where time is over the result says so."""
    result, ended = ends(first(1), Budget(time_limit=0.0))
    assert (result.stopped_by, ended) == (StoppedBy.TIME_LIMIT, True)


def _random(seed: int) -> StandardForm:
    """Draw a small integer program of packing rows, half of its columns whole numbers."""
    random = np.random.default_rng(seed)
    return StandardForm.build(
        cost=-random.integers(1, 20, 12).astype(float),
        matrix=random.integers(0, 9, (6, 12)).astype(float),
        row_lower=np.full(6, -np.inf),
        row_upper=random.integers(20, 60, 6).astype(float),
        column_upper=np.full(12, 5.0),
        integer=np.arange(12) % 2 == 0,
        offset=3.0,
    )


def test_it_proves_what_highs_proves() -> None:
    """On random integer programs both prove the same optimum, with a start and without."""
    for seed in range(10):
        form = _random(seed)
        expected = Highs().solve(form)
        for start in (None, expected.values):
            found = Prover().solve(form, start=start)
            assert found.status is expected.status is Status.OPTIMAL
            assert found.objective == pytest.approx(expected.objective)
            assert found.bound == pytest.approx(expected.objective)


def test_it_is_asked_the_same_but_for_how() -> None:
    """Model, start and all of HiGHS' own options are passed on; only the ways to search are added."""
    form = _random(0)
    start = np.zeros(12)
    function, task = Prover(threads=2, seed=7).request(form, time_limit=5.0, gap=0.25, start=start)
    expected, same = Highs(threads=2, seed=7).request(form, time_limit=5.0, gap=0.25, start=start)

    assert function is expected
    assert task.start is start
    assert (task.model.coefficients == same.model.coefficients).all()
    assert same.options.items() <= task.options.items()
    assert task.options["time_limit"] == 5.0
    assert task.options["mip_rel_gap"] == same.options["mip_rel_gap"]


def test_it_searches_by_no_programs_and_learns_from_one_branch() -> None:
    """HiGHS knows every option added, and would otherwise run those heuristics and try eight branches."""
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    asked, usual = ({}, {})
    form = _random(0)
    every = Prover().request(form, time_limit=None, gap=0.0, start=None)[1].options
    known = Highs().request(form, time_limit=None, gap=0.0, start=None)[1].options
    for name in every.keys() - known.keys():
        asked[name], usual[name] = every[name], solver.getOptionValue(name)[1]

    heuristics = {f"mip_heuristic_run_{name}" for name in ("rins", "rens", "root_reduced_cost")}
    assert asked == dict.fromkeys(heuristics, False) | {"mip_pscost_minreliable": 1}
    assert usual == dict.fromkeys(heuristics, True) | {"mip_pscost_minreliable": 8}


def matrix(random: Random, rows: int, columns: int) -> NDArray[np.object_]:
    """Draw whole numbers of forty digits with ties, many of them 0."""
    drawn = np.zeros((rows, columns), dtype=object)
    for place in np.ndindex(rows, columns):
        drawn[place] = random.choice((0, 0, 1, 2, 3, random.randint(0, 6))) * (10**40 + random.randint(0, 1))
    return drawn


def pairings(rows: int, columns: int) -> list[tuple[tuple[int, int], ...]]:
    """List all ways to pair rows with columns, each at most once."""
    places = [*range(columns), *([None] * rows)]
    found = {
        tuple((row, column) for row, column in enumerate(chosen) if column is not None)
        for chosen in permutations(places, rows)
    }
    return sorted(found)


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 3), (2, 4), (4, 2), (1, 3), (3, 1)])
def test_the_best_is_proven_and_nothing_else(rows: int, columns: int) -> None:
    """Of all pairings exactly those with the largest sum are proven."""
    for seed in range(12):
        savings = matrix(Random(f"{rows} {columns} {seed}"), rows, columns)
        values = {pairs: sum(savings[pair] for pair in pairs) for pairs in pairings(rows, columns)}
        best = max(values.values())
        assert {pairs for pairs in values if proves(savings, pairs)} == {
            pairs for pairs, value in values.items() if value == best
        }, seed


def test_nothing_is_the_best_of_nothing() -> None:
    """No pairs are proven where there is nothing to save, and not where there is."""
    assert proves(np.zeros((0, 3), dtype=object), [])
    assert proves(np.zeros((2, 0), dtype=object), [])
    assert proves(np.zeros((2, 2), dtype=object), [])
    assert not proves(np.array([[1]], dtype=object), [])


def _duals_random(seed: int) -> StandardForm:
    """Draw a bounded linear program with rows of every kind."""
    random = np.random.default_rng(seed)
    rows, columns = 5, 7
    matrix = random.integers(-3, 4, (rows, columns)).astype(float)
    inside = matrix @ random.uniform(0, 4, columns)
    room = random.uniform(0, 2, rows)
    kind = random.integers(0, 4, rows)
    return StandardForm.build(
        cost=random.uniform(-2, 3, columns),
        matrix=matrix,
        row_lower=np.where(kind == 0, -np.inf, inside - np.where(kind == 3, 0, room)),
        row_upper=np.where(kind == 1, np.inf, inside + np.where(kind == 3, 0, room)),
        column_upper=np.full(columns, 4.0),
        integer=np.zeros(columns, dtype=bool),
        offset=1.5,
    )


def _model(form: StandardForm) -> Model:
    task = Highs().request(form, time_limit=None, gap=0.0, start=None)[1]
    model: Model = task.model
    return model


def test_no_prices_prove_more_than_the_optimum() -> None:
    """Whatever the prices, their bound is at most the optimum; those of the optimum reach it."""
    for seed in range(60):
        form, random = _duals_random(seed), np.random.default_rng(seed)
        optimum = Highs().solve(form)
        assert optimum.objective is not None
        assert optimum.duals is not None
        largest = np.full(form.cost.size, 4.0)
        for scale in (0.0, 1e-9, 0.1, 10.0):
            prices = optimum.duals + scale * random.normal(size=optimum.duals.size)
            assert prove(_model(form), prices, largest).bound <= optimum.objective + 1e-12
        assert prove(_model(form), optimum.duals, largest).bound == pytest.approx(optimum.objective, abs=1e-9)


def test_reduced_costs_are_what_a_column_costs_more() -> None:
    """With a column raised by one, the bound and its reduced cost together are still at most the optimum."""
    for seed in range(30):
        form = _duals_random(seed)
        duals = unwrap(Highs().solve(form).duals)
        proof = prove(_model(form), duals, np.full(form.cost.size, 4.0))
        for column in np.flatnonzero(proof.reduced > 0):
            lower = form.column_lower.copy()
            lower[column] = 1.0
            raised = Highs().solve(form.with_bounds(lower, form.column_upper)).objective
            assert raised is None or proof.bound + proof.reduced[column] <= raised + 1e-9


def test_columns_count_up_to_the_lower_of_their_limits() -> None:
    """A column that pays counts up to its own limit, or up to what matters where that is less."""
    form = StandardForm.build(cost=[-1, -1], matrix=[[1, 1]], row_lower=[0], row_upper=[9], column_upper=[5, 5])
    bounds = [prove(_model(form), np.zeros(1), np.array(largest)).bound for largest in ([3.0, 9.0], [1.0, 2.0])]
    assert bounds == pytest.approx([-3 - 5, -1 - 2])


def test_rounding_adds_nothing_to_a_bound() -> None:
    """The bound is at most what the same prices prove in exact numbers, and hardly below it."""
    for seed in range(60):
        form, random = _duals_random(seed), np.random.default_rng(seed)
        model, prices = _model(form), random.normal(size=5)
        limits = np.where(prices > 0, form.row_lower, form.row_upper)
        exact = Fraction(form.offset)
        priced = [Fraction(float(cost)) for cost in form.cost]
        for price, limit, row in zip(prices.tolist(), limits.tolist(), form.matrix.toarray(), strict=True):
            if isfinite(limit):
                exact += Fraction(price) * Fraction(limit)
                priced = [
                    own - Fraction(price) * Fraction(float(a)) for own, a in zip(priced, row, strict=True)
                ]
        exact += 4 * sum((min(own, Fraction(0)) for own in priced), Fraction(0))
        bound = prove(model, prices, np.full(7, 4.0)).bound

        assert exact - Fraction(1, 10**11) <= Fraction(bound) <= exact


def program(seed: int) -> StandardForm:
    """Return a random linear program of covering and packing rows, with columns up to 3."""
    random = np.random.default_rng(seed)
    return StandardForm.build(
        cost=random.integers(-3, 9, 6),
        matrix=random.integers(0, 4, (4, 6)),
        row_lower=[3, 2, -np.inf, 1],
        row_upper=[np.inf, 9, 12, np.inf],
        column_upper=np.full(6, 3),
        integer=np.zeros(6, dtype=np.bool_),
        offset=0.5,
    )


@given(st.integers(0, 40), st.lists(st.floats(-5, 5), min_size=4, max_size=4))
def test_no_prices_prove_too_much(seed: int, prices: list[float]) -> None:
    """Whatever the prices, the bound is at most the value of every point of the program."""
    form = program(seed)
    proof = prove(_model(form), np.array(prices), np.full(6, 3.0))
    random = np.random.default_rng(seed)
    for point in random.uniform(0, 3, (200, 6)):
        if form.violation(point) == 0:
            assert proof.bound <= form.objective(point) + 1e-9


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
        return unwrap(
            probe(self.form, Budget(), choices=self.choices, largest=self.largest, cutoff=cutoff, pairs=pairs)
        )

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
