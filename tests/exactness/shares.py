"""Shares: random jobs on up to three types of GPUs, and the best shares by a simplex method in fractions."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import get_args

from gsopt.problems.shares import Criterion, Shares, TimeShares, TypedJob
from tests.exactness.numbers import exactly, numbers

_TYPES = ("v100", "p100", "k80")

#: How often the interval of a finish time is halved.
_HALVINGS = 50

#: Of each job, the GPUs that it holds and its speed on each type on which it runs.
Rates = Sequence[tuple[int, Mapping[str, Fraction]]]


def draw(random: Random) -> Shares:
    """Draw up to four jobs, with throughputs, weights, steps and ages that are hard on floats."""
    family, number = numbers(random)

    def positive(largest: float) -> float:
        return min(max(number(), 1e-9), largest)

    gpus = {kind: random.randint(1, 4) for kind in random.sample(_TYPES, random.randint(1, 3))}
    jobs = []
    for index in range(random.randint(1, 4)):
        kinds = [kind for kind in gpus if random.random() < 0.8] or [next(iter(gpus))]
        jobs.append(
            TypedJob(
                name=f"j{index}",
                gpus=random.randint(1, max(gpus[kind] for kind in kinds)),
                throughputs={kind: positive(1e9) for kind in kinds},
                steps=positive(1e9),
                weight=random.choice((1.0, positive(1e9))),
                age=random.choice((0.0, number())),
                isolated=random.choice((0.0, number())),
            )
        )
    criterion = random.choice(get_args(Criterion))
    return Shares(name=f"{family}, {criterion}", gpus=gpus, jobs=jobs, criterion=criterion)


def optimum(problem: Shares, rates: Rates | None = None) -> Fraction | tuple[Fraction, Fraction]:
    """Find the value of the best shares; of finish times two numbers between which it lies.

    Rates other than the problem's own may let jobs use GPU time where they have fewer GPUs than they need.
    """
    rates = _rates(problem) if rates is None else rates
    if problem.criterion in {"fifo", "max_sum"}:
        return _most(problem, rates, [_worth(problem, place, own) for place, (_, own) in enumerate(rates)])
    if problem.criterion == "max_min":
        return _factor(
            problem, rates, [_max_min_need(problem, job, own) for job, (_, own) in _paired(problem, rates)]
        )
    steps = [exactly(job.steps) for job in problem.jobs]
    if problem.criterion == "makespan":
        return 1 / _factor(problem, rates, steps)
    return _finish_time(problem, rates, steps)


def value(problem: Shares, solution: TimeShares) -> Fraction | None:
    """Return the value of shares by the definitions; None when they break a rule."""
    throughputs = _throughputs(problem, solution)
    if throughputs is None:
        return None
    return reached(problem, _rates(problem), throughputs)


def reached(problem: Shares, rates: Rates, throughputs: Sequence[Fraction]) -> Fraction | None:
    """Return the value of steps per second by the definitions; None when some job would never end."""
    if problem.criterion in {"fifo", "max_sum"}:
        worths = [_worth(problem, place, own) for place, (_, own) in enumerate(rates)]
        return sum((worth * rate for worth, rate in zip(worths, throughputs, strict=True)), Fraction(0))
    if problem.criterion == "max_min":
        needs = [_max_min_need(problem, job, own) for job, (_, own) in _paired(problem, rates)]
        return min(rate / need for rate, need in zip(throughputs, needs, strict=True))
    if not all(throughputs):
        return None
    left = [exactly(job.steps) / rate for job, rate in zip(problem.jobs, throughputs, strict=True)]
    if problem.criterion == "makespan":
        return max(left)
    alone = _isolated_times(problem, rates)
    return max(
        (exactly(job.age) + end) / time for job, end, time in zip(problem.jobs, left, alone, strict=True)
    )


def _throughputs(problem: Shares, solution: TimeShares) -> list[Fraction] | None:
    """Return the steps per second of each job; None where shares break a rule."""
    rates = _rates(problem)
    given = {name: {kind: exactly(each) for kind, each in own.items()} for name, own in solution.shares.items()}
    found, used = [], dict.fromkeys(problem.gpus, Fraction(0))
    wrong = not given.keys() <= {job.name for job in problem.jobs}
    for job, (gpus, own) in _paired(problem, rates):
        shares = {kind: share for kind, share in given.get(job.name, {}).items() if share}
        if not shares.keys() <= own.keys() or sum(shares.values()) > 1:
            return None
        for kind, share in shares.items():
            used[kind] += gpus * share
        found.append(sum((own[kind] * share for kind, share in shares.items()), Fraction(0)))
    wrong = wrong or any(used[kind] > count for kind, count in problem.gpus.items())
    return None if wrong else found


def _rates(problem: Shares) -> Rates:
    return [
        (
            job.gpus,
            {
                k: exactly(rate)
                for k, rate in job.throughputs.items()
                if rate > 0 and problem.gpus[k] >= job.gpus
            },
        )
        for job in problem.jobs
    ]


def _paired(problem: Shares, rates: Rates) -> list[tuple[TypedJob, tuple[int, Mapping[str, Fraction]]]]:
    return list(zip(problem.jobs, rates, strict=True))


def _worth(problem: Shares, place: int, own: Mapping[str, Fraction]) -> Fraction:
    """Return what a step per second counts in a sum."""
    if problem.criterion == "max_sum":
        return Fraction(1)
    return (len(problem.jobs) - place) / max(own.values())


def _max_min_need(problem: Shares, job: TypedJob, own: Mapping[str, Fraction]) -> Fraction:
    """Return the throughput with which a job has the level 1."""
    alike = sum(rate * problem.gpus[kind] for kind, rate in own.items()) / Fraction(sum(problem.gpus.values()))
    return exactly(job.weight) * alike / job.gpus


def _isolated_times(problem: Shares, rates: Rates) -> list[Fraction]:
    found = []
    for job, (gpus, own) in _paired(problem, rates):
        part = {kind: Fraction(count) / len(problem.jobs) / gpus for kind, count in problem.gpus.items()}
        whole = max(sum(part.values()), Fraction(1))
        speed = sum(rate * part[kind] / whole for kind, rate in own.items())
        found.append(exactly(job.isolated) + exactly(job.steps) / speed)
    return found


def _finish_time(problem: Shares, rates: Rates, steps: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Halve the interval in which the least level lies whose needs are met."""
    ages, times = [exactly(job.age) for job in problem.jobs], _isolated_times(problem, rates)
    ends = [age + left / max(own.values()) for age, left, (_, own) in zip(ages, steps, rates, strict=True)]
    low = max(end / time for end, time in zip(ends, times, strict=True))  # alone on the fastest type

    def is_met(level: Fraction) -> bool:
        each = zip(steps, ages, times, strict=True)
        return _factor(problem, rates, [left / (level * time - age) for left, age, time in each]) >= 1

    if is_met(low):
        return low, low
    start, width = low, low
    while not is_met(start + width):
        low, width = start + width, 2 * width
    high = start + width
    for _ in range(_HALVINGS):
        middle = _short((low + high) / 2)
        low, high = (low, middle) if is_met(middle) else (middle, high)
        if high - low <= high / 10**12:
            break
    return low, high


