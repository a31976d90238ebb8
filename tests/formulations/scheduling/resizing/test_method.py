"""Scheduling of resizable jobs."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise, product
from random import Random
from typing import Any

import pytest
from pyomo.common.errors import InvalidConstraintError

from formulations.common.prover import Prover
from formulations.scheduling import event_orders, exact, milp, resizing
from formulations.scheduling.resizing.cuts import groups
from formulations.scheduling.resizing.jobs import Resizable
from formulations.scheduling.resizing.model import COST, launch_model, soonest_completions
from formulations.scheduling.resizing.order import Event, best_steps
from formulations.scheduling.resizing.rules import launch
from gsopt.core.errors import Unsupported
from gsopt.core.method import Method
from gsopt.core.numbers.tolerances import CONTINUOUS
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.solvers.standard_form import StandardForm
from tests.effort import cases
from tests.exactness import resizing as oracle
from tests.exactness.resizing import draw, elastic, optimum
from tests.unwrap import unwrap


def problem(gpus: int, *jobs: ElasticJob) -> Scheduling:
    """Return a problem without preemption."""
    return Scheduling(gpus=gpus, jobs=jobs, preemptive=False)


def later(job: ElasticJob, release: float) -> ElasticJob:
    """Return a job that is released at a time."""
    return job.model_copy(update={"release": release})


def late_start() -> Scheduling:
    """Make jobs of which the inelastic one must start between completions, to complete with the last small one.

    From the start on it would slow down two small jobs too long: 195.6 s in all. After the first small one it
    would keep the large one waiting: 195.9 s.
    """
    small = [elastic(f"small {index}", 60, 1, 8) for index in range(3)]
    return problem(8, elastic("inelastic", 93.6, 3, 3), *small, elastic("large", 480, 8, 8))


@pytest.mark.parametrize(("most", "total"), [(6, 83 + 1 / 3), (3, 124)])
def test_tables_3_and_4(most: int, total: float) -> None:
    """The completion times of Aryl's two jobs add up to 83.33 s, and to 124 s where job A is less elastic."""
    result = resizing(problem(8, elastic("A", 300, 2, most), elastic("B", 120, 2, 6)))
    assert result.status is Status.OPTIMAL
    assert 2 * float(result.objective or 0) == pytest.approx(total)


def test_one_job_has_its_most_workers() -> None:
    """A job alone completes in its work over its most GPUs."""
    result = resizing(problem(10, elastic("a", 60, 1, 4, size=2)))
    assert (result.status, result.objective) == (Status.OPTIMAL, 60 / 8)


@pytest.mark.parametrize("jobs", [2, 3])
def test_every_order_of_events(jobs: int) -> None:
    """Released together, early or late, jobs have the optimum of all orders of starts and completions."""
    together = [draw(Random(seed), jobs) for seed in range(cases(20))]
    released = [draw(Random(seed), jobs, latest=(1, 5, 20)[seed % 3]) for seed in (10, 13, *range(cases(15)))]
    for instance in together + released:
        result, least = resizing(instance), optimum(instance)

        assert result.status is Status.OPTIMAL, instance
        assert result.objective == pytest.approx(least, rel=1e-6), instance


def test_a_large_job_waits_for_a_small_one() -> None:
    """All GPUs stand still until a job of a second comes, as the one that is there would take ten."""
    jobs = elastic("large", 40, 4, 4), later(elastic("small", 4, 4, 4), 1)
    result = resizing(problem(4, *jobs))
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx((12 + 1) / 2)


def test_nothing_runs_before_the_next_release_date() -> None:
    """A job that is released long after the other one is complete runs by itself, on its most GPUs."""
    jobs = elastic("early", 8, 1, 4), later(elastic("late", 8, 1, 4), 1e6)
    result = resizing(problem(4, *jobs))
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(2)


