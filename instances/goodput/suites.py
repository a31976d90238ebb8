"""Suites: the committed instances of goodput, and the program that writes their files.

``python -m instances.goodput.suites`` rewrites every file. A file changes only if its generator does.
"""

from typing import Any

from gsopt.core.problem import About
from gsopt.problems.goodput import Goodput, GoodputJob
from instances.goodput.running_jobs import running_jobs
from instances.goodput.triples import triples
from instances.suites import HANDMADE, changed, in_folder, proven, regenerate


def committed() -> list[Goodput]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *medium(), *challenge()]


def small() -> list[Goodput]:
    """Generate the instances that can be solved by trying every placement."""
    return in_folder("small", _restarts(), _nodes(), _drawn(), _corner_cases())


def medium() -> list[Goodput]:
    """Generate instances with 8 to 160 jobs. Most clusters are like Pollux's, with 16 nodes of four GPUs."""
    made = {
        "04-009": running_jobs(nodes=4, jobs=9, seed=1),
        "16-008": running_jobs(jobs=8, seed=5),
        "16-015": running_jobs(jobs=15, seed=1),
        "16-015-all-busy": running_jobs(jobs=15, busy=1.0, seed=1),
        "16-030": running_jobs(jobs=30, seed=2),
        "16-045-half-busy": running_jobs(jobs=45, busy=0.5, seed=3),
        "16-160": running_jobs(jobs=160, seed=4),
        "08-020-of-eight": running_jobs(nodes=8, gpus_per_node=8, jobs=20, seed=6),
    }
    return in_folder("medium", made)


def challenge() -> list[Goodput]:
    """Generate an instance that the exact method cannot solve to proven optimality within minutes."""
    return in_folder("challenge", {"triples-40-128": triples(nodes=40, gpus_per_node=128, excess=1, seed=1)})


def _restarts() -> dict[str, Goodput]:
    """Generate jobs that would move to better GPUs if restarts cost nothing."""
    young = _job("young", current=[1, 0], age=60.0)
    often = _job("often", current=[1, 0], age=600.0, restarts=12)
    old = _job("old", current=[0, 1], age=36_000.0)
    new = _job("new", age=30.0)
    return {
        "an-old-job-grows": _handmade([2, 2], [young, old]),
        "who-restarted-often-stays": _handmade([2, 2], [often, old]),
        "a-new-job-takes-a-gpu": _handmade([2], [_job("old", current=[2], age=36_000.0), new]),
        "restarts-are-free": _handmade([2, 2], [young, old, new], restart_time=0.0),
        "squares": _handmade([2, 2], [young, old, new], power=-2),
    }


def _nodes() -> dict[str, Goodput]:
    """Generate jobs that span several nodes; a node may host only one such job."""
    near = _job("near", speedups=[[1.0, 2.0], [0.5, 0.6]], age=600.0)
    far = [_job(name, speedups=[[0.1], [2.0]], age=600.0) for name in "ab"]
    both = _job("both", current=[1, 1], age=600.0)
    return {
        "two-jobs-do-not-meet": _handmade([2, 2], far),
        "two-jobs-beside-each-other": _handmade([1, 1, 1, 1], far),
        "one-node-is-faster": _handmade([1, 2], [near]),
        "what-it-has-is-kept": _handmade([2, 2], [both, far[0]]),
        "unequal-nodes": _handmade([1, 3], [_job("a", age=900.0), _job("b", current=[0, 1], age=900.0)]),
        "most-gpus": _handmade([3, 3], [_job("a", age=900.0, max_gpus=2), _job("b", age=900.0, max_gpus=3)]),
    }


def _drawn() -> dict[str, Goodput]:
    """Generate random jobs on two nodes of two GPUs."""
    return {
        f"drawn-{seed}": changed(
            running_jobs(nodes=2, gpus_per_node=2, jobs=3, seed=seed), about=About(source="drawn", seed=seed)
        )
        for seed in range(1, 5)
    }


def _corner_cases() -> dict[str, Goodput]:
    return {
        "no-jobs": _handmade([2], []),
        "no-nodes": _handmade([], [_job("a", age=60.0)]),
        "nothing-gained": _handmade([2], [_job("a", speedups=[[0.0, 0.0]], age=60.0)]),
        "never-measured": _handmade([2], [_job("a", speedups=[], age=60.0)]),
        "just-arrived": _handmade([2], [_job("a")]),
        "all-equal": _handmade([1, 1], [_job(name, age=60.0) for name in "abc"]),
        "magnitudes": _handmade(
            [2], [_job("a", speedups=[[1e-9]], age=60.0), _job("b", speedups=[[1e9]], age=60.0)]
        ),
    }


def _job(name: str, **fields: Any) -> GoodputJob:
    return GoodputJob(**{"name": name, "speedups": [[1.0, 1.8, 2.5], [1.5, 2.2, 2.8]], **fields})


def _handmade(nodes: list[int], jobs: list[GoodputJob], **options: Any) -> Goodput:
    return Goodput(about=HANDMADE, nodes=nodes, jobs=jobs, **options)


if __name__ == "__main__":
    regenerate(small(), prove=proven)
    regenerate([*medium(), *challenge()])
