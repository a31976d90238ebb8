"""What the exact methods of scheduling prove in which time, and the gaps of the policies to the optimum.

Every table takes minutes; `CLASSES` says how many instances of each size are solved, and for how long.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from statistics import fmean, median, quantiles
from time import perf_counter, process_time
from typing import NamedTuple

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import gsopt
from formulations.scheduling import exact, milp, smallest_fairness
from gsopt.core.result import Result, Status
from gsopt.evaluation.catalogue import load, names
from gsopt.evaluation.solve import solve
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.scenario.speed import efficient_counts
from heuristics.scheduling import efq, elastic_las, elastic_srtf, equal_share, fifo, las, srtf
from instances.scheduling import elastic_jobs
from tests.benchmarks.measures import once, report, tabulate, timed
from tests.unwrap import unwrap

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

#: Limits at which no policy may be better, and what may be spent beyond them: CPU seconds of this process; the
#: machine may be busy. Processes of solvers are killed a quarter of a second after the limit.
LIMITS, BEYOND = (0.2, 1.0, 5.0), 0.5

#: Part by which a schedule may be worse than the one it starts from: what rounding the replay of it comes to.
ROUNDING = 1e-9
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

#: And of elastic fair queuing: mean, median and largest gap to the optimum over all counts, and over those that
#: its threshold allows.
PRINTED_OF_EFQ = {None: (0.068, 0.012, 0.52), 0.75: (0.023, 0.0, 0.25)}


class Class(NamedTuple):
    """Instances of all combinations of jobs, GPUs and loads, with seconds for each, and what is demanded.

    At least the share `proven` is proven optimal, the share `within` to be within 1 % of the optimum, and no
    gap is wider than `widest`.
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
    "20 to 25 jobs": Class((20, 25), (8, 16), (1.2,), limit=120, proven=0.0, within=1.0, widest=0.01),
    "60 jobs": Class((60,), (16,), (1.2,), limit=120, proven=0.0, within=1.0, widest=0.01),
}


@pytest.mark.benchmark(group="scheduling: exact, by number of jobs")
@pytest.mark.parametrize("name", CLASSES)
def test_exact(benchmark: BenchmarkFixture, name: str) -> None:
    """The demanded share of the instances is proven, or to be within 1 %; no bracket is wider than demanded."""
    kind = CLASSES[name]
    problems = kind.problems
    results = once(benchmark, lambda: [exact(problem, time_limit=kind.limit) for problem in problems])
    gaps, times = [float(unwrap(result.gap)) for result in results], [result.runtime for result in results]
    share = fmean(result.status is Status.OPTIMAL for result in results)
    tabulate(
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


#: Largest mean gap in %, by number of jobs: 0.1 % for 20 and 0.2 % for 25 are wanted. On a machine with other
#: work, 0.003 % and 0.011 % were measured; 0.4 % of 40 jobs and 0.1 % of 60 jobs on fewer instances.
MEAN_GAPS = {20: 0.1, 25: 0.2, 40: 1.0, 60: 0.5}


@pytest.mark.benchmark(group="scheduling: exact, mean gap after a minute")
@pytest.mark.parametrize("jobs", MEAN_GAPS)
def test_mean_gap(benchmark: BenchmarkFixture, jobs: int) -> None:
    """After 60 s for each of six instances on an idle machine, the mean gap is no larger than it was."""
    problems = [
        elastic_jobs(jobs=jobs, gpus=gpus, load=1.2, seed=seed) for seed in range(3) for gpus in (8, 16)
    ]

    results = once(benchmark, lambda: [exact(problem, time_limit=60) for problem in problems])
    gaps = [100 * float(unwrap(result.gap)) for result in results]
    tabulate(
        f"scheduling: exact, gap in % of {jobs} jobs after 60 s, mean {fmean(gaps):.2f} %",
        ("instance", "gap %", "seconds", "technique"),
        [
            (_named(problem), f"{gap:.4f}", f"{result.runtime:.1f}", result.message)
            for problem, gap, result in zip(problems, gaps, results, strict=True)
        ],
    )

    assert fmean(gaps) <= MEAN_GAPS[jobs]


@pytest.mark.benchmark(group="scheduling: exact and the reference model, 6 to 8 jobs")
def test_both_models(benchmark: BenchmarkFixture) -> None:
    """Both methods prove the same optimum of every instance."""
    kind = Class((6, 7, 8), (4, 8, 16), (1.0,), limit=120, proven=1.0, within=1.0, widest=1e-6)
    pairs = once(
        benchmark,
        lambda: [
            (exact(problem, time_limit=kind.limit), milp(problem, time_limit=kind.limit))
            for problem in kind.problems
        ],
    )
    ratios = [other.runtime / one.runtime for one, other in pairs]
    tabulate(
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
            (
                "median",
                "",
                *(f"{median(row.runtime for row in column):.2f}" for column in zip(*pairs, strict=True)),
                f"{median(ratios):.1f}",
            ),
        ],
    )

    assert all(one.status is other.status is Status.OPTIMAL for one, other in pairs)
    assert all(one.objective == pytest.approx(other.objective, rel=SAME) for one, other in pairs)


