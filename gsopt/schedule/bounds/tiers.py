"""Tiers: the network slowdowns that no placement can avoid."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache

from gsopt.core.numbers.grid import Exact, decimal, float_below
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario


def on_best_tiers(scenario: Scenario) -> Scenario:
    """Return a scenario without tier penalties, in which every job is as fast as on its best tier.

    On more GPUs than any single machine has, a job spans several machines even in an empty cluster. In the
    result, the speed on each number of GPUs is that on the fastest tier that can hold this number of GPUs. No
    job is slower in the result than in the given scenario, so lower bounds for the result also hold for the
    given scenario. The scenario is returned unchanged if the cluster is plain or no job's model has penalties.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Workload
    >>> from gsopt.scenario.speed import TIER_PENALTIES, Speed
    >>> job = Job(name="a", release_date=0, duration=60, gpus=16, model="alexnet")
    >>> racks, speed = Cluster.uniform(racks=2, machines=2, gpus=8), Speed(tiers=TIER_PENALTIES)
    >>> freed = on_best_tiers(Scenario(workload=Workload(jobs=[job]), cluster=racks, speed=speed))
    >>> freed.workload.jobs[0].duration, freed.speed.tiers
    (67.8, {})
    """
    cluster, tiers = scenario.cluster, scenario.speed.tiers
    if cluster.is_plain or not any(job.model in tiers for job in scenario.workload.jobs):
        return scenario
    levels = cluster.levels

    @cache
    def slowdown(model: str, count: int) -> Exact:
        """Return the smallest slowdown of a model on the given number of GPUs; 1 if no tier applies."""
        if not 1 < count <= cluster.gpus:
            return 1
        reachable = levels[levels.index(cluster.best_tier(count)) :]
        return 1 + decimal(min(tiers[model].of(level, levels) for level in reachable))

    def freed(job: Job) -> Job:
        if job.model not in tiers:
            return job
        counts = {count for menu in job.speeds.values() for count in menu}
        return _slowed(job, {count: slowdown(job.model, count) for count in counts | {job.gpus}})

    workload = scenario.workload.model_copy(update={"jobs": tuple(map(freed, scenario.workload.jobs))})
    speed = scenario.speed.model_copy(update={"tiers": {}})
    return scenario.model_copy(update={"workload": workload, "speed": speed})


def _slowed(job: Job, slowdowns: Mapping[int, Exact]) -> Job:
    """Return a job slowed down for each number of GPUs. Its work is still measured on the demanded GPUs.

    Floats are rounded in the direction that makes the job no slower.
    """
    own = slowdowns[job.gpus]

    def slowed(menu: Sequence[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
        faster = ((count, Fraction(own) / slowdowns[count] * decimal(speed)) for count, speed in menu)
        return tuple((count, -float_below(-speed)) for count, speed in faster)

    modes = tuple(mode.model_copy(update={"menu": slowed(mode.menu)}) for mode in job.modes)
    seconds = float_below(decimal(job.duration) * own)
    return job.model_copy(update={"duration": seconds, "menu": slowed(job.menu), "modes": modes})