def test_a_job_starts_between_completions() -> None:
    """In the optimum, of 195 s in all, the inelastic job starts after 3 s, when nothing completes."""
    result = exact(late_start())
    starts = [run.start for run in unwrap(result.solution).runs if run.job == "inelastic"]

    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(195 / 5)
    assert starts == [pytest.approx(3)]
    assert result.method == "exact"


def test_workers_of_two_sizes() -> None:
    """Where shares of GPUs are no averages of workers, there is a schedule and a bound that is no higher."""
    mixed = problem(7, elastic("a", 30, 1, 3, size=2), elastic("b", 30, 1, 2, size=3), elastic("c", 9, 1, 1))
    result = resizing(mixed)
    assert result.bound is not None
    assert result.bound <= unwrap(result.objective) <= 1.2 * result.bound


@pytest.mark.parametrize(
    ("instance", "rule"),
    [
        (Scheduling(gpus=2, jobs=[elastic("a", 1, 1, 2)]), "must not allow preemption"),
        (Scheduling(gpus=2, jobs=[elastic("a", 1, 1, 2)], preemptive=False, fairness=1), "fairness"),
        (problem(2, ElasticJob(name="a", release=0, work=1, rates={1: 1.0, 2: 1.5})), "proportional"),
        (problem(4, ElasticJob(name="a", release=0, work=1, rates={1: 1.0, 2: 2.0, 4: 4.0})), "every number"),
        (problem(2, *(elastic(str(index), 1, 1, 2) for index in range(31))), "31 jobs .* at most 900"),
        (
            problem(2, *(later(elastic(str(index), 1, 1, 2), index / 9) for index in range(14))),
            "14 release dates",
        ),
    ],
)
def test_what_it_does_not_express(instance: Scheduling, rule: str) -> None:
    """Other problems are refused in one line."""
    with pytest.raises(Unsupported, match=rule):
        resizing(instance)


@pytest.mark.parametrize("method", [event_orders, milp])
def test_others_know_no_runs_to_completion(method: Method) -> None:
    """The methods for preemption refuse problems without it."""
    with pytest.raises(Unsupported, match="must allow preemption"):
        method(late_start())


