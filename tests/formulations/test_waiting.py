"""Exact methods for waiting."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

import gsopt
from formulations.waiting import exact
from formulations.waiting import search as search_module
from formulations.waiting.best import BestRuns
from formulations.waiting.instance import Place, SlottedInstance, SlottedRun
from formulations.waiting.intervals import intervals, solve_intervals
from formulations.waiting.latest import latest_ends
from formulations.waiting.listing import FreeProfile, place_all, search_lists
from formulations.waiting.relaxation import Relaxation, raised_demand
from formulations.waiting.search import DepthFirstSearch, PartialSchedule
from formulations.waiting.simple_bounds import bound_at_once, simple_bound
from formulations.waiting.split import find_conflict, find_split
from formulations.waiting.time_indexed import model_of, narrowed, solve_relaxation, time_indexed
from gsopt.core.budget import Budget
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.waiting import CellShare, Waiting
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.speed import TierPenalty
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.solvers.backends import Highs
from gsopt.solvers.scaling import optimize
from gsopt.solvers.standard_form import LARGEST_BIG_M
from gsopt.testing import check_formulation
from instances.waiting import tier_jobs
from tests.effort import cases
from tests.exactness import waiting as oracle
from tests.unwrap import unwrap


def test_brute_force_is_proven() -> None:
    """The optima of tiny instances are those of trying everything."""
    assert check_formulation(exact, [oracle.draw(Random(seed)) for seed in range(20, 30)]) == 10


def test_intervals_prove_what_the_relaxation_leaves_open() -> None:
    """Where no GPUs are found for the relaxation's schedule, its bound goes into the proof."""
    best = BestRuns(SlottedInstance.of(tier_jobs(jobs=5, seed=21, most=1.5)), Budget(), "test")
    search_lists(best)
    best.raise_bound(Fraction(51, 5))
    assert best.finished is None

    solve_intervals(best)

    assert best.value == best.bound == Fraction(53, 5)


@pytest.mark.parametrize("name", ["batch-mean-jct-j04", "batch-makespan-j04", "wait-for-a-machine"])
def test_without_cp_sat_the_relaxation_proves_what_it_can(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With HiGHS alone small instances are proven too."""
    monkeypatch.setattr(sys.modules["formulations.waiting.exact"], "find_spec", lambda _package: None)
    problem = gsopt.load(f"waiting/small/{name}")
    assert isinstance(problem, Waiting)
    result = exact(problem)

    assert result.status is Status.OPTIMAL
    assert float(unwrap(result.objective)) == unwrap(problem.about).objective
    assert result.message != "intervals"


def test_ten_jobs_of_least_makespan() -> None:
    """Ten jobs on 16 GPUs are proven."""
    result = exact(tier_jobs(jobs=10, seed=4, minimize="makespan"))
    assert result.status is Status.OPTIMAL


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("minimize", ["mean_jct", "makespan"])
def test_magnitudes(scale: float, minimize: str) -> None:
    """Run times of 17 digits at any magnitude, released at one moment of today, are proven to rounding."""
    release = 1.7e9 if scale >= 1 else 0.0
    jobs = [
        Job(name=str(i), release_date=release, duration=scale * (1 + i / 7), gpus=2, model="bert-large")
        for i in range(3)
    ]
    problem = Waiting.model_validate(
        {"cluster": Cluster.uniform(racks=2, machines=1, gpus=3), "jobs": jobs, "minimize": minimize}
    )
    result = exact(problem)

    assert result.status is Status.OPTIMAL


def test_without_time_there_is_a_list_and_a_bound() -> None:
    """A budget that has passed leaves a schedule and a bound all the same."""
    result = exact(tier_jobs(jobs=8, seed=0), time_limit=0.0)
    assert result.status is Status.FEASIBLE
    assert unwrap(result.bound) > 0


def test_what_no_gpus_are_found_for_is_a_bound_only() -> None:
    """Five jobs whose relaxation has a mean of 10.2 s need 10.6 s: the relaxation is not called exact."""
    problem = tier_jobs(jobs=5, seed=21, most=1.5)
    relaxed, exact = time_indexed(problem), intervals(problem)
    assert (relaxed.status, relaxed.bound) == (Status.FEASIBLE, Fraction(51, 5))
    assert relaxed.message == "the relaxation is a bound only: no GPUs were found for its schedule"
    assert (exact.status, exact.objective) == (Status.OPTIMAL, Fraction(53, 5))


def test_gpus_found_for_its_schedule_make_it_exact() -> None:
    """From the worst list, the relaxation's schedule is the better one, and optimal once GPUs are found."""
    jobs = [Job(name=n, release_date=0, duration=d, gpus=2) for n, d in [("a", 1), ("b", 2), ("c", 3)]]
    problem = Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=2), jobs=jobs)
    best = BestRuns(SlottedInstance.of(problem), Budget(), "test")
    best.take(problem.started([CellShare(2, {0: 2}), CellShare(1, {0: 2}), CellShare(0, {0: 2})]))

    message = solve_relaxation(best)

    assert message == "exact: GPUs were found for the schedule of the relaxation"
    assert best.value == best.bound == Fraction(1 + 2 + 4, 3)


