"""Suites: the committed instances of waiting, and the program that writes their files.

``python -m instances.waiting.suites`` rewrites every file. To solve the instances without known results, run
``gsopt suites verify waiting --update`` afterwards.
"""

from typing import get_args

from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from instances.suites import HANDMADE, in_folder, picked, regenerate
from instances.waiting import spaces
from instances.waiting.tier_jobs import Arrivals, Minimize, tier_jobs


def committed() -> list[Waiting]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *medium(), *challenge(), *worst()]


def small() -> list[Waiting]:
    """Generate the instances with at most six jobs, each of which is solved to optimality in about a second."""
    made = {**_random((3, 4, 5, 6)), **_corner_cases()}
    return in_folder("small", made)


def medium() -> list[Waiting]:
    """Generate the instances with 8 to 12 jobs, each of which takes at most about a minute to solve."""
    return in_folder("medium", _random((8, 10, 12)))


def challenge() -> list[Waiting]:
    """Generate larger instances; the exact method solves those with up to 20 jobs within minutes."""
    made = {
        "batch-mean-jct-j16": tier_jobs(jobs=16, arrivals="batch", minimize="mean_jct", seed=16),
        "batch-mean-jct-j40": tier_jobs(jobs=40, arrivals="batch", minimize="mean_jct", seed=40),
        "poisson-mean-jct-j20": tier_jobs(jobs=20, arrivals="poisson", minimize="mean_jct", seed=20),
    }
    return in_folder("challenge", made)


def worst() -> list[Waiting]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "fifo": "0:8,0,0",
        "best-tier": "0:8,9,9",
        "ssf": "0:2,6,15",
    }
    space = spaces.one_machine(jobs=3, gpus=3, durations=3, releases=1, widths=3, minimize="mean_jct")
    return in_folder("worst", picked(space, found))


def _random(sizes: tuple[int, ...]) -> dict[str, Waiting]:
    """Generate instances with varying numbers of jobs, arrivals and objectives."""
    return {
        f"{arrivals}-{minimize.replace('_', '-')}-j{jobs:02}": tier_jobs(
            jobs=jobs, arrivals=arrivals, minimize=minimize, seed=jobs
        )
        for arrivals in get_args(Arrivals)
        for minimize in get_args(Minimize)
        for jobs in sizes
    }


def _corner_cases() -> dict[str, Waiting]:
    one = Job(name="a", release_date=5.0, duration=10.0, gpus=3, model="alexnet")
    sensitive = [Job(name=name, release_date=0.0, duration=5.0, gpus=3, model="mobilenetv3") for name in "abc"]
    return {
        "one-job": _handmade(Cluster.uniform(racks=2, machines=2, gpus=2), one),
        "larger-than-a-rack": _handmade(
            Cluster.uniform(racks=2, machines=1, gpus=2), one, _named(one, "b", gpus=4)
        ),
        "all-gpus-each": _handmade(
            Cluster.uniform(racks=1, machines=2, gpus=2),
            *(
                _named(one, name, gpus=4, duration=seconds)
                for name, seconds in zip("abc", (9.0, 3.0, 6.0), strict=True)
            ),
        ),
        "wait-for-a-machine": _handmade(Cluster.uniform(racks=2, machines=1, gpus=4), *sensitive),
        "makespan-horizon": _handmade(
            Cluster.uniform(machines=1, gpus=2),
            *(
                _named(one, name, gpus=1, duration=seconds)
                for name, seconds in zip("abcd", (1.0, 1.0, 1.0, 3.0), strict=True)
            ),
        ),
    }


def _named(job: Job, name: str, **fields: float) -> Job:
    return job.model_copy(update={"name": name, **fields})


def _handmade(cluster: Cluster, *jobs: Job) -> Waiting:
    return Waiting(about=HANDMADE, cluster=cluster, jobs=jobs)


if __name__ == "__main__":
    regenerate(committed())