def test_a_cold_start_keeps_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a limit leaves no time to load Pyomo and SciPy, there is a schedule and a bound all the same."""

    def refused(*_: object) -> None:
        pytest.fail("there is no time")

    module = sys.modules["formulations.scheduling.resizing.method"]
    for name in ("pyomo.environ", "scipy.optimize"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("launch_model", "best_steps"):
        monkeypatch.setattr(module, name, refused)
    result = resizing(late_start(), time_limit=1.0)

    assert result.stopped_by is StoppedBy.TIME_LIMIT
    assert (result.bound or 0) <= 195 / 5 <= (result.objective or 0)


def test_no_time() -> None:
    """Without time there is the best of the simple rules."""
    result = resizing(late_start(), time_limit=0.0)
    assert unwrap(result.bound) <= 195 / 5 <= unwrap(result.objective)


def test_a_moment_beside_minutes() -> None:
    """Where a job takes nanoseconds beside one of minutes, none gets GPUs that its menu does not have."""
    jobs = [
        ElasticJob(name="a", release=0, work=300, rates={count: count for count in range(1, 9)}),
        ElasticJob(name="b", release=1, work=900, rates={count: 3000 * count for count in range(2, 7)}),
        ElasticJob(name="c", release=3e-8, work=3.4104e-4, rates={count: 3000 * count for count in (2, 4, 6)}),
    ]
    problem = Scheduling(gpus=8, jobs=jobs, preemptive=False)

    assert resizing(problem).status is Status.OPTIMAL  # judged on the way


def _jobs(gpus: int, *jobs: ElasticJob) -> Resizable:
    return Resizable.of(Scheduling(gpus=gpus, jobs=jobs, preemptive=False))


def _on(name: str, *counts: int, release: float = 0.0) -> ElasticJob:
    return ElasticJob(name=name, release=release, work=4, rates={count: float(count) for count in counts})


@pytest.mark.parametrize(
    ("jobs", "gpus"),
    [
        ((_on("a", 2, 4, 6),), 6),
        ((_on("a", 3, 5, 7),), 7),
        ((_on("a", 4), _on("b", 2, 6)), 6),
        ((_on("a", 3), _on("b", 6)), 6),
        ((_on("a", 4, 6), _on("b", 3)), 7),
    ],
)
def test_the_gpus_in_use_are_multiples_of_a_grid(jobs: tuple[ElasticJob, ...], gpus: int) -> None:
    """Of seven GPUs those are left out that no jobs together can use, and no others."""
    assert _jobs(7, *jobs).gpus == gpus


@pytest.mark.parametrize(
    ("jobs", "is_exact"),
    [
        ((elastic("a", 4, 1, 3), elastic("b", 4, 2, 4)), True),
        ((elastic("a", 4, 1, 3, size=2), elastic("b", 4, 1, 2, size=2)), True),
        ((elastic("a", 4, 1, 3), _on("b", 4)), True),
        ((elastic("a", 4, 1, 3, size=2), elastic("b", 4, 1, 2, size=3)), False),
        ((elastic("a", 4, 1, 3, size=2), _on("b", 3)), False),
    ],
)
def test_shares_are_averages_where_workers_are_alike(jobs: tuple[ElasticJob, ...], is_exact: bool) -> None:
    """All elastic jobs must have workers of the size of the grid; inelastic ones only must fit it."""
    assert _jobs(8, *jobs).is_exact is is_exact


def test_cells_are_those_that_time_can_pass() -> None:
    """There are no more jobs complete than released, all of them at times, and a date begins a period."""
    jobs = _jobs(2, _on("a", 1), _on("b", 1), _on("c", 1, release=3.0))

    assert jobs.there == (2, 3)
    assert jobs.cells == ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1))
    assert [jobs.length(period) for period in (0, 1)] == [3.0, float("inf")]
    assert jobs.before(0, 1, 1) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert jobs.before(2, 2, 1) == [(0, 1), (1, 1), (2, 1)]


@pytest.mark.parametrize("latest", [0, 1, 5])
def test_no_schedule_is_better_than_its_optimum(latest: int) -> None:
    """Whatever the release dates, the model has a solution, and none above the optimum over all orders."""
    for seed in range(3):
        problem = draw(Random(seed), 3, latest=latest)
        assert _bound(problem) <= _least(problem) * (1 + 1e-6)


def test_a_job_may_wait_until_later_periods() -> None:
    """The second of two jobs starts when a third one has come, and completes before it: 2, 5 and 15 s."""
    sizes = {"a": (8, 0.0), "b": (12, 0.0), "c": (40, 1.0)}
    jobs = [
        elastic(name, work, 4, 4).model_copy(update={"release": date}) for name, (work, date) in sizes.items()
    ]
    problem = Scheduling(gpus=4, jobs=jobs, preemptive=False)
    assert _bound(problem) == pytest.approx(2 + 5 + 15)
    assert _least(problem) == pytest.approx(2 + 5 + 15)


def test_jobs_of_less_than_a_nanosecond() -> None:
    """A job that takes a nanosecond on its fewest GPUs, and less on more, is bounded as all others are."""
    jobs = [elastic(name, work, 1, 4) for name, work in (("a", 2e-9), ("b", 4e-9))]
    problem = Scheduling(gpus=4, jobs=jobs, preemptive=False)
    assert soonest_completions(Resizable.of(problem)) == pytest.approx([0.5e-9, 1.5e-9])
    assert _bound(problem) == pytest.approx(_least(problem)) == pytest.approx(2e-9)


def _bound(problem: Scheduling) -> float:
    """Return the optimum of the model in seconds after the first release date."""
    outcome = Prover().solve(StandardForm.from_pyomo(resizing.build(problem)), time_limit=None, gap=CONTINUOUS)
    assert outcome.status is Status.OPTIMAL
    return (outcome.bound or 0) / COST * Resizable.of(problem).unit


def _least(problem: Scheduling) -> float:
    """Return the least sum of completion times over all orders of events, likewise."""
    released = [job.release for job in problem.jobs]
    return len(released) * (optimum(problem) - min(released)) + sum(released)


def _order_jobs(*dates: float) -> Resizable:
    """Return jobs of 4 GPU-seconds on 1 to 4 GPUs each, by their release dates."""
    jobs = [elastic(f"j{date}", 4, 1, 4).model_copy(update={"release": date}) for date in dates]
    return Resizable.of(Scheduling(gpus=4, jobs=jobs, preemptive=False))


def _order(*jobs: int) -> list[Event]:
    """Start and complete jobs one after the other."""
    return [Event(job, starts=starts) for job in jobs for starts in (True, False)]


def test_nothing_starts_before_its_release_date() -> None:
    """Where the job of 3 s goes first, GPUs wait for it; else they wait between the two."""
    for order, expected in (
        (_order(1, 0), [(3, {}), (1, {1: 4}), (1, {0: 4})]),
        (_order(0, 1), [(1, {0: 4}), (2, {}), (1, {1: 4})]),
    ):
        found = unwrap(best_steps(_order_jobs(0.0, 3.0), order))
        assert [step.gpus for step in found] == [gpus for _, gpus in expected]
        assert [step.duration for step in found] == pytest.approx([seconds for seconds, _ in expected])


def test_a_release_date_within_the_first_second_counts() -> None:
    """A job that comes after half a second, and goes first, lets the GPUs stand still for as long."""
    found = unwrap(best_steps(_order_jobs(0.0, 0.5), _order(1, 0)))
    assert [step.duration for step in found] == pytest.approx([0.5, 1, 1])


def test_an_order_may_have_no_schedule() -> None:
    """A job that needs all GPUs cannot run within the time of another one that does."""
    whole = [elastic(name, 4, 4, 4) for name in "ab"]
    jobs = Resizable.of(Scheduling(gpus=4, jobs=whole, preemptive=False))
    (start, end), (begin, stop) = _order(0), _order(1)
    assert best_steps(jobs, [start, begin, stop, end]) is None
    assert best_steps(jobs, [start, begin, end, stop]) is not None


def test_jobs_start_when_they_are_there() -> None:
    """A job has all GPUs until another one comes, which shares them; the last one comes when all is done."""
    sizes = {"a": (12, 0.0), "b": (8, 2.0), "c": (4, 9.0)}
    drawn = [
        elastic(name, work, 1, 4).model_copy(update={"release": date}) for name, (work, date) in sizes.items()
    ]
    jobs = Resizable.of(Scheduling(gpus=4, jobs=drawn, preemptive=False))
    steps = launch(jobs, [2, 1, 0], jobs.least)

    assert [dict(step.gpus) for step in steps] == [{0: 4}, {0: 3, 1: 1}, {1: 4}, {}, {2: 4}]
    assert [step.duration for step in steps] == pytest.approx([2, 4 / 3, 5 / 3, 4, 1])


def _drawn(seed: int) -> Resizable:
    """Draw two to four jobs, each on some GPUs between two numbers."""
    random = Random(seed)
    gpus = random.randint(2, 6)
    jobs = []
    for index in range(random.randint(2, 4)):
        fewest = random.randint(1, gpus)
        jobs.append(elastic(f"j{index}", 4, fewest, random.randint(fewest, gpus)))
    return Resizable.of(Scheduling(gpus=gpus, jobs=jobs, preemptive=False))


def _launches(jobs: Resizable) -> Iterator[tuple[int, ...]]:
    """Enumerate the GPUs of jobs that can run at the same time, 0 of those that do not."""
    each = ([0, *range(least, most + 1)] for least, most in zip(jobs.least, jobs.most, strict=True))
    yield from (counts for counts in product(*each) if sum(counts) <= jobs.gpus)


def test_every_launch_keeps_every_cut_and_many_meet_it() -> None:
    """Whoever runs, the weighted GPUs are at most those of the group; most rows are met by some launch."""
    rows = tight = 0
    for seed in range(120):
        jobs = _drawn(seed)
        for weights, share in groups(jobs):
            most = max(sum(weights.get(j, 0.0) * x for j, x in enumerate(each)) for each in _launches(jobs))
            assert most <= share * jobs.gpus * (1 + 1e-12), seed
            rows += 1
            tight += most >= share * jobs.gpus * (1 - 1e-12)
    assert rows > 100
    assert tight > 0.9 * rows


def test_the_others_of_a_group_are_those_that_it_leaves_no_room_for() -> None:
    """Beside a job on up to two of four GPUs, one of three weighs a third, and one of two nothing."""
    sizes = {"a": (1, 2), "b": (3, 4), "c": (2, 4)}
    made = [elastic(name, 4, *counts) for name, counts in sizes.items()]
    jobs = Resizable.of(Scheduling(gpus=4, jobs=made, preemptive=False))
    assert list(groups(jobs)) == [({0: 1.0, 1: pytest.approx(1 / 3)}, 0.5)]


MODEL = import_module("formulations.scheduling.resizing.model")
METHOD = import_module("formulations.scheduling.resizing.method")


def tiny(gpus: int, *jobs: tuple[float, float, int, int]) -> Scheduling:
    """Return jobs by release date, GPU-seconds, fewest and most GPUs."""
    made: list[ElasticJob] = []
    for index, (release, work, fewest, most) in enumerate(jobs):
        job = oracle.elastic(f"j{index}", work, fewest, most)
        made.append(job.model_copy(update={"release": release}))
    return Scheduling(gpus=gpus, jobs=made, preemptive=False)


#: Instances whose best schedule a rule that is too strict rules out, with their optima in seconds in all.
TINY = [
    (tiny(4, (0, 8, 4, 4), (0, 4, 4, 4)), 1 + 3),  # the longer one waits
    (tiny(4, (0, 4, 1, 1), (0, 4, 4, 4)), 1 + 5),  # as does the narrower one
    (tiny(4, (0, 4, 1, 1), (0, 4, 1, 4)), 4 + 4 / 3),  # and one that cannot grow
    (tiny(2, (0, 2, 1, 1), (0, 2, 1, 1), (3, 1, 1, 1)), 2 + 2 + 1),  # all is done before the next one comes
    (tiny(4, (0, 4, 1, 2), (0, 9, 3, 4)), 2 + 4.25),  # one after the other
    (tiny(4, (0, 40, 4, 4), (1, 4, 4, 4)), 1 + 12),  # idle until a small one comes
    (tiny(4, (0, 8, 1, 4), (0, 12, 1, 4), (1, 40, 4, 4)), 2 + 5 + 14),
    (tiny(3, (0, 3, 1, 2), (0, 3, 1, 2), (0, 3, 1, 2)), 7.125),  # equal ones
    (tiny(8, (0, 300, 2, 3), (0, 120, 2, 6)), 124),
]


def _optimum(problem: Scheduling) -> float:
    return oracle.optimum(problem) * len(problem.jobs)


@pytest.mark.parametrize("number", range(len(TINY)))
def test_optima_are_those_of_all_orders(number: int) -> None:
    """The optimum of each instance is that of all orders of events in fractions."""
    problem, total = TINY[number]
    assert _optimum(problem) == pytest.approx(total)


def _no_cut(*_: Any) -> bool:
    return False


def _no_soonest(jobs: Resizable) -> list[float]:
    return [0.0] * len(jobs)


def _any_latest(soonest: Sequence[float], total: float) -> list[float]:
    return [2 * total for _ in soonest]


def _without(*names: str) -> Callable[..., Any]:
    def model(jobs: Resizable, total: float) -> Any:
        made = launch_model(jobs, total)
        for name in names:
            made.del_component(name)
        return made

    return model


#: What rules something out, where it stands, and what is there where it is switched off.
RULES: Mapping[str, tuple[Any, str, Any]] = {
    "none": (METHOD, "_GAP", METHOD._GAP),  # noqa: SLF001 - as it is
    "what jobs share": (METHOD, "cut", _no_cut),
    "soonest completions": (MODEL, "soonest_completions", _no_soonest),
    "latest completions": (MODEL, "_latest", _any_latest),
    "completions alone": (METHOD, "launch_model", _without("alone")),
    "equal jobs in turn": (METHOD, "launch_model", _without("alike")),
    "simple bounds": (METHOD, "soonest_completions", _no_soonest),
}


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_touches_the_optimum(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With any rule switched off the optimum is the same, and proven where the cuts are not those missing."""
    monkeypatch.setattr(*RULES[rule])
    for problem, total in TINY:
        result = resizing(problem)
        jobs = len(problem.jobs)
        assert result.status is Status.OPTIMAL or rule == "what jobs share", problem
        assert (result.bound or 0) * jobs <= total * (1 + 1e-9)
        assert float(result.objective or 0) * jobs == pytest.approx(total)