def test_columns_left_out_by_their_reduced_costs_were_needless() -> None:
    """With and without the columns that no better schedule has, the relaxation's optimum is the same."""
    problem = tier_jobs(jobs=4, seed=1, most=2)
    best = BestRuns(SlottedInstance.of(problem), Budget(), "test")
    best.take(problem.started([CellShare(job, _anywhere(problem, job)) for job in range(4)]))
    whole = Highs().solve(model_of(best).form())
    solve_relaxation(best)

    assert best.bound >= Fraction(unwrap(whole.objective)).limit_denominator(10**6)


def _anywhere(problem: Waiting, job: int) -> dict[int, int]:
    """Return GPUs of the first cells."""
    need, counts = problem.jobs[job].gpus, {}
    for cell, gpus in enumerate(problem.cells):
        if need:
            counts[cell] = min(need, len(gpus))
            need -= counts[cell]
    return counts


def test_time_indexed_without_time_there_is_a_list_and_a_bound() -> None:
    """A budget that has passed leaves a schedule and a bound all the same."""
    result = time_indexed(tier_jobs(jobs=8, seed=0), time_limit=0.0)
    assert result.status is Status.FEASIBLE
    assert unwrap(result.bound) > 0


def test_a_wanted_gap_ends_it() -> None:
    """With any gap allowed the simple bound suffices."""
    result = time_indexed(tier_jobs(jobs=8, seed=0), budget=replace(Budget(), gap=9.0))
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, "gap")


def test_slots_are_long_enough_for_rows_of_the_makespan() -> None:
    """Two nanoseconds thirty years apart take next to no entries, and no more slots than rows may count."""
    jobs = [Job(name=str(r), release_date=r, duration=1e-9, gpus=1) for r in (0, 1e9)]
    problem = Waiting(cluster=Cluster.uniform(machines=1, gpus=1), jobs=jobs, minimize="makespan")
    best = BestRuns(SlottedInstance.of(problem), Budget(), "test")
    best.take(problem.started([CellShare(0, {0: 1}), CellShare(1, {0: 1})]))
    model = model_of(best)

    assert model.instance.lengths[0][0] == 0
    assert 10_000 < model.horizon <= LARGEST_BIG_M


def test_intervals_brute_force_is_proven() -> None:
    """The optima of tiny instances are those of trying everything."""
    assert check_formulation(intervals, [oracle.draw(Random(seed)) for seed in range(20)]) == 20


@pytest.mark.parametrize("minimize", ["mean_jct", "makespan"])
def test_any_levels_will_do(minimize: Any) -> None:
    """In a cluster with islands a job of three GPUs takes the machine, and two of two take an island each."""
    machine = Machine(name="m", gpus=4, islands=[Island(name="i", gpus=2), Island(name="k", gpus=2)])
    cluster = Cluster(racks=[Rack(name="r", machines=[machine])])
    jobs = [Job(name=n, release_date=0, duration=10, gpus=g) for n, g in [("a", 3), ("b", 2), ("c", 2)]]
    result = intervals(Waiting(cluster=cluster, jobs=jobs, minimize=minimize))

    assert result.status is Status.OPTIMAL
    assert float(unwrap(result.objective)) == pytest.approx({"mean_jct": 40 / 3, "makespan": 20}[minimize])


def test_the_caller_hears_of_better_schedules_and_may_stop() -> None:
    """Every incumbent is judged and better than the one before; the callback's True ends the search."""
    heard: list[Result[Any]] = []

    def stop_at_second(result: Result[Any]) -> bool:
        heard.append(result)
        return len(heard) == 2

    result = intervals(tier_jobs(jobs=8, seed=0), on_incumbent=stop_at_second)
    values = [each.objective for each in heard if each.objective is not None]

    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values) == 2
    assert result.stopped_by is StoppedBy.INTERRUPT
    assert result.objective == values[-1]


def test_no_backend_is_taken() -> None:
    """The message says that the backend had no use."""
    from gsopt.solvers.backends import Highs

    assert "intervals takes no backend" in intervals(tier_jobs(jobs=2), backend=Highs()).message