def _short(number: Fraction) -> Fraction:
    """Return a number near another one that has few digits."""
    return Fraction(f"{number.numerator / number.denominator:.15g}")


def _factor(problem: Shares, rates: Rates, needs: Sequence[Fraction]) -> Fraction:
    """Return how many times needs can be met: the last column is the factor."""
    columns = _columns(rates)
    cover = [
        [-rates[job][1][kind] if job == row else Fraction(0) for job, kind in columns]
        for row in range(len(needs))
    ]
    rows = [[*own, need] for own, need in zip(cover, needs, strict=True)]
    limits = [[*own, Fraction(0)] for own in _limits(problem, rates, columns)]
    right = [Fraction(0)] * len(needs) + _right(problem)
    return maximum([*rows, *limits], right, [*[Fraction(0)] * len(columns), Fraction(1)])


def _most(problem: Shares, rates: Rates, worths: Sequence[Fraction]) -> Fraction:
    columns = _columns(rates)
    return maximum(
        _limits(problem, rates, columns),
        _right(problem),
        [worths[job] * rates[job][1][kind] for job, kind in columns],
    )


def _columns(rates: Rates) -> list[tuple[int, str]]:
    return [(job, kind) for job, (_, own) in enumerate(rates) for kind in own]


def _limits(problem: Shares, rates: Rates, columns: Sequence[tuple[int, str]]) -> list[list[Fraction]]:
    time = [[Fraction(job == row) for job, _ in columns] for row in range(len(rates))]
    return time + [[Fraction(rates[job][0] * (own == kind)) for job, own in columns] for kind in problem.gpus]


def _right(problem: Shares) -> list[Fraction]:
    return [Fraction(1)] * len(problem.jobs) + [Fraction(count) for count in problem.gpus.values()]


def maximum(
    rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction], worth: Sequence[Fraction]
) -> Fraction:
    """Maximise over columns of at least 0 and rows with upper limits of at least 0: Bland's rule, in fractions.

    Examples
    --------
    >>> one = Fraction(1)
    >>> maximum([[one, one], [one, 0 * one]], [3 * one, 2 * one], [2 * one, one])
    Fraction(5, 1)
    """
    slack: Callable[[int], list[Fraction]] = lambda row: [Fraction(row == each) for each in range(len(rows))]  # noqa: E731
    table = [[*own, *slack(row), limit] for row, (own, limit) in enumerate(zip(rows, right, strict=True))]
    last = [*(-each for each in worth), *[Fraction(0)] * (len(rows) + 1)]
    basis = [len(worth) + row for row in range(len(rows))]
    while True:
        entering = next((column for column, each in enumerate(last[:-1]) if each < 0), None)
        if entering is None:
            return last[-1]
        ratios = [
            (own[-1] / own[entering], basis[row], row) for row, own in enumerate(table) if own[entering] > 0
        ]
        leaving = min(ratios)[2]
        pivot = table[leaving][entering]
        table[leaving] = [each / pivot for each in table[leaving]]
        for own in (*table[:leaving], *table[leaving + 1 :], last):
            if times := own[entering]:
                own[:] = [each - times * other for each, other in zip(own, table[leaving], strict=True)]
        basis[leaving] = entering
