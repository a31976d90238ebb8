"""Suites: the committed instances of batching, and the program that writes their files.

``python -m instances.batching.suites`` rewrites every file. A file changes only if its generator does.
"""

from random import Random
from typing import Any

from gsopt.performance.batching import BatchingJob, Progress, Rate, StepTime, Tabulated
from gsopt.performance.communication import Wire, Wiring
from gsopt.problems.batching import Batching
from instances.batching import spaces
from instances.batching.elastic_jobs import elastic_jobs
from instances.suites import HANDMADE, in_folder, picked, proven, regenerate

_MODEL = StepTime(
    fixed=0.5, per_sample=0.25, message=1e8, wire=Wire(bandwidth=1e9, latency=0.01, wiring=Wiring.RING)
)


def committed() -> list[Batching]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *medium(), *challenge(), *worst()]


def small() -> list[Batching]:
    """Generate the instances that can be solved by trying every GPU count and batch size."""
    return in_folder("small", _degenerate(), _menus(), _costs(), _beliefs(), _drawn(), _corner_cases())


def medium() -> list[Batching]:
    """Generate instances with 16 or 64 GPUs, like clusters of the ONES paper, and with every criterion."""
    made = {
        "016-020-sruf": elastic_jobs(gpus=16, jobs=20, seed=1),
        "016-020-printed": elastic_jobs(gpus=16, jobs=20, forced="none", caps="batch", seed=1),
        "064-060-sruf": elastic_jobs(gpus=64, jobs=60, seed=2),
        "064-060-new": elastic_jobs(gpus=64, jobs=60, forced="new", new=0.3, seed=2),
        "064-060-rate": elastic_jobs(gpus=64, jobs=60, criterion="rate", forced="none", seed=2),
        "064-060-sum-time": elastic_jobs(gpus=64, jobs=60, criterion="sum_time", seed=2),
        "064-020-doublings": elastic_jobs(gpus=64, jobs=20, criterion="rate", menu="doublings", seed=3),
        "064-060-moving-costs": elastic_jobs(gpus=64, jobs=60, reconfiguration=500.0, uncertain=0.5, seed=4),
    }
    return in_folder("medium", made)


def challenge() -> list[Batching]:
    """Generate instances whose menus contain only doublings, so that costs are far from convex.

    The table of the dynamic program, which has an entry for each job and each number of GPUs, is too large. In
    the larger instance, it is too large even if only some of its rows are kept at a time, and the exact method
    leaves a gap.
    """
    made = {
        f"{gpus}-{jobs}-doublings": elastic_jobs(
            gpus=gpus, jobs=jobs, doublings=doublings, menu="doublings", criterion="sum_time", seed=4
        )
        for gpus, jobs, doublings in ((100_000, 600, 10), (1_000_000, 800, 14))
    }
    return in_folder("challenge", made)


def worst() -> list[Batching]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "equal-share": "2:0,8",
    }
    return in_folder("worst", picked(spaces.tiny(jobs=3, gpus=4), found))


def _degenerate() -> dict[str, Batching]:
    """Generate the same jobs with the objective of Equation 3 as printed, and with other objectives."""
    jobs = [_job(name, 4, 4, left) for name, left in (("a", 100), ("b", 110), ("c", 120))]
    return {
        "printed-goal-runs-one-job": _handmade(4, jobs, forced="none", caps="batch"),
        "printed-goal-all-forced": _handmade(4, jobs, forced="all", caps="batch"),
        "completions-per-second": _handmade(4, jobs, criterion="rate", forced="none", caps="batch"),
        "sum-of-times": _handmade(4, jobs, criterion="sum_time", caps="batch"),
    }


def _menus() -> dict[str, Batching]:
    """Generate jobs with menus that leave some GPUs unused."""
    two = [_job("a", 6, 2, 50), _job("b", 6, 2, 90)]
    floors = [_job("a", 5, 1, 50, min_gpus=3), _job("b", 5, 1, 90, min_gpus=2), _job("c", 2, 1, 20)]
    ran = [_job("a", 6, 2, 50, previous_gpus=3, previous_batch=4), _job("b", 6, 2, 90)]
    news = [_job(name, 3, 1, left, new=True) for name, left in (("a", 50), ("b", 20), ("c", 30))]
    return {
        "more-gpus-than-caps": _handmade(8, two),
        "doublings-leave-a-gap": _handmade(7, [_job("a", 4, 1, 50), _job("b", 4, 1, 90)], menu="doublings"),
        "floors": _handmade(6, floors),
        "refresh-keeps-local-batches": _handmade(6, ran, caps="refresh"),
        "more-new-jobs-than-gpus": _handmade(2, news, forced="new"),
        "any-number": _handmade(5, two, criterion="rate", forced="none", use="any"),
    }