@pytest.mark.parametrize("minimize", ["mean_jct", "makespan"])
def test_times_too_different_for_its_slots_leave_a_bound_that_holds(minimize: str) -> None:
    """From the worst order of thirty years and a third of a second, the bound comes near."""
    jobs = [Job(name=str(d), release_date=1.7e9, duration=d, gpus=1) for d in (1e9, 1 / 3)]
    problem = Waiting.model_validate(
        {"cluster": Cluster.uniform(machines=1, gpus=1), "jobs": jobs, "minimize": minimize}
    )
    best = BestRuns(SlottedInstance.of(problem), Budget(), "test")
    best.take(problem.started([CellShare(job, {0: 1}) for job in (0, 1)]))
    solve_intervals(best)
    optimum = oracle.optimum(problem)

    assert optimum * (1 - Fraction(1, 10**9)) < best.bound <= optimum == best.known_value


RULES = ("is_hopeless", "is_twin", "is_seen")


def begun(problem: Waiting, *, worst: bool = False) -> BestRuns:
    """Begin with lists, or with the worst schedule: in an order against the lengths, as far apart as can be."""
    best = BestRuns(SlottedInstance.of(problem), Budget(), "test")
    if not worst:
        search_lists(best)
        return best
    order = sorted(range(len(problem.jobs)), key=lambda job: -problem.jobs[job].duration)
    best.take(problem.started([CellShare(job, _spread(problem, job)) for job in order]))
    return best


def _spread(problem: Waiting, job: int) -> dict[int, int]:
    """Return a job's GPUs in as many cells as there are, one after the other."""
    counts = dict.fromkeys(range(len(problem.cells)), 0)
    while sum(counts.values()) < problem.jobs[job].gpus:
        for cell, gpus in enumerate(problem.cells):
            if counts[cell] < len(gpus) and sum(counts.values()) < problem.jobs[job].gpus:
                counts[cell] += 1
    return {cell: count for cell, count in counts.items() if count}


def tiny(
    *jobs: tuple[float, float, int], racks: tuple[tuple[int, ...], ...], minimize: str = "mean_jct"
) -> Waiting:
    """Return jobs by release, run time and GPUs, all the worse for any distance, on machines by rack."""
    made = [Job(name=str(i), release_date=r, duration=d, gpus=g, model="m") for i, (r, d, g) in enumerate(jobs)]
    cluster = Cluster(
        racks=[
            Rack(name=f"r{r}", machines=[Machine(name=f"m{r}.{m}", gpus=g) for m, g in enumerate(rack)])
            for r, rack in enumerate(racks)
        ]
    )
    penalties = {"m": TierPenalty(machine=0.0, rack=0.5, network=2.0)}
    return Waiting.model_validate(
        {"cluster": cluster, "jobs": made, "penalties": penalties, "minimize": minimize}
    )


#: Instances on which a rule that leaves out one state too many leaves out the best schedule, with their optima.
TINY = [
    (tiny((0, 2, 1), (0, 1, 1), racks=((1,),)), 2),
    (tiny((0, 6, 1), (2, 2, 1), (2, 2, 1), racks=((1,),)), 6),
    (tiny((0, 6, 1), (1, 1, 1), (1, 2, 1), racks=((2,),)), Fraction(10, 3)),
    (tiny((0, 1, 1), (0, 2, 3), racks=((2, 1), (1,))), 2),
    (tiny((1, 2, 2), (0, 6, 1), racks=((2,), (1, 1))), 4),
    (tiny((1, 3, 3), (0, 4, 1), racks=((2, 1), (1,))), Fraction(17, 4)),
    (tiny((0, 1, 3), (0, 3, 2), (0, 2, 2), (1, 2, 1), racks=((1, 1), (1,))), Fraction(43, 8)),
    (tiny((1, 6, 2), (1, 3, 2), (0, 6, 1), racks=((1, 1), (1, 1)), minimize="makespan"), Fraction(21, 2)),
]