@pytest.mark.benchmark(group="scheduling: smallest fairness, 6 to 15 jobs")
def test_smallest_fairness(benchmark: BenchmarkFixture) -> None:
    """No policy is fairer than the smallest constant of fairness."""
    problems = [elastic_jobs(jobs=jobs, gpus=8, load=1.2, seed=jobs) for jobs in range(6, 16)]

    found = once(
        benchmark,
        lambda: [timed(partial(smallest_fairness, problem), clock=perf_counter) for problem in problems],
    )
    delays = [_delay(problem, efq(problem)) for problem in problems]
    tabulate(
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

    rows = once(benchmark, lambda: {policy.__name__: gaps(policy) for policy in POLICIES})
    tabulate(
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


def _allowed(problem: Scheduling, alpha: float | None) -> Scheduling:
    """Return a problem whose jobs may run on the counts that a threshold allows only."""
    if alpha is None:
        return problem
    counts = {job.name: efficient_counts(job, alpha) for job in problem.workload.jobs}
    return problem.model_copy(
        update={
            "jobs": tuple(
                job.model_copy(update={"rates": {count: job.rates[count] for count in counts[job.name]}})
                for job in problem.jobs
            )
        }
    )


@pytest.mark.parametrize("alpha", PRINTED_OF_EFQ)
def test_elastic_fair_queuing_against_both_optima(alpha: float | None) -> None:
    """The gaps of elastic fair queuing are those printed, whichever counts the optimum may use."""
    gaps = []
    for problem in map(load, names("scheduling/small")):
        if not isinstance(problem, Scheduling) or problem.fairness is not None or not problem.about:
            continue
        if problem.about.proved_by:
            optimum = exact(_allowed(problem, alpha))
            assert optimum.status is Status.OPTIMAL
            gaps.append(float(efq(problem).objective or 0) / float(optimum.objective or 0) - 1)
    report(f"alpha {alpha}: mean {fmean(gaps):.2%}, median {median(gaps):.2%}, most {max(gaps):.2%}")

    assert (fmean(gaps), median(gaps)) == pytest.approx(PRINTED_OF_EFQ[alpha][:2], abs=0.0006)
    assert max(gaps) == pytest.approx(PRINTED_OF_EFQ[alpha][2], abs=0.006)


class Limited(NamedTuple):
    """What comes of a limit, and the seconds and CPU seconds it took."""

    result: Answer
    seconds: float
    spent: float

    def __str__(self) -> str:
        return f"{100 * unwrap(self.result.gap):.1f} ({self.seconds:.2f}, {self.spent:.2f})"


def _medium() -> list[Scheduling]:
    """Return every third instance of the committed suite."""
    loaded = map(load, names("scheduling/medium/")[::3])
    return [problem for problem in loaded if isinstance(problem, Scheduling)]


def _many(jobs: int) -> list[Scheduling]:
    return [elastic_jobs(jobs=jobs, gpus=32, load=1.2, seed=jobs)]


@pytest.mark.benchmark(group="scheduling: tables")
@pytest.mark.parametrize(
    ("problems", "beyond"),
    [
        pytest.param(_medium, BEYOND, id="medium"),
        pytest.param(partial(_many, 100), BEYOND, id="100 jobs"),
        pytest.param(partial(_many, 300), BEYOND, id="300 jobs"),
        # one policy and two verdicts take three quarters of a second, whatever the limit
        pytest.param(partial(_many, 1_500), 2 * BEYOND, id="1,500 jobs"),
    ],
)
def test_never_worse_than_the_policies(
    benchmark: BenchmarkFixture, problems: Callable[[], list[Scheduling]], beyond: float
) -> None:
    """At every limit the default method is as good as the best policy, bounded, and in time."""
    gsopt.warm_up()
    found = once(benchmark, lambda: [(problem, *_limited(problem)) for problem in problems()])
    tabulate(
        "scheduling: gap at a limit in % (seconds in all, CPU seconds of this process)",
        ("instance", "best policy", "its value", *(f"{limit:g} s" for limit in LIMITS)),
        [(_named(problem), policy, f"{value:,.0f}", *map(str, runs)) for problem, policy, value, runs in found],
    )

    for _, _, value, runs in found:
        assert all(run.result.bound is not None and run.result.bound > 0 for run in runs)
        assert all(run.result.objective is not None for run in runs)
        assert all(float(run.result.objective or 0) <= value * (1 + ROUNDING) for run in runs)
        assert all(run.spent < limit + beyond for run, limit in zip(runs, LIMITS, strict=True))


def _limited(problem: Scheduling) -> tuple[str, float, list[Limited]]:
    """Return the best policy with its value, and what comes of each limit."""
    values = {policy.__name__: float(policy(problem).objective or 0) for policy in POLICIES}
    best = min(values, key=values.__getitem__)
    runs: list[Limited] = []
    for limit in LIMITS:
        begin, spent = perf_counter(), process_time()
        result = solve(problem, exact, time_limit=limit)
        runs.append(Limited(result, perf_counter() - begin, process_time() - spent))
    return best, values[best], runs


def _most(times: Sequence[float]) -> float:
    """Return what 95 % of the times do not exceed."""
    return quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]


def _named(problem: Scheduling) -> str:
    """Distinguish an instance of a class from the others."""
    seed = problem.about.seed if problem.about else None
    return f"{len(problem.jobs)} jobs, {problem.gpus} GPUs, seed {seed}"


def _delay(problem: Scheduling, result: Answer) -> float:
    return float(problem.measures(unwrap(result.solution))["largest delay behind GPS (s)"])
