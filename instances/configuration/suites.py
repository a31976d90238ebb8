"""Suites: the committed instances of configuration, and the program that writes their files.

``python -m instances.configuration.suites`` rewrites every file. A file changes only if its generator does.
"""

from typing import Any

from gsopt.core.problem import About
from gsopt.problems.configuration import AdaptiveJob, Configuration, shapes
from instances.configuration import spaces
from instances.configuration.growing_jobs import growing_jobs
from instances.configuration.triples import triples
from instances.suites import HANDMADE, changed, in_folder, picked, proven, regenerate


def committed() -> list[Configuration]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *medium(), *challenge(), *worst()]


def small() -> list[Configuration]:
    """Generate the instances that can be solved by trying every configuration."""
    return in_folder("small", _restarts(), _powers(), _types(), _drawn(), _corner_cases())


def medium() -> list[Configuration]:
    """Generate clusters like Sia's, with at most 64 GPUs of one or three types, and 9 to 160 jobs."""
    made = {
        "04-009": growing_jobs(nodes=4, jobs=9, seed=1),
        "16-015": growing_jobs(jobs=15, seed=1),
        "16-030": growing_jobs(jobs=30, seed=2),
        "16-030-all-busy": growing_jobs(jobs=30, busy=1.0, seed=2),
        "16-160": growing_jobs(jobs=160, seed=3),
        "3x5-020": growing_jobs(nodes=5, types=3, jobs=20, seed=4),
        "3x5-060": growing_jobs(nodes=5, types=3, jobs=60, seed=5),
        "3x2-040-of-eight": growing_jobs(nodes=2, gpus_per_node=8, types=3, jobs=40, seed=6),
    }
    return in_folder("medium", made)


def challenge() -> list[Configuration]:
    """Generate an instance that the exact method cannot solve to proven optimality within minutes."""
    return in_folder("challenge", {"triples-30-048": triples(pools=30, gpus=48, excess=1, seed=1)})


def worst() -> list[Configuration]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "greedy": "2:0,1",
        "pop": "0:9",
    }
    return in_folder("worst", picked(spaces.tiny(jobs=3, goodputs=4), found))


def _restarts() -> dict[str, Configuration]:
    """Generate jobs that would move to a better configuration if restarts cost nothing."""
    young = _job("young", current=0, restart_factor=0.4)
    old = _job("old", current=0, restart_factor=0.99)
    new = _job("new", goodputs=[1.0, None, None])
    return {
        "an-old-job-grows": _handmade(4, [young, old]),
        "a-new-job-takes-a-gpu": _handmade(2, [_job("old", current=1, restart_factor=0.99), new]),
        "who-restarts-is-pinned": _handmade(2, [_job("old", current=1, pinned=True), new]),
        "all-time-was-restarts": _handmade(4, [_job("often", current=0, restart_factor=0.0)]),
    }


def _powers() -> dict[str, Configuration]:
    """Generate the same jobs with other settings of the objective, such as its power and penalty."""
    flat, steep = _job("flat", goodputs=[1.0, 1.2, 1.3]), _job("steep", goodputs=[1.0, 2.0, 4.0])
    jobs = [flat, steep, _job("old", current=1, restart_factor=0.9)]
    return {
        "the-slowest-count": _handmade(4, jobs, power=-2.0),
        "the-sum-counts": _handmade(4, jobs, power=1.0),
        "nobody-must-run": _handmade(4, jobs, penalty=0.0),
        "rounded-to-integers": _handmade(4, jobs, decimals=0),
        "capped": _handmade(4, jobs, power=1.0, cap=1.5),
    }


def _types() -> dict[str, Configuration]:
    """Generate jobs that are faster on one of two GPU types."""
    listed = [*shapes("fast", 1, 2), *shapes("slow", 1, 4)]

    def typed(name: str, *goodputs: float | None, **fields: Any) -> AdaptiveJob:
        return AdaptiveJob(name=name, goodputs=goodputs, **fields)

    much, little = typed("much", 4.0, 7.0, 1.0, 1.9, 3.0), typed("little", 1.2, 2.0, 1.0, 1.9, 3.0)
    rigid = typed("rigid", None, 4.0, None, 2.0, None)
    stays = typed("stays", 4.0, 7.0, 1.0, 1.9, 3.0, current=3, restart_factor=0.3)

    def cluster(*jobs: AdaptiveJob) -> Configuration:
        gpus = {"fast": 2, "slow": 4}
        return Configuration(about=HANDMADE, gpus=gpus, configurations=listed, jobs=jobs)

    return {
        "fast-gpus-to-whom-they-help": cluster(much, little),
        "one-size": cluster(rigid, little, much),
        "a-move-costs-too-much": cluster(stays, little),
    }


def _drawn() -> dict[str, Configuration]:
    return {
        f"drawn-{seed}": changed(
            growing_jobs(nodes=1, types=2, jobs=4, running=0.75, seed=seed),
            about=About(source="drawn", seed=seed),
        )
        for seed in range(1, 5)
    }


def _corner_cases() -> dict[str, Configuration]:
    return {
        "no-jobs": _handmade(2, []),
        "no-types": Configuration(
            about=HANDMADE, gpus={}, configurations=[], jobs=[AdaptiveJob(name="a", goodputs=[])]
        ),
        "never-measured": _handmade(4, [_job("a", goodputs=[None, None, None])]),
        "all-equal": _handmade(2, [_job(name) for name in "abc"]),
        "magnitudes": _handmade(
            2, [_job("a", goodputs=[1e-9, 1e-9, None]), _job("b", goodputs=[1.0, 1e9, None])]
        ),
    }


def _job(name: str, **fields: Any) -> AdaptiveJob:
    return AdaptiveJob(**{"name": name, "goodputs": [1.0, 1.8, 3.0], **fields})


def _handmade(gpus: int, jobs: list[AdaptiveJob], **options: Any) -> Configuration:
    shared = shapes("t4", 1, 4)
    return Configuration(about=HANDMADE, gpus={"t4": gpus}, configurations=shared, jobs=jobs, **options)


if __name__ == "__main__":
    regenerate(small(), prove=proven)
    regenerate([*medium(), *challenge(), *worst()])