@pytest.mark.parametrize("off", [(), *((rule,) for rule in RULES), RULES])
def test_what_is_left_out_is_needless(off: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """With any rule switched off, or all, the optimum is the same, from the worst schedule on."""
    for rule in off:
        monkeypatch.setattr(DepthFirstSearch, rule, lambda *_: False)
    problems = [oracle.draw(Random(f"search {seed}")) for seed in range(cases(15))]
    for problem, optimum in [*TINY, *((problem, oracle.optimum(problem)) for problem in problems)]:
        best = begun(problem, worst=True)
        assert DepthFirstSearch(best).run(nodes=10**6)
        assert best.value == best.bound == optimum, problem


def _too_hopeless(self: DepthFirstSearch) -> Fraction:
    return LIMIT(self) - 1


def _serving_more(ready: list[int], area: int) -> int:
    return SERVED(ready, area) + 1


def _serving_from_now(ready: list[int], area: int) -> int:
    return -(-(area + sum(ready)) // len(ready))


def _same_demand(self: DepthFirstSearch, job: int, others: tuple[int, ...]) -> bool:
    return any(self.kinds[other][1] == self.kinds[job][1] for other in others)


def _same_but_for_length(self: DepthFirstSearch, job: int, others: tuple[int, ...]) -> bool:
    return any(self.kinds[other][:2] == self.kinds[job][:2] for other in others)


def _no_groups(_: DepthFirstSearch, state: PartialSchedule) -> object:
    return tuple(sorted(max(free, state.now) for cell in state.free for free in cell))


def _cells_alone(_: DepthFirstSearch, state: PartialSchedule) -> object:
    return tuple(sorted(tuple(max(free, state.now) for free in cell) for cell in state.free))


def _free_or_not(_: DepthFirstSearch, state: PartialSchedule) -> object:
    return tuple(sorted(tuple(free <= state.now for free in cell) for cell in state.free))


def _seen_at_all(self: DepthFirstSearch, state: PartialSchedule) -> bool:
    key = (state.now, frozenset(state.left), self._shape(state))
    found = key in self.seen
    self.seen[key] = state.paid
    return found


LIMIT = DepthFirstSearch.limit
SERVED = search_module.first_slot

#: Rules that leave out too much, by where they belong.
WRONG = [
    ("limit", _too_hopeless),
    ("first_slot", _serving_more),
    ("first_slot", _serving_from_now),
    ("is_twin", _same_demand),
    ("is_twin", _same_but_for_length),
    ("_shape", _no_groups),
    ("_shape", _cells_alone),
    ("_shape", _free_or_not),
    ("is_seen", _seen_at_all),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG, ids=[wrong.__name__ for _, wrong in WRONG])
def test_one_state_too_many_is_noticed(name: str, wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any rule that leaves out more than it may gives a wrong value on some of these instances."""
    monkeypatch.setattr(search_module if name == "first_slot" else DepthFirstSearch, name, wrong)
    found = []
    for problem, optimum in TINY:
        best = begun(problem, worst=True)
        DepthFirstSearch(best).run(nodes=10**6)
        found.append(best.value == optimum)
    assert not all(found)


@pytest.mark.parametrize("minimize", ["mean_jct", "makespan"])
def test_magnitudes_in_one_instance(minimize: str) -> None:
    """Run times from a nanosecond to thirty years, some of 17 digits, are proven exactly on today's clock."""
    times = (1e-9, 1e9, 1 / 3, 0.1, 1e9 + 1 / 3)
    problem = tiny(*((1.7e9 + 0.1 * i, d, 1 + i % 2) for i, d in enumerate(times)), racks=((1,), (2,)))
    problem = problem.model_copy(update={"minimize": minimize})
    best = begun(problem)

    assert DepthFirstSearch(best).run(nodes=10**5)
    assert best.value == best.bound == oracle.optimum(problem)


def test_it_gives_up() -> None:
    """What takes more states than allowed, or has more ways than are worth it, proves nothing."""
    problem = tiny(*((0, 1 + i, 1) for i in range(7)), racks=((1, 1, 1),))
    best = begun(problem, worst=True)
    bound = best.bound
    many = tiny((0, 1, 30), (0, 2, 30), racks=((10, 10, 10, 10, 10),))

    assert not DepthFirstSearch(best).run(nodes=20)
    assert best.bound == bound
    assert not DepthFirstSearch(begun(many, worst=True)).run(nodes=10**6)


def test_places_within_others_that_are_as_fast_have_no_columns() -> None:
    """A job that runs as fast in a rack as on a machine is counted in the rack, one on a GPU on its machine."""
    jobs = [Job(name=str(g), release_date=0, duration=10, gpus=g, model="resnet50") for g in (1, 2)]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(racks=2, machines=2, gpus=2), jobs=jobs))
    model = Relaxation(instance, latest_ends(instance, 20))
    assert model.places == ((0,), (4, 6))
    assert {instance.places[place].tier for place in model.places[1]} == {1, 2}


@pytest.mark.parametrize(
    ("racks", "merged"),
    [
        (((2, 2), (2, 2)), (0, 0, 0, 0, 4, 4, 6)),
        (((2, 2), (2, 1)), (0, 1, 2, 3, 4, 5, 6)),
        (((2, 2), (4,)), (0, 1, 2, 3, 4)),
        (((2,), (2,)), (0, 0, 2)),
        (((2, 2), (2,)), (0, 1, 2, 3, 4)),
        (((1, 3), (2, 2)), (0, 1, 2, 3, 4, 5, 6)),
    ],
)
def test_places_are_merged_if_those_of_each_tier_are_alike(
    racks: tuple[tuple[int, ...], ...], merged: tuple[int, ...]
) -> None:
    """Machines and racks of equal size count as one each; a single other size keeps all places apart."""
    problem = tiny((0, 5, 2), (0, 5, 1), (1, 3, 3), racks=racks)
    instance = SlottedInstance.of(problem)
    assert Relaxation(instance, latest_ends(instance, 60)).merged == merged


@pytest.mark.parametrize("seed", range(cases(40)))
def test_the_relaxation_bounds_the_optimum(seed: int) -> None:
    """On random clusters, uniform or not, the relaxation is at most the optimum over all orders."""
    random = Random(seed)
    racks = random.choice((((2, 2), (2, 2)), ((3,), (3,)), ((1, 3), (2,)), ((4, 4), (4, 4)), ((2, 1), (2, 1))))
    most = sum(map(sum, racks))
    jobs = [(random.randint(0, 4), random.randint(1, 6), random.randint(1, most)) for _ in range(4)]
    best = begun(tiny(*jobs, racks=racks))
    assert DepthFirstSearch(best).run(100_000)
    again = begun(tiny(*jobs, racks=racks))
    solve_relaxation(again)
    assert again.bound <= unwrap(best.value) <= unwrap(again.value)


def test_times_that_are_no_slots_give_a_bound_that_holds() -> None:
    """On longer slots times are rounded down: the bound is below the optimum, and near it."""
    problem = tier_jobs(jobs=5, seed=3)
    exact = intervals(problem)
    best = BestRuns(SlottedInstance.of(problem), Budget(start=exact.solution), "test")
    assert best.value is not None
    latest = latest_ends(best.instance, best.value)
    bounds = []
    for factor in (1, 2, 4):
        model = Relaxation(best.instance.coarser(factor), latest)
        assert model.instance.is_exact == (factor == 1)
        start = model.point(model.instance.choices(best.known))
        assert model.form().violation(start) == 0
        bounds.append(optimize(model.form(), Budget(), costs=model.costs, start=start).bound)

    assert all(bound is not None and bound <= best.value for bound in bounds)
    assert bounds == sorted(bounds, key=lambda bound: -(bound or 0))
    assert unwrap(bounds[2]) > 0.7 * best.value


@pytest.mark.parametrize("gpus", range(1, 13))
def test_raised_demands_fit_wherever_the_demands_fit(gpus: int) -> None:
    """For every multiset of demands that fits into a place, the raised demands fit, too."""

    def fitting(room: int, most: int) -> Iterator[list[int]]:
        yield []
        for demand in range(1, min(room, most) + 1):
            for others in fitting(room - demand, demand):
                yield [demand, *others]

    assert raised_demand(gpus, gpus) == gpus
    for demands in fitting(gpus, gpus):
        assert sum(raised_demand(demand, gpus) for demand in demands) <= gpus


def test_packing_rows_allow_every_schedule_and_raise_the_bound() -> None:
    """List schedules break no row, and the bound of three jobs of 3 GPUs on 2 x 4 GPUs is the optimum."""
    packed = 0
    for seed in range(cases(40, least=14)):
        problem = tier_jobs(jobs=5, seed=seed)
        best = BestRuns(SlottedInstance.of(problem), Budget(), "test")
        search_lists(best)
        model = model_of(best)
        form = model.form()
        packed += any(row.startswith("pack") for row in form.rows)
        assert form.violation(model.point(best.instance.choices(best.known))) == 0
    assert packed > 10

    jobs = [Job(name=n, release_date=0, duration=10, gpus=3, model="resnet18") for n in "abc"]
    problem = Waiting(cluster=Cluster.uniform(machines=2, gpus=4), jobs=jobs)
    best = BestRuns(SlottedInstance.of(problem), Budget(), "test")
    search_lists(best)
    narrowed(model_of(best), best, Budget())
    assert best.bound == best.value


def test_a_conflict_is_a_row_that_the_schedule_breaks() -> None:
    """Three jobs of three GPUs that start together on four: the row forbids two of them, and no list."""
    jobs = [Job(name=n, release_date=0, duration=10, gpus=3) for n in "abc"]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=jobs))
    model = Relaxation(instance, latest_ends(instance, 20))
    together = [SlottedRun(0, 2), SlottedRun(1, 2), SlottedRun(0, 2)]
    conflict = find_conflict(instance, together, Budget())
    assert conflict == [0, 2]
    form = model.without(model.form(), together, conflict)
    one_by_one = [SlottedRun(0, 2), SlottedRun(1, 2), SlottedRun(2, 2)]

    assert form.rows[-1].startswith("conflict")
    assert (form.matrix @ model.point(together))[-1] == 2
    assert form.violation(model.point(one_by_one)) == 0


