"""Batching: random jobs with elastic batches, and the best division of GPUs by trying all of them."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

from gsopt.performance.batching import BatchingJob, Progress, Rate, StepTime, Tabulated
from gsopt.performance.communication import Wire, Wiring
from gsopt.problems.batching import Batches, Batching
from tests.exactness.numbers import Draw, exactly, numbers
from tests.unwrap import unwrap

#: Least number of samples, of seconds of a step and of samples per second.
_LEAST = 1e-9

#: What a job gets: GPUs and samples of a batch; 0 and 0 where it waits.
Chosen = tuple[int, int]


def draw(random: Random) -> Batching:
    """Draw up to four jobs on up to five GPUs, of every criterion and option."""
    family, number = numbers(random)
    criterion = random.choice(("sruf", "sruf", "rate", "sum_time"))
    same = random.random() < 0.3
    count = random.randint(0, 4)
    jobs = [_job(random, f"j{index}", number, criterion, 7 - count) for index in range(count)]
    if same and jobs:
        jobs = [job.model_copy(update={"throughput": jobs[0].throughput}) for job in jobs]
    options: dict[str, Any] = {
        "criterion": criterion,
        "forced": "all" if criterion == "sum_time" else random.choice(("none", "new", "all")),
        "caps": random.choice(("convergence", "convergence", "batch", "refresh")),
        "menu": random.choice(("every", "every", "doublings")),
        "use": random.choice(("all", "all", "any")),
        "reconfiguration": random.choice((0.0, number())),
        "estimate": random.choice(("mean", "mean_progress")),
    }
    return Batching(name=family, gpus=random.randint(0, 5), jobs=jobs, **options)


def _job(random: Random, name: str, number: Draw, criterion: str, most: int) -> BatchingJob:
    limit = random.randint(1, most)
    believed = random.random() < 0.2
    left = number()
    left = max(left, _LEAST) if left or criterion == "rate" else 0.0
    before = random.choice((0, 0, 1, 2, 3))
    return BatchingJob(
        name=name,
        batch_limit=limit,
        local_limit=random.choice((1, 2, 3, 4, 9)),
        throughput=_throughput(random, number),
        remaining=None if believed else left,
        progress=Progress(
            alpha=random.choice((1.5, 2.0, 7.3)), beta=random.choice((1.0, 4.4)), processed=left or 1.0
        )
        if believed
        else None,
        min_gpus=random.choice((1, 1, 1, 2)),
        weight=random.choice((1.0, 1.0, 2.0, 0.3)),
        new=not before and random.random() < 0.5,
        previous_gpus=before,
        previous_batch=random.choice((None, before, before + 2)) if before else None,
    )


def _throughput(random: Random, number: Draw) -> StepTime | Tabulated:
    if random.random() < 0.3:
        pairs = [(size, gpus) for size in range(1, 7) for gpus in range(1, size + 1)]
        chosen = random.sample(pairs, random.randint(1, 15))
        return Tabulated(
            rates=[Rate(batch_size=s, gpus=g, samples_per_second=max(number(), _LEAST)) for s, g in chosen]
        )
    wiring = random.choice(list(Wiring))
    message = random.choice((0.0, number()))
    bandwidth = max(number(), message * _LEAST, _LEAST)
    wire = Wire(bandwidth=bandwidth, latency=min(number(), 1e9), wiring=wiring)
    return StepTime(
        fixed=min(random.choice((0.0, number())), 1e9),
        per_sample=min(max(number(), _LEAST), 1e9),
        message=message,
        wire=random.choice((None, wire)),
    )


def optimum(problem: Batching) -> Fraction | None:
    """Try every division of the GPUs; each job has the batch that is best for it on its GPUs."""
    menus = [[(0, 0), *_menu(problem, job)] for job in problem.jobs]
    must = _must(problem, menus)
    best = max if problem.criterion == "rate" else min
    cheapest = [_best_of_each_width(problem, job, menu) for job, menu in zip(problem.jobs, menus, strict=True)]
    found: dict[int, Fraction] = {}
    for choice in product(*cheapest):
        used = sum(gpus for gpus, _ in choice)
        if used > problem.gpus or any(not choice[place][0] for place in must):
            continue
        value = sum((worth for _, worth in choice), Fraction(0))
        found[used] = value if used not in found else best(value, found[used])
    if problem.use == "all":
        return found[max(found)]
    return best(found.values())


def value(problem: Batching, solution: Batches) -> Fraction | None:
    """Return what running and reconfigured jobs count; None when a rule is broken."""
    if not solution.running.keys() <= {job.name for job in problem.jobs}:
        return None
    menus = [[(0, 0), *_menu(problem, job)] for job in problem.jobs]
    total, used = Fraction(0), 0
    for job, menu in zip(problem.jobs, menus, strict=True):
        grant = solution.running.get(job.name)
        chosen = (0, 0) if grant is None else (grant.gpus, grant.batch_size)
        if chosen not in menu:
            return None
        total += _worth(problem, job, chosen)
        used += chosen[0]
    for place in _must(problem, menus):
        if problem.jobs[place].name not in solution.running:
            return None
    return total if used <= problem.gpus and used >= _needed(problem, menus) else None


def _needed(problem: Batching, menus: list[list[Chosen]]) -> int:
    if problem.use == "any":
        return 0
    must = _must(problem, menus)
    sums = {0}
    for place, menu in enumerate(menus):
        widths = {gpus for gpus, _ in menu if gpus or place not in must}
        sums = {before + width for before in sums for width in widths if before + width <= problem.gpus}
    return max(sums)


def _menu(problem: Batching, job: BatchingJob) -> Iterator[Chosen]:
    for gpus in range(job.min_gpus, problem.gpus + 1):
        if gpus > _cap(problem, job) or (problem.menu == "doublings" and gpus not in (1, 2, 4)):
            continue
        for size in range(gpus, job.batch_limit + 1):
            if size <= gpus * job.local_limit and _rate(job, size, gpus) is not None:
                yield gpus, size


def _cap(problem: Batching, job: BatchingJob) -> int:
    full = -(-job.batch_limit // job.local_limit)
    if problem.caps == "batch":
        return job.batch_limit
    if problem.caps == "refresh" and job.previous_batch is not None:
        return max(1, job.batch_limit * job.previous_gpus // job.previous_batch)
    return full


def _rate(job: BatchingJob, size: int, gpus: int) -> Fraction | None:
    model = job.throughput
    if isinstance(model, Tabulated):
        rates = [
            exactly(rate.samples_per_second)
            for rate in model.rates
            if (rate.batch_size, rate.gpus) == (size, gpus)
        ]
        return rates[0] if rates else None
    local = max(size // gpus + (1 if worker < size % gpus else 0) for worker in range(gpus))
    step = exactly(model.fixed) + local * exactly(model.per_sample)
    if gpus > 1 and model.wire is not None:
        hops = 2 if model.wire.wiring is Wiring.SWITCH else 1
        part = exactly(model.message) / gpus
        step += 2 * (gpus - 1) * (hops * exactly(model.wire.latency) + part / exactly(model.wire.bandwidth))
    return size / step


def _left(problem: Batching, job: BatchingJob) -> Fraction:
    if job.remaining is not None:
        return exactly(job.remaining)
    progress = unwrap(job.progress)
    alpha, beta = exactly(progress.alpha), exactly(progress.beta)
    return exactly(progress.processed) * beta / (alpha - (problem.estimate == "mean"))


def _time(problem: Batching, job: BatchingJob, chosen: Chosen) -> Fraction:
    rate = _rate(job, chosen[1], chosen[0])
    assert rate is not None
    return _left(problem, job) / rate


def _worth(problem: Batching, job: BatchingJob, chosen: Chosen) -> Fraction:
    before = (job.previous_gpus, job.previous_batch)
    same = chosen[0] == before[0] and (not chosen[0] or before[1] is None or before[1] == chosen[1])
    cost = Fraction(0) if same else exactly(problem.reconfiguration)
    weight = exactly(job.weight)
    if problem.criterion == "rate":
        return (weight / _time(problem, job, chosen) if chosen[0] else 0) - cost
    if not chosen[0]:
        return cost
    time = _time(problem, job, chosen)
    return cost + (time * chosen[0] / weight if problem.criterion == "sruf" else time * weight)


def _best_of_each_width(problem: Batching, job: BatchingJob, menu: list[Chosen]) -> list[tuple[int, Fraction]]:
    best = max if problem.criterion == "rate" else min
    worths: dict[int, list[Fraction]] = {}
    for chosen in menu:
        worths.setdefault(chosen[0], []).append(_worth(problem, job, chosen))
    return [(gpus, best(values)) for gpus, values in worths.items()]


def _must(problem: Batching, menus: list[list[Chosen]]) -> set[int]:
    """Return the places of the jobs that must run."""
    able = [place for place, menu in enumerate(menus) if len(menu) > 1]
    if problem.forced == "none":
        return set()
    if problem.forced == "new":
        able = [place for place in able if problem.jobs[place].new]
    else:
        able.sort(key=lambda place: (_shortest(problem, problem.jobs[place], menus[place]), place))
    left, chosen = problem.gpus, set()
    for place in able:
        fewest = menus[place][1][0]
        if fewest <= left:
            left -= fewest
            chosen.add(place)
    return chosen


def _shortest(problem: Batching, job: BatchingJob, menu: list[Chosen]) -> Fraction:
    """Return the least seconds on the fewest GPUs, whatever the batch."""
    return min(_time(problem, job, chosen) for chosen in menu[1:] if chosen[0] == menu[1][0])