def _pruning_bound(problem: Scheduling, total: float) -> float:
    """Return the optimum of the model with every cut, for schedules no worse than a total."""
    jobs = Resizable.of(problem)
    try:
        model = MODEL.launch_model(jobs, total + sum(jobs.instance.release))
    except InvalidConstraintError:  # Pyomo refuses what cannot hold
        return float("inf")
    for weights, share in groups(jobs):
        for k, i in jobs.cells:
            done = [weight * model.y[j, k, i] for j, weight in weights.items() if j < jobs.there[i]]
            if done:
                model.shared.add(sum(done) <= share * model.d[k, i])
    outcome = Prover().solve(StandardForm.from_pyomo(model), time_limit=None, gap=CONTINUOUS)
    if outcome.status is not Status.OPTIMAL:
        return float("inf")
    return (outcome.bound or 0) / COST * jobs.unit - sum(jobs.instance.release)


@pytest.mark.parametrize("number", range(len(TINY)))
def test_the_best_schedule_is_left(number: int) -> None:
    """With the optimum as the total that is known, the model still has it."""
    problem, total = TINY[number]
    assert _pruning_bound(problem, total) <= total * (1 + 1e-6)


def _too_late(jobs: Resizable) -> list[float]:
    return [1.01 * time for time in SOONEST(jobs)]


def _later_than_the_one_before(soonest: Sequence[float], total: float) -> list[float]:
    latest = LATEST(soonest, total)
    return [min(pair) for pair in pairwise([*latest[:1], *latest])]


def _a_little_early(soonest: Sequence[float], total: float) -> list[float]:
    latest: list[float] = LATEST(soonest, total * 0.99)
    return latest


def _one_more_after(soonest: Sequence[float], total: float) -> list[float]:
    count = len(soonest)
    return [(total - sum(soonest[:k])) / (count - k + 1) for k in range(count)]


SOONEST, LATEST = soonest_completions, MODEL._latest  # noqa: SLF001 - the rule to be broken

#: Rules that leave out too much.
WRONG = [
    ("soonest_completions", _too_late),
    ("_latest", _later_than_the_one_before),
    ("_latest", _a_little_early),
    ("_latest", _one_more_after),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG, ids=[wrong.__name__ for _, wrong in WRONG])
def test_what_is_too_strict_is_noticed(name: str, wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any rule that leaves out more than it may makes some bound too high."""
    monkeypatch.setattr(MODEL, name, wrong)
    assert any(_pruning_bound(problem, total) > total * (1 + 1e-4) for problem, total in TINY)