def rack_of_two(*jobs: tuple[int, int]) -> SlottedInstance:
    """Return jobs by run time and GPUs, in a rack of two machines of two GPUs, without penalties."""
    made = [Job(name=str(i), release_date=0, duration=d, gpus=g) for i, (d, g) in enumerate(jobs)]
    return SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=made))


def test_other_gpus_than_those_chosen_are_found() -> None:
    """Two jobs on a GPU each of both machines leave no machine to one of two GPUs: they are put together."""
    jobs = [
        Job(name=str(i), release_date=0, duration=d, gpus=g, model="resnet18")
        for i, (d, g) in enumerate([(4, 1), (4, 1), (2, 2)])
    ]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=jobs))
    split = unwrap(find_split(instance, [SlottedRun(0, 0), SlottedRun(0, 1), SlottedRun(0, 0)], Budget()))

    assert split[0].counts == split[1].counts != split[2].counts


def test_more_gpus_than_there_are_have_no_split() -> None:
    """Five GPUs at a time are not there; one after the other they are."""
    instance = rack_of_two((1, 3), (1, 2))
    assert find_split(instance, [SlottedRun(0, 2), SlottedRun(0, 2)], Budget()) is None
    found = unwrap(find_split(instance, [SlottedRun(0, 2), SlottedRun(1, 2)], Budget()))
    assert [sum((choice.counts or {}).values()) for choice in found] == [3, 2]


