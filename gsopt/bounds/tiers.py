"""Tiers: jobs as fast as the best tier lets them be that they could have in the empty cluster."""

from functools import cache

from gsopt.job import Job, Mode
from gsopt.scenario import Scenario
from gsopt.speed import Speed
from gsopt.tolerances import BEST_TIER


def at_best_tiers(scenario: Scenario) -> Scenario:
    """Give the scenario without tiers in which every menu has the slowdown that no placement avoids.

    On k GPUs a job is no faster than on the tier that suits it best of those wide enough for k GPUs, even if
    nothing else runs. So what bounds the scenario that is returned bounds the one that was given. There the
    best tier of a job is its menu: prices buy it GPUs at that speed.

    Source: Dally, section II-B, for the tiers.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Workload
    >>> from gsopt.speed import TIER_PENALTIES
    >>> job = Job(name="a", release_date=0, duration=60, gpus=6, model="alexnet")
    >>> racks = Cluster.uniform(racks=2, machines=2, gpus=4)
    >>> given = Scenario(workload=Workload(jobs=[job]), cluster=racks, speed=Speed(tiers=TIER_PENALTIES))
    >>> [round(job.duration, 6) for job in at_best_tiers(given).workload.jobs]  # in one rack
    [67.8]
    """
    cluster, tiers = scenario.cluster, scenario.speed.tiers
    if cluster.is_plain or not tiers:
        return scenario

    @cache
    def slowdown(model: str, count: int) -> float:
        """Give the least slowdown of a model on a number of GPUs; 1 where the cluster has not as many."""
        if count == 1 or count > cluster.gpus or model not in tiers:
            return 1.0
        wide_enough = cluster.levels[cluster.levels.index(cluster.best_tier(count)) :]
        return 1.0 + min(tiers[model].of(tier, cluster.levels) for tier in wide_enough)

    def slowed(job: Job) -> Job:
        own = slowdown(job.model, job.gpus)

        def entries(menu: "tuple[tuple[int, float], ...]") -> tuple[tuple[int, float], ...]:
            return tuple((count, speed * (own / slowdown(job.model, count))) for count, speed in menu)

        modes = tuple(Mode.model_copy(mode, update={"menu": entries(tuple(mode.menu))}) for mode in job.modes)
        duration = job.duration * own * (1 - BEST_TIER)
        return job.model_copy(update={"duration": duration, "menu": entries(tuple(job.menu)), "modes": modes})

    jobs = tuple(slowed(job) if job.model in tiers else job for job in scenario.workload.jobs)
    workload = scenario.workload.model_copy(update={"jobs": jobs})
    return scenario.model_copy(update={"workload": workload, "speed": _without_tiers(scenario.speed)})


def _without_tiers(speed: Speed) -> Speed:
    return speed.model_copy(update={"tiers": {}})
