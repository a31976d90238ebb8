"""Suites: the committed instances of sequencing, and the program that writes their files.

``python -m instances.sequencing.suites`` rewrites every file. A file changes only if its generator does.
"""

from collections.abc import Mapping

from gsopt.core.problem import About
from gsopt.problems.sequencing import Machine, Sequencing, UnitJob
from instances.sequencing import spaces
from instances.sequencing.unit_jobs import unit_jobs
from instances.suites import HANDMADE, changed, in_folder, picked, proven, regenerate


def committed() -> list[Sequencing]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *production(), *worst()]


def small() -> list[Sequencing]:
    """Generate the instances that can be solved by trying every order."""
    return in_folder("small", _types(), _drawn(), _corner_cases())


def production() -> list[Sequencing]:
    """Generate queues as long as those of a production cluster, with all GPUs idle or some busy."""
    made = {
        "016-040": unit_jobs(jobs=40, gpus=4, types=4, seed=1),
        "016-040-busy": unit_jobs(jobs=40, gpus=4, types=4, busy=0.75, seed=2),
        "016-080-one-type": unit_jobs(jobs=80, gpus=16, types=1, busy=0.5, seed=3),
        "064-160": unit_jobs(jobs=160, gpus=16, types=4, seed=4),
        "064-160-busy": unit_jobs(jobs=160, gpus=16, types=4, busy=0.75, seed=5),
        "064-160-alike": unit_jobs(jobs=160, gpus=16, types=4, speedup=1.5, busy=0.5, seed=6),
    }
    return in_folder("production", made)


def worst() -> list[Sequencing]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "earliest-end": "1:0,1",
    }
    return in_folder("worst", picked(spaces.tiny(jobs=3, machines=2, seconds=4), found))


def _types() -> dict[str, Sequencing]:
    """Generate jobs that some GPU types speed up more than others."""
    fast = {"a": {"v100": 10.0, "k80": 12.0}, "b": {"v100": 10.0, "k80": 60.0}}
    return {
        "fast-gpus-to-whom-they-help": _handmade({"v100": 0.0, "k80": 0.0}, fast),
        "both-on-the-fast-gpu": _handmade(
            {"v100": 0.0, "k80": 0.0}, {name: {"v100": 10.0, "k80": 90.0} for name in "ab"}
        ),
        "waiting-for-the-fast-gpu": _handmade({"v100": 5.0, "k80": 0.0}, {"a": {"v100": 10.0, "k80": 20.0}}),
        "runs-on-one-type-only": _handmade(
            {"v100": 0.0, "k80": 0.0}, {"a": {"k80": 30.0}, "b": {"k80": 10.0}, "c": {"v100": 5.0, "k80": 1.0}}
        ),
    }


def _drawn() -> dict[str, Sequencing]:
    """Generate random jobs on three GPUs of three types, some of which are busy."""
    return {
        f"drawn-{seed}": changed(
            unit_jobs(jobs=5, gpus=1, busy=0.3 * (seed % 2), longest=600, seed=seed),
            about=About(source="drawn", seed=seed),
        )
        for seed in range(1, 5)
    }


def _corner_cases() -> dict[str, Sequencing]:
    return {
        "no-jobs": _handmade({"v100": 0.0}, {}),
        "one-job": _handmade({"v100": 7.0}, {"a": {"v100": 10.0}}),
        "all-equal": _handmade({"v100": 0.0, "k80": 0.0}, {n: {"v100": 10.0, "k80": 10.0} for n in "abcd"}),
        "shortest-first": _handmade(
            {"v100": 0.0}, {"a": {"v100": 3.0}, "b": {"v100": 1.0}, "c": {"v100": 2.0}}
        ),
        "free-too-late": _handmade({"v100": 1e6, "k80": 0.0}, {n: {"v100": 1.0, "k80": 90.0} for n in "abc"}),
        "no-seconds": _handmade({"v100": 0.0, "k80": 1.0}, {n: {"v100": 0.0, "k80": 0.0} for n in "ab"}),
        "magnitudes": _handmade(
            {"v100": 0.0, "k80": 1e-9}, {"a": {"v100": 1e9, "k80": 1e9}, "b": {"v100": 1e-9, "k80": 2e-9}}
        ),
        "the-last-bit": _handmade(
            {"v100": 0.0, "k80": 0.0},
            {n: {"v100": 0.1 + i * 2**-56, "k80": 0.3 - i * 2**-54} for i, n in enumerate("abcd")},
        ),
    }


def _handmade(machines: Mapping[str, float], jobs: Mapping[str, Mapping[str, float]]) -> Sequencing:
    """Return an instance with one GPU per type, given when each becomes free and the durations on it."""
    return Sequencing(
        about=HANDMADE,
        machines=[
            Machine(name=f"m{index}", gpu_type=kind, available=free)
            for index, (kind, free) in enumerate(machines.items())
        ],
        jobs=[UnitJob(name=name, seconds=seconds) for name, seconds in jobs.items()],
    )


if __name__ == "__main__":
    regenerate(small(), prove=proven)
    regenerate([*production(), *worst()])
