"""What the exact methods of scheduling prove in which time, and the gaps of the policies to the optimum.

Every table takes minutes; `CLASSES` says how many instances of each size are solved, and for how long.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from statistics import fmean, median, quantiles
from typing import NamedTuple

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from rich import box
from rich.console import Console
from rich.table import Table

from formulations.scheduling import exact, milp, smallest_fairness
from gsopt.budget import Budget
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.result import Result, Status
from gsopt.studies.catalogue import load, names
from heuristics.scheduling import efq, elastic_las, elastic_srtf, equal_share, fifo, las, srtf
from instances.scheduling import elastic_jobs

pytestmark = pytest.mark.slow

Answer = Result[SchedulingSolution]

POLICIES: tuple[Callable[[Scheduling], Answer], ...] = (
    efq,
    elastic_srtf,
    elastic_las,
    equal_share,
    fifo,
    srtf,
    las,
)

#: How far two exact methods may be apart, relatively.
SAME = 1e-5

#: What the README prints of the suite `scheduling/small`: mean and largest gap to the optimum.
PRINTED = {
    "efq": (0.068, 0.52),
    "elastic_srtf": (0.062, 0.53),
    "equal_share": (0.28, 2.49),
    "elastic_las": (0.38, 1.74),
    "srtf": (0.63, None),
    "las": (0.80, None),
    "fifo": (1.19, None),
}


class Class(NamedTuple):
    """Instances of like size, and what is demanded of them.

    Attributes
    ----------
    jobs, gpus, loads
        What the generator is given, in all combinations.
    limit
        Seconds for each instance.
    proven
        Least share of the instances that is proven optimal.
    within
        Least share of the instances that is proven to be within 1 % of the optimum.
    widest
        Largest gap that any of them may be left with.
    """

    jobs: Sequence[int]
    gpus: Sequence[int]
    loads: Sequence[float]
    limit: float
    proven: float
    within: float
    widest: float

    @property
    def problems(self) -> list[Scheduling]:
        """All instances of the class."""
        combined = product(self.jobs, self.gpus, self.loads)
        return [
            elastic_jobs(jobs=jobs, gpus=gpus, load=load, seed=seed)
            for seed, (jobs, gpus, load) in enumerate(combined)
        ]


CLASSES = {
    "6 to 10 jobs": Class(range(6, 11), (4, 8, 16), (0.8, 1.5), limit=120, proven=1.0, within=1.0, widest=1e-6),
    "12 to 15 jobs": Class((12, 13, 14, 15), (4, 8, 16), (1.2,), limit=60, proven=0.5, within=0.8, widest=0.05),
    # a gap of 1 % is wanted for all of these, and not reached yet
    "20 to 25 jobs": Class((20, 25), (8, 16), (1.2,), limit=120, proven=0.0, within=0.5, widest=0.1),
    "60 jobs": Class((60,), (16,), (1.2,), limit=120, proven=0.0, within=0.0, widest=0.15),
}


@pytest.mark.benchmark(group="scheduling: exact, by number of jobs")
@pytest.mark.parametrize("name", CLASSES)
def test_exact(benchmark: BenchmarkFixture, name: str) -> None:
    """The demanded share of the instances is proven, or to be within 1 %; no bracket is wider than demanded."""
    kind = CLASSES[name]
    problems = kind.problems
    results: list[Answer] = benchmark.pedantic(  # type: ignore[no-untyped-call]  # pytest-benchmark is untyped here
        lambda: [exact(problem, time_limit=kind.limit) for problem in problems], rounds=1
    )
    gaps, times = [_gap(result) for result in results], [result.runtime for result in results]
    share = fmean(result.status is Status.OPTIMAL for result in results)
    _print(
        f"scheduling: exact, {name}, at most {kind.limit:g} s each",
        ("instances", "proven", "gap %, mean", "max", "seconds, median", "95 %", "max", "slowest"),
        [
            (
                str(len(results)),
                f"{share:.0%}",
                *(f"{100 * gap:.3f}" for gap in (fmean(gaps), max(gaps))),
                *(f"{time:.2f}" for time in (median(times), _most(times), max(times))),
                _named(problems[times.index(max(times))]),
            )
        ],
    )

    assert all(result.solution is not None and result.bound is not None for result in results)
    assert share >= kind.proven
    assert fmean(gap <= 0.01 for gap in gaps) >= kind.within
    assert max(gaps) <= kind.widest


@pytest.mark.benchmark(group="scheduling: exact and the reference model, 6 to 8 jobs")
def test_both_models(benchmark: BenchmarkFixture) -> None:
    """Both methods prove the same optimum of every instance."""
    kind = Class((6, 7, 8), (4, 8, 16), (1.0,), limit=120, proven=1.0, within=1.0, widest=1e-6)
    pairs: list[tuple[Answer, Answer]] = benchmark.pedantic(  # type: ignore[no-untyped-call]
        lambda: [
            (exact(problem, time_limit=kind.limit), milp(problem, time_limit=kind.limit))
            for problem in kind.problems
        ],
        rounds=1,
    )
    ratios = [other.runtime / one.runtime for one, other in pairs]
    _print(
        "scheduling: seconds of exact and milp",
        ("jobs", "GPUs", "exact", "milp", "milp / exact"),
        [
            *(
                (
                    str(len(problem.jobs)),
                    str(problem.gpus),
                    f"{one.runtime:.2f}",
                    f"{other.runtime:.2f}",
                    f"{ratio:.1f}",
                )
                for problem, (one, other), ratio in zip(kind.problems, pairs, ratios, strict=True)
            ),
            ("median", "", *(f"{median(column):.2f}" for column in _runtimes(pairs)), f"{median(ratios):.1f}"),
        ],
    )

    assert all(one.status is other.status is Status.OPTIMAL for one, other in pairs)
    assert all(one.objective == pytest.approx(other.objective, rel=SAME) for one, other in pairs)


@pytest.mark.benchmark(group="scheduling: smallest fairness, 6 to 15 jobs")
def test_smallest_fairness(benchmark: BenchmarkFixture) -> None:
    """No policy is fairer than the smallest constant of fairness."""
    problems = [elastic_jobs(jobs=jobs, gpus=8, load=1.2, seed=jobs) for jobs in range(6, 16)]

    def solved(problem: Scheduling) -> tuple[float, float]:
        clock = Budget()
        return smallest_fairness(problem), clock.runtime

    found: list[tuple[float, float]] = benchmark.pedantic(  # type: ignore[no-untyped-call]
        lambda: list(map(solved, problems)), rounds=1
    )
    delays = [_delay(problem, efq(problem)) for problem in problems]
    _print(
        "scheduling: smallest fairness, and the largest delay of elastic fair queuing, in seconds",
        ("jobs", "smallest", "efq", "seconds to find it"),
        [
            (str(len(problem.jobs)), f"{least:.1f}", f"{delay:.1f}", f"{time:.2f}")
            for problem, (least, time), delay in zip(problems, found, delays, strict=True)
        ],
    )

    assert all(delay >= least * (1 - 1e-6) for (least, _), delay in zip(found, delays, strict=True))


@pytest.mark.benchmark(group="scheduling: tables")
def test_table_of_policies(benchmark: BenchmarkFixture) -> None:
    """No policy is below a proven optimum of the suite, and the gaps are those that the README prints."""
    proven = [
        (problem, problem.about.objective)
        for problem in map(load, names("scheduling/small"))
        if isinstance(problem, Scheduling)
        and problem.fairness is None
        and problem.about is not None
        and problem.about.proved_by
        and problem.about.objective is not None
    ]

    def gaps(policy: Callable[[Scheduling], Answer]) -> list[float]:
        return [float(policy(problem).objective or 0) / optimum - 1 for problem, optimum in proven]

    rows: dict[str, list[float]] = benchmark.pedantic(  # type: ignore[no-untyped-call]
        lambda: {policy.__name__: gaps(policy) for policy in POLICIES}, rounds=1
    )
    _print(
        f"scheduling/small: gap to the optimum in %, {len(proven)} instances without fairness",
        ("policy", "mean", "median", "max"),
        [
            (name, *(f"{100 * figure:.1f}" for figure in (fmean(row), median(row), max(row))))
            for name, row in rows.items()
        ],
    )

    assert len(proven) == 73
    assert min(map(min, rows.values())) >= -1e-9
    for name, (mean, most) in PRINTED.items():
        assert fmean(rows[name]) == pytest.approx(mean, abs=0.006 if mean > 0.1 else 0.0006), name
        assert most is None or max(rows[name]) == pytest.approx(most, abs=0.006), name


def _gap(result: Answer) -> float:
    """Give how much worse the value is than the bound, relative to the bound."""
    assert result.gap is not None
    return result.gap


def _most(times: Sequence[float]) -> float:
    """Give what 95 % of the times do not exceed."""
    return quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]


def _named(problem: Scheduling) -> str:
    """Tell an instance of a class from the others."""
    seed = problem.about.seed if problem.about else None
    return f"{len(problem.jobs)} jobs, {problem.gpus} GPUs, seed {seed}"


def _runtimes(pairs: Iterable[tuple[Answer, Answer]]) -> list[list[float]]:
    return [[result.runtime for result in column] for column in zip(*pairs, strict=True)]


def _delay(problem: Scheduling, result: Answer) -> float:
    assert result.solution is not None
    return float(problem.measures(result.solution)["largest delay behind GPS (s)"])


def _print(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, title=title)
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    Console(width=120).print("", table)
