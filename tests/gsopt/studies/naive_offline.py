"""A second version of offline schedules without prices, written from the documentation, in fractions."""

from fractions import Fraction
from itertools import combinations

from gsopt.scenario.scenario import Scenario
from tests.gsopt.schedule.bounds.tiny import exact


def completions(scenario: Scenario, power: int = 1) -> tuple[dict[str, Fraction], bool]:
    """Return when each job completes, and whether every choice of jobs was the only best one.

    At every arrival and completion, the jobs run that fit together and have the largest total value. The value
    of a job is the inverse of its remaining time, divided by a power of its number of GPUs and multiplied by
    that number.
    """
    sizes = {job.name: job.gpus for job in scenario.workload.jobs}
    coming = sorted((exact(job.release_date), job.name, exact(job.duration)) for job in scenario.workload.jobs)
    left: dict[str, Fraction] = {}
    done: dict[str, Fraction] = {}
    now, is_unique = coming[0][0], True
    while coming or left:
        while coming and coming[0][0] <= now:
            _, name, duration = coming.pop(0)
            left[name] = duration
        values = {name: Fraction(sizes[name]) ** (1 - power) / rest for name, rest in left.items()}
        running, is_best = _fullest(values, sizes, scenario.cluster.gpus)
        is_unique = is_unique and is_best
        span = min([left[name] for name in running] + [time - now for time, _, _ in coming[:1]])
        now += span
        for name in running:
            left[name] -= span
            if not left[name]:
                done[name] = now
                del left[name]
    return done, is_unique


def _fullest(values: dict[str, Fraction], sizes: dict[str, int], gpus: int) -> tuple[tuple[str, ...], bool]:
    """Return the jobs that fit and have the largest total value, and whether no others come close to it."""
    totals = sorted(
        (
            (sum(values[name] for name in chosen), chosen)
            for count in range(len(values) + 1)
            for chosen in combinations(values, count)
            if sum(sizes[name] for name in chosen) <= gpus
        ),
        reverse=True,
    )
    return totals[0][1], len(totals) == 1 or totals[1][0] < totals[0][0] * (1 - Fraction(1, 10**9))
