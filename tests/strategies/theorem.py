"""Random instances for the delay bounds of elastic fair queuing, in numbers that floats hold exactly.

Times are multiples of 1/4 and efficiencies multiples of 1/16, so that replays in fractions are exact.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import efficient_counts
from gsopt.schedule.fairness import FairTimes, capped_gps_finish_times, gps_finish_times
from gsopt.simulation import replay
from heuristics.policies import efq
from heuristics.policies.efq.delays import delay_bound, longest_busy_period
from tests.gsopt.simulation.scenarios import bundle


class Kind(NamedTuple):
    """A class of instances: what its jobs and its GPUs are like."""

    alpha: float
    gpus: tuple[int, ...] = (2, 4, 8)
    demands: tuple[int, ...] = (1,)
    steps: tuple[int, ...] = (0,)  # sixteenths of efficiency that a doubling may cost
    least: int = 0  # sixteenths of efficiency that remain


#: Linear speed with and without demands above 1; concave speed that lets every job use all GPUs; caps by
#: alpha, likewise; linear speed on numbers of GPUs that are no doublings.
KINDS = {
    "A": Kind(alpha=1.0),
    "D": Kind(alpha=1.0, demands=(1, 2, 4)),
    "B": Kind(alpha=0.75, steps=(0, 1, 2, 3), least=12),
    "C": Kind(alpha=0.75, steps=(0, 1, 2, 4, 6)),
    "Dc": Kind(alpha=0.75, demands=(1, 2, 4), steps=(0, 1, 2, 4, 6)),
    "E": Kind(alpha=1.0, gpus=(3, 5, 6, 7)),
}


def instance(kind: Kind, seed: int) -> Scenario:
    """Generate an instance of at most 8 jobs."""
    random = Random(seed)
    gpus = random.choice(kind.gpus)
    jobs = []
    for number in range(random.randint(1, 8)):
        demand = random.choice([demand for demand in kind.demands if demand <= gpus])
        jobs.append(
            Job(
                name=str(number),
                release_date=random.choice([0, random.randint(0, 40) / 4]),
                duration=random.randint(1, 60) / 4,
                gpus=demand,
                menu=list(_menu(kind, demand, gpus, random)),
            )
        )
    return Scenario(workload=bundle(jobs), cluster=Cluster.plain(gpus))


def _menu(kind: Kind, demand: int, gpus: int, random: Random) -> Iterator[tuple[int, float]]:
    count, sixteenths = demand, 16
    while count <= gpus:
        yield count, count // demand * sixteenths / 16
        count *= 2
        sixteenths = max(sixteenths - random.choice(kind.steps), kind.least, 1)


def late(kind: Kind, seed: int) -> dict[str, bool]:
    """Return for each bound whether any job of an instance is later than it allows, in fractions."""
    scenario = instance(kind, seed)
    jobs, gpus = scenario.workload, scenario.cluster.gpus
    fair = gps_finish_times(jobs, gpus, exact=True)
    run = replay(scenario, efq, alpha=kind.alpha, exact=True, record=True, fair_times=FairTimes(fair, fair))
    assert run.schedule is not None
    caps = [max(k for k in efficient_counts(job, kind.alpha) if k <= gpus) for job in jobs.jobs]
    fluid: dict[str, Any] = {
        "GPS": fair,
        "capped GPS": capped_gps_finish_times(jobs, gpus, caps, exact=True),
    }
    found = {}

    def compare(name: str, theorem: Any, period: Any, reference: Sequence[Any]) -> None:
        bounds = delay_bound(scenario, period, alpha=kind.alpha, kind=theorem, exact=True)
        rows = zip(run.completion_times, reference, bounds, strict=True)
        found[name] = any(time - fluid_time > bound for time, fluid_time, bound in rows)

    readings: tuple[Any, ...] = ("GPUs", "jobs", "GPS")
    for busy in readings:
        period = longest_busy_period(run.schedule, scenario, busy, exact=True)
        for reference, times in fluid.items():
            compare(f"paper, {busy}, {reference}", "paper", period, times)
        if busy == "jobs":
            compare("capped", "capped", period, fair)
            if set(caps) == {gpus}:
                compare("uncapped", "uncapped", period, fair)
    return found