def _costs() -> dict[str, Batching]:
    """Generate jobs with nonmonotone throughput, with weights, and with reconfiguration costs."""
    rates = {(2, 1): 5.0, (4, 1): 4.0, (4, 2): 11.0, (6, 2): 9.5, (6, 3): 10.0, (8, 4): 17.5}
    dips = Tabulated(rates=[Rate(batch_size=b, gpus=c, samples_per_second=x) for (b, c), x in rates.items()])
    measured = [
        BatchingJob(name=name, batch_limit=8, local_limit=4, throughput=dips, remaining=left)
        for name, left in (("a", 100.0), ("b", 140.0))
    ]
    weighted = [_job("a", 4, 1, 50), _job("b", 4, 1, 60, weight=3.0)]
    ran = [
        _job("a", 6, 2, 100, previous_gpus=1, previous_batch=1),
        _job("b", 6, 2, 105, previous_gpus=3, previous_batch=6),
    ]
    even = StepTime(fixed=0.0, per_sample=1.0)
    return {
        "measured": _handmade(4, measured, criterion="rate", caps="batch"),
        "weights": _handmade(5, weighted, criterion="rate"),
        "changes-cost": _handmade(4, ran, criterion="sum_time", reconfiguration=60.0),
        "changes-cost-little": _handmade(4, ran, criterion="sum_time", reconfiguration=0.5),
        "remainders-do-not-pay": _handmade(
            4,
            [
                BatchingJob(name=name, batch_limit=5, local_limit=2, throughput=even, remaining=60.0)
                for name in "ab"
            ],
            criterion="rate",
        ),
    }


def _beliefs() -> dict[str, Batching]:
    """Generate jobs whose remaining samples are known only as a distribution."""
    believed: dict[str, Any] = {"progress": Progress(alpha=1.5, beta=4.0, processed=30.0)}
    early: dict[str, Any] = {"progress": Progress(alpha=1.0, beta=4.0, processed=30.0)}
    known = _job("known", 4, 2, 90)
    return {
        "believed": _handmade(3, [known, _job("believed", 4, 2, **believed)]),
        "first-epoch": _handmade(3, [known, _job("early", 4, 2, **early)], estimate="mean_progress"),
    }


def _drawn() -> dict[str, Batching]:
    """Generate four random jobs with small batches."""
    made: dict[str, Batching] = {}
    for seed in range(1, 5):
        random = Random(seed)
        jobs = [
            _job(f"j{k}", random.randint(1, 6), random.randint(1, 3), random.randint(10, 200)) for k in range(4)
        ]
        made[f"drawn-{seed}"] = _handmade(5, jobs, criterion=("sruf", "rate")[seed % 2])
    return made


def _corner_cases() -> dict[str, Batching]:
    job = _job("a", 4, 2, 50)
    return {
        "no-jobs": _handmade(4, []),
        "no-gpus": _handmade(0, [job]),
        "nothing-left-to-do": _handmade(2, [_job("a", 4, 2, 0), _job("b", 4, 2, 10)]),
        "all-equal": _handmade(4, [_job(name, 4, 2, 50) for name in "abc"], criterion="sum_time"),
        "magnitudes": _handmade(2, [_job("a", 2, 1, 1e-9), _job("b", 2, 1, 1e15)], criterion="rate"),
    }


def _job(
    name: str, batch_limit: int, local_limit: int, left: float | None = None, **changes: Any
) -> BatchingJob:
    fields: dict[str, Any] = {"remaining": None if left is None else float(left), **changes}
    return BatchingJob(name=name, batch_limit=batch_limit, local_limit=local_limit, throughput=_MODEL, **fields)


def _handmade(gpus: int, jobs: list[BatchingJob], **options: Any) -> Batching:
    return Batching(about=HANDMADE, gpus=gpus, jobs=jobs, **options)


if __name__ == "__main__":
    regenerate(small(), prove=proven)
    regenerate([*medium(), *challenge(), *worst()])