def test_a_long_job_keeps_its_gpus() -> None:
    """A job of three GPUs beside short ones of one holds the same GPUs to its end."""
    instance = rack_of_two((3, 3), (1, 1), (2, 1))
    found = unwrap(find_split(instance, [SlottedRun(0, 2), SlottedRun(0, 0), SlottedRun(1, 1)], Budget()))
    assert instance.problem.violations(instance.solution(found)) == []


def test_a_conflict_is_as_small_as_it_can_be_and_no_guess() -> None:
    """Jobs that could stay are left out of a conflict; without time nothing is called one."""
    instance = rack_of_two((1, 1), (1, 3), (1, 1), (1, 2))
    choices = [SlottedRun(0, 0), SlottedRun(0, 2), SlottedRun(0, 0), SlottedRun(0, 1)]
    assert find_conflict(instance, choices, Budget()) == [1, 3]
    assert find_conflict(instance, choices, Budget(time_limit=0.0)) is None
    assert find_conflict(instance, choices[:1], Budget()) is None


def test_places_that_hold_the_same_cells_are_one() -> None:
    """A rack of one machine, and a network of one rack, add no place."""
    job = Job(name="a", release_date=0, duration=1, gpus=1)
    one = SlottedInstance.of(Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=4), jobs=[job]))
    machine = Machine(name="m", gpus=4, islands=[Island(name="i", gpus=1), Island(name="k", gpus=3)])
    islands = SlottedInstance.of(
        Waiting(cluster=Cluster(racks=[Rack(name="r", machines=[machine])]), jobs=[job])
    )

    assert one.places == (Place(0, (0,), 4), Place(0, (1,), 4), Place(2, (0, 1), 8))
    assert islands.places == (Place(0, (0,), 1), Place(0, (1,), 3), Place(1, (0, 1), 4))


def test_slots_are_the_longest_that_divide_all_times() -> None:
    """Run times of 10.2, 11.3 and 20 s and a release half a second later are whole tenths of a second."""
    jobs = [
        Job(name=name, release_date=release, duration=10, gpus=2, model="alexnet")
        for name, release in [("a", 1.7e9), ("b", 1.7e9 + 0.5)]
    ]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=2), jobs=jobs))

    assert (instance.slot, instance.is_exact) == (Fraction(1, 10), True)
    assert (instance.origin, instance.release) == (1_700_000_000, (0, 5))
    assert instance.coarser(10).lengths == ((10, 11, 20),) * 2
    assert not instance.coarser(10).is_exact


