"""Suites: the committed instances of shares, and the program that writes their files.

``python -m instances.shares.suites`` rewrites every file. A file changes only if its generator does.
"""

from collections.abc import Mapping
from typing import get_args

from gsopt.problems.shares import Criterion, Shares, TypedJob
from instances.shares import spaces
from instances.shares.typed_jobs import typed_jobs
from instances.suites import HANDMADE, in_folder, picked, regenerate


def committed() -> list[Shares]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *production(), *worst()]


def small() -> list[Shares]:
    """Generate instances with a few jobs: some that each show one property, and some random ones."""
    drawn = {
        f"drawn-{_said(criterion)}-t{types}": typed_jobs(jobs=6, types=types, criterion=criterion, seed=types)
        for criterion in get_args(Criterion)
        for types in (1, 2, 3)
    }
    return in_folder("small", {**_handmade(), **drawn})


def production() -> list[Shares]:
    """Generate instances with 60 and 160 jobs on 63 GPUs of three types, for each criterion."""
    made = {
        f"{jobs:03}-{_said(criterion)}": typed_jobs(jobs=jobs, gpus=21, criterion=criterion, seed=jobs)
        for jobs in (60, 160)
        for criterion in get_args(Criterion)
    }
    return in_folder("production", made)


def worst() -> list[Shares]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "queue": "0:0,6",
        "isolated": "0:1,1,6",
        "progressive-filling": "1:0,0,6",
        "pop": "1:0,6,0",
    }
    return in_folder("worst", picked(spaces.tiny(jobs=3, gpus=2, speeds=2), found))


def _said(criterion: str) -> str:
    return criterion.replace("_", "-")


def _handmade() -> dict[str, Shares]:
    two = {"v100": 1, "k80": 1}
    return {
        "one-job": _made(two, [_job("a", {"v100": 4.0, "k80": 1.0})]),
        "fast-gpus-to-whom-they-help": _made(
            two, [_job("a", {"v100": 4.0, "k80": 1.0}), _job("b", {"v100": 1.5, "k80": 1.0})], "makespan"
        ),
        "weights": _made({"v100": 2}, [_job("a", {"v100": 1.0}, weight=3.0), _job("b", {"v100": 1.0})]),
        "more-gpus-more-time": _made({"v100": 4}, [_job("a", {"v100": 1.0}), _job("b", {"v100": 1.0}, gpus=4)]),
        "runs-on-one-type-only": _made(
            two,
            [
                _job("a", {"v100": 4.0}),
                _job("b", {"v100": 4.0, "k80": 1.0}),
                _job("c", {"k80": 1.0, "v100": 0.0}),
            ],
        ),
        "larger-than-a-type": _made(
            {"v100": 2, "k80": 4},
            [_job("a", {"v100": 9.0, "k80": 1.0}, gpus=4), _job("b", {"v100": 9.0, "k80": 1.0})],
        ),
        "late-already": _made(
            two,
            [
                _job("a", {"v100": 4.0, "k80": 1.0}, steps=100.0, age=1000.0, isolated=100.0),
                _job("b", {"v100": 4.0, "k80": 1.0}, steps=4000.0),
            ],
            "finish_time",
        ),
        "first-come": _made({"v100": 2}, [_job("a", {"v100": 1.0}, gpus=2), _job("b", {"v100": 1.0})], "fifo"),
        "magnitudes": _made(
            two,
            [
                _job("a", {"v100": 1e9, "k80": 1e-9}, steps=1e9),
                _job("b", {"v100": 1e-9, "k80": 1e9}, steps=1e-9, age=1e9),
            ],
            "finish_time",
        ),
    }


def _job(name: str, throughputs: Mapping[str, float], *, gpus: int = 1, **fields: float) -> TypedJob:
    return TypedJob(name=name, gpus=gpus, throughputs=throughputs, **fields)


def _made(gpus: Mapping[str, int], jobs: list[TypedJob], criterion: Criterion = "max_min") -> Shares:
    return Shares(about=HANDMADE, gpus=gpus, jobs=jobs, criterion=criterion)


if __name__ == "__main__":
    regenerate(committed())
