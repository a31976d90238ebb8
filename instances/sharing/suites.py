"""Suites: the committed instances of sharing, and the program that writes their files.

``python -m instances.sharing.suites`` rewrites every file. To solve the instances without known results, run
``gsopt suites verify sharing --update`` afterwards.
"""

from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from instances.sharing import spaces
from instances.sharing.interfering_jobs import interfering_jobs
from instances.suites import HANDMADE, changed, in_folder, picked, regenerate


def committed() -> list[Sharing]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *challenge(), *worst()]


def small() -> list[Sharing]:
    """Generate the instances with at most six jobs, each of which is solved to optimality in about a second."""
    made = {
        **{
            f"j{jobs:02}-g{gpus:02}": interfering_jobs(jobs=jobs, gpus=gpus, seed=jobs) for jobs, gpus in _SIZES
        },
        **_corner_cases(),
    }
    return in_folder("small", made)


def challenge() -> list[Sharing]:
    """Generate larger instances that the exact method cannot solve to proven optimality within minutes.

    Given an optimal solution of the first instance, the method soon proves it optimal, but it does not find the
    solution on its own.
    """
    made = {
        f"j{jobs:02}-g{gpus:02}": interfering_jobs(jobs=jobs, gpus=gpus, seed=jobs)
        for jobs, gpus in ((10, 8), (16, 16), (20, 8))
    }
    return in_folder("challenge", made)


#: Numbers of jobs and GPUs of the random instances.
_SIZES = [(jobs, gpus) for gpus in (4, 8) for jobs in (3, 4, 5, 6)]


def between_events(*, starts: str = "events") -> Sharing:
    """Create four jobs whose best schedule starts one of them between two events, if this is allowed.

    Jobs a (4 s) and b (6 s) need both GPUs, and jobs c and d arrive at 5 s. Only a is slowed down by others.
    If b starts at 2 s, a ends at 5 s and all jobs complete by 8 s. If starts are limited to events, b has
    two best start times, which are equally good: the start of a and the end of a.
    """
    given = [("a", 0.0, 4.0, 2), ("b", 0.0, 6.0, 2), ("c", 5.0, 1.0, 1), ("d", 5.0, 1.0, 1)]
    problem = Sharing(
        about=HANDMADE,
        gpus=2,
        jobs=[Job(name=n, release_date=r, duration=p, gpus=g, model=n) for n, r, p, g in given],
        interference={"a": {"b": 1.5, "c": 1.5, "d": 1.5}},
    )
    return changed(problem, starts=starts)


def worst() -> list[Sharing]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {
        "fifo": "0:2,4,0",
        "fifo-skipping": "0:6,1,1",
        "sjf": "0:0,4,8",
        "ssf": "0:2,5,12",
        "best-pairs": "0:0,5,9",
        "sjf-bsbf": "0:5,1,1",
        "sjf-ffs": "0:1,7,13",
    }
    return in_folder("worst", picked(spaces.tiny(jobs=3, gpus=2, durations=2, releases=1), found))


def _corner_cases() -> dict[str, Sharing]:
    return {
        "one-job": _alike(5.0),
        "share-nothing": _alike(1.0, 1.0, slowdown=3.0),
        "share-though-slow": _alike(4.0, 1.0, slowdown=2.0),
        "no-slowdown": _alike(3.0, 2.0, 1.0, slowdown=1.0),
        "one-per-gpu": changed(_alike(3.0, 2.0, 1.0, slowdown=1.1), share_limit=1),
        "memory": changed(_with_memory(_alike(3.0, 2.0, 1.0, slowdown=1.1)), memory=12),
        "between-events": between_events(),
        "between-events-any": between_events(starts="any"),
    }


def _alike(*durations: float, slowdown: float = 1.0) -> Sharing:
    """Return jobs with given durations on one GPU that all slow each other down by the same factor."""
    jobs = [
        Job(name=name, release_date=0.0, duration=seconds, gpus=1)
        for name, seconds in zip("abc", durations, strict=False)
    ]
    return Sharing(about=HANDMADE, gpus=1, jobs=jobs, default_interference=slowdown)


def _with_memory(problem: Sharing) -> Sharing:
    """Set the memory of the jobs to 10, 6 and 2 bytes, so that the first one fits only beside the last."""
    jobs = [job.model_copy(update={"memory": size}) for job, size in zip(problem.jobs, (10, 6, 2), strict=True)]
    return changed(problem, jobs=jobs)


if __name__ == "__main__":
    regenerate(committed())