def test_times_too_different_for_solvers_are_rounded_down() -> None:
    """A nanosecond beside thirty years are whole slots, too many for solvers, which get longer ones."""
    jobs = [
        Job(name=name, release_date=0, duration=seconds, gpus=1) for name, seconds in [("a", 1e-9), ("b", 1e9)]
    ]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs))
    near = SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs[:1]))

    assert (instance.is_exact, instance.lengths) == (True, ((1,) * 3, (10**18,) * 3))
    assert not instance.limited.is_exact
    assert instance.limited.lengths[0] == (0, 0, 0)
    assert 2 * instance.limited.lengths[1][0] <= 2**42
    assert near.limited is near


def test_a_schedule_is_the_same_there_and_back() -> None:
    """As choices and as a schedule again, nothing starts later than it did."""
    for seed in range(40):
        problem = oracle.draw(Random(seed))
        instance = SlottedInstance.of(problem)
        solution = instance.solution(_anyhow(instance))
        again = instance.solution(instance.choices(solution))
        assert {run.job: run.start for run in again.runs} == {run.job: run.start for run in solution.runs}


def _anyhow(instance: SlottedInstance) -> list[SlottedRun]:
    jobs = range(len(instance.demand))
    return place_all(instance, jobs, [9 for _ in jobs]) or []


def test_values_in_seconds() -> None:
    """The mean counts from each job's release, the makespan from the first one."""
    mean = SlottedInstance.of(tier_jobs(jobs=2, arrivals="poisson", seed=2))
    last = SlottedInstance.of(tier_jobs(jobs=2, arrivals="poisson", seed=2, minimize="makespan"))
    later = mean.exact_release[1]
    assert mean.value([10, 20]) == Fraction(30 - later) / 2
    assert last.value([10, 20]) == 20


def test_a_horizon_from_the_makespan_loses_the_optimum() -> None:
    """Jobs of 1, 1, 1 and 3 s on 2 GPUs end by 3 s at best, and by 4 s when their mean is best."""
    jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in zip("abcd", (1, 1, 1, 3), strict=True)]
    problem = Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)
    makespan = intervals(Waiting(cluster=problem.cluster, jobs=jobs, minimize="makespan"))
    assert makespan.objective == 3
    instance = SlottedInstance.of(problem)

    def best_until(latest: list[Fraction]) -> Fraction:
        model = Relaxation(instance, latest)
        proof = optimize(model.form(), Budget(), costs=model.costs)
        assert proof.status is Status.OPTIMAL
        return Fraction(unwrap(proof.bound))

    trapped = best_until([Fraction(3)] * 4)
    valid = best_until([Fraction(end) for end in latest_ends(instance, trapped)])

    assert (trapped, valid) == (Fraction(9, 4), Fraction(2))
    assert time_indexed(problem).objective == intervals(problem).objective == 2


def test_no_optimal_schedule_ends_later() -> None:
    """On 30 tiny instances every job of an optimal schedule ends by its latest end for the optimum."""
    for seed in range(30):
        problem = oracle.draw(Random(seed))
        result = intervals(problem)
        instance = SlottedInstance.of(problem)
        latest = latest_ends(instance, Fraction(unwrap(result.objective)))
        ends = {segment.job: segment.end for segment in problem.schedule(unwrap(result.solution)).segments}
        for job, end in zip(problem.jobs, latest, strict=True):
            assert ends[job.name] <= float(end + instance.origin) * (1 + 1e-12), problem.name


def test_a_job_waits_where_that_ends_sooner() -> None:
    """Where each machine has one GPU left for 10 s, two GPUs of ResNet-18 wait: far apart 5 s are 143."""
    jobs = [
        Job(name=name, release_date=0, duration=seconds, gpus=gpus, model="resnet18")
        for name, seconds, gpus in [("a", 10, 2), ("b", 10, 2), ("c", 5, 2)]
    ]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=3), jobs=jobs))
    profile = FreeProfile(instance)
    placed = [profile.place(job) for job in range(3)]

    assert [choice.start * instance.slot for choice in placed] == [0, 0, Fraction("10.7")]
    assert [choice.counts for choice in placed[:2]] == [{0: 2}, {1: 2}]


def test_all_places_of_the_innermost_sufficient_tier_are_tried() -> None:
    """Two jobs of 3 GPUs, too many for a machine, run side by side in two racks, and do not wait for one."""
    jobs = [Job(name=name, release_date=0, duration=10, gpus=3, model="resnet18") for name in "ab"]
    cluster = Cluster.uniform(racks=2, machines=2, gpus=2)
    profile = FreeProfile(SlottedInstance.of(Waiting(cluster=cluster, jobs=jobs)))
    assert [profile.place(job, widest=0).start for job in range(2)] == [0, 0]


@pytest.mark.parametrize("seed", range(6))
def test_what_lists_say_is_what_the_judge_finds(seed: int) -> None:
    """Every order's schedule is legal, and its value no more than the sum of its slots says."""
    problem = tier_jobs(jobs=9, seed=seed)
    instance = SlottedInstance.of(problem)
    order = Random(seed).sample(range(9), 9)
    choices = unwrap(place_all(instance, order, [seed % 3] * 9))
    ends = [choice.start + instance.length(job, choice.place) for job, choice in enumerate(choices)]
    solution = instance.solution(choices)

    assert problem.violations(solution) == []
    assert problem.objective(solution) <= Fraction(sum(ends)) / 9


def test_the_search_finds_most_optima_of_tiny_instances() -> None:
    """Of 30 tiny instances the lists find the optimum of at least 25, and beat none."""
    found = 0
    for seed in range(30):
        problem = oracle.draw(Random(seed))
        best = BestRuns(SlottedInstance.of(problem), Budget(), "test")
        search_lists(best)
        optimum = oracle.optimum(problem)
        assert best.value is not None
        assert best.value >= optimum - problem.resolution(optimum)
        found += best.value - optimum <= problem.resolution(optimum)
    assert found >= 25


def test_without_time_there_is_one_list() -> None:
    """The first list is finished, however late it is; a further one is not begun."""
    instance = SlottedInstance.of(tier_jobs(jobs=30, seed=0))
    best = BestRuns(instance, Budget(time_limit=0.0), "test")
    search_lists(best)
    assert best.solution is not None
    assert place_all(instance, range(30), [2] * 30, Budget(time_limit=0.0)) is None


def bound(*jobs: Job, minimize: str) -> Fraction:
    """Bound jobs on two racks of one machine of two GPUs."""
    cluster = Cluster.uniform(racks=2, machines=1, gpus=2)
    problem = Waiting.model_validate({"cluster": cluster, "jobs": list(jobs), "minimize": minimize})
    return Fraction(simple_bound(SlottedInstance.of(problem)))


def job(name: str, seconds: float, gpus: int, release: float = 0.0) -> Job:
    """Return a job of AlexNet."""
    return Job(name=name, release_date=release, duration=seconds, gpus=gpus, model="alexnet")


def test_every_part_of_the_makespan_counts() -> None:
    """A job alone on its best tier; the GPU time of all; the GPU time of those that come late."""
    assert bound(job("a", 10, 4), minimize="makespan") == 20
    assert bound(job("a", 10, 3), job("b", 10, 1), job("c", 10, 4), minimize="makespan") == Fraction(150, 4)
    assert bound(job("a", 1, 1), job("b", 10, 4, 50.0), job("c", 5, 4, 50.0), minimize="makespan") == 80


def test_every_part_of_the_mean_counts() -> None:
    """Run times on the best tiers; or GPU time, where all jobs need all GPUs."""
    assert bound(job("a", 10, 1), job("b", 20, 1), minimize="mean_jct") == 15
    assert bound(job("a", 10, 4), job("b", 20, 4), minimize="mean_jct") == Fraction(20 + 60, 2)


def test_no_optimum_is_below_and_no_optimal_end_is_too_late() -> None:
    """On tiny instances the bound is at most the optimum, and the optimum's ends are at most the latest."""
    for seed in range(cases(20)):
        problem = oracle.draw(Random(seed))
        instance = SlottedInstance.of(problem)
        optimum = oracle.optimum(problem)
        assert simple_bound(instance) <= optimum, problem.name
        latest = latest_ends(instance, optimum)
        assert all(
            latest[j] >= instance.exact_release[j] + instance.shortest(j) for j in range(len(problem.jobs))
        )


def test_prices_raise_the_bound_of_the_mean() -> None:
    """Where some jobs come late, prices of GPU time prove more than formulas, and that is kept."""
    jobs = [job(str(i), 1 + 10 * (i % 3), 1 + i % 2, float(i)) for i in range(12)]
    problem = Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)
    best = BestRuns(SlottedInstance.of(problem), Budget(), "test")
    bound_at_once(best)

    priced = unwrap(mean_jct_bound(problem.scenario))
    assert best.bound > simple_bound(best.instance)
    assert float(best.bound) >= priced.mean_jct * (1 - 1e-9)


def test_the_grid_stays_beside_the_problem() -> None:
    """The problem is the instance's, and at first nothing is known of it."""
    job = Job(name="a", release_date=0, duration=3, gpus=2)
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=[job]))
    best = BestRuns(instance, Budget(), "test")

    assert best.instance is instance
    assert best.problem is instance.problem
    assert (best.solution, best.bound) == (None, 0)
