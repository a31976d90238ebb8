"""Suites: the committed instances of allocation, and the program that writes their files.

``python -m instances.allocation.suites`` rewrites every file. A file changes only if its generator does.
"""

from collections.abc import Iterator
from typing import Any, get_args

from gsopt.problems.allocation import Allocation, ElasticJob
from instances.allocation import spaces
from instances.allocation.aryl import figure_6, table_4
from instances.allocation.elastic_jobs import Scaling, Sizes, elastic_jobs
from instances.allocation.multiple_choice import Correlation, multiple_choice
from instances.suites import HANDMADE, in_folder, picked, proven, regenerate, renamed

#: Jobs and GPUs of the instances of production size.
_PRODUCTION = ((50, 256), (200, 1_000), (500, 2_000), (2_000, 4_000))

#: Largest number of jobs with value tables; with more, the file would exceed 200 kB.
_MOST_TABLES = 500


def committed() -> list[Allocation]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*tiny(), *production(), *challenge(), *worst()]


def paper() -> list[Allocation]:
    """Create the examples of the Aryl paper."""
    return [renamed(problem, problem.name) for problem in (table_4(), figure_6())]


def tiny() -> list[Allocation]:
    """Return the committed instances whose optima are found by enumeration."""
    return [*paper(), *small()]


def small() -> list[Allocation]:
    """Generate the instances that can be solved by trying every choice of extra workers."""
    return in_folder("small", _random(), _greedy_fails(), _tables(), _menus(), _corner_cases())


def production() -> list[Allocation]:
    """Generate instances with up to 2,000 jobs, and multiple-choice knapsacks with 100 classes."""
    made = {**dict(_of_production_size()), **_classic()}
    return in_folder("production", made)


def challenge() -> list[Allocation]:
    """Generate instances that are hard for methods based on a price per GPU or on dynamic programming.

    Because the number of GPUs and the value of a choice are correlated, a price per GPU hardly distinguishes
    the choices. Choices with several million GPUs lead to too many states for dynamic programming.
    """
    made = {
        f"strong-{classes:03}": multiple_choice(
            classes=classes, items=10, largest=900_000, correlation="strong", seed=1
        )
        for classes in (20, 100)
    }
    return in_folder("challenge", made)


def worst() -> list[Allocation]:
    """Generate the instances of a small space on which heuristics are farthest from the optimum."""
    found = {"highest-density": "1:0,9"}  # of marginal_greedy, too
    return in_folder("worst", picked(spaces.tiny(jobs=3, spare=4), found))


def _random() -> dict[str, Allocation]:
    def few(**options: Any) -> Allocation:
        return elastic_jobs(jobs=4, most_workers=4, most_extra=5, **options)

    return {
        "one-size": few(sizes="one", capacity=7, seed=1),
        "powers-of-two": few(capacity=13, seed=2),
        "powers-of-two-odd": few(capacity=21, seed=11),
        "any-size": few(sizes="any", capacity=12, seed=3),
        "any-size-tight": few(sizes="any", capacity=5, seed=4),
        "imperfect": few(scaling="imperfect", capacity=16, seed=5),
        "imperfect-any-size": few(scaling="imperfect", sizes="any", capacity=19, seed=6),
        "across-servers": few(scaling="across_servers", capacity=18, seed=7),
        "across-servers-any-size": few(scaling="across_servers", sizes="any", capacity=23, seed=8),
        "queued": few(queued_share=0.5, capacity=9, seed=9),
        "queued-across-servers": few(queued_share=0.6, scaling="across_servers", capacity=20, seed=10),
        "five-jobs": elastic_jobs(jobs=5, most_workers=3, most_extra=4, capacity=14, seed=12),
    }


def _greedy_fails() -> dict[str, Allocation]:
    return {
        "greedy-blocked": _handmade(
            4,
            ElasticJob(name="small", min_workers=1, max_workers=2, gpus_per_worker=1, time_at_min=200),
            ElasticJob(name="large", min_workers=1, max_workers=2, gpus_per_worker=4, time_at_min=600),
        ),
        "sizes-2-3-5": _handmade(
            14,
            ElasticJob(name="two", min_workers=2, max_workers=5, gpus_per_worker=2, time_at_min=240),
            ElasticJob(name="three", min_workers=1, max_workers=3, gpus_per_worker=3, time_at_min=310),
            ElasticJob(name="five", min_workers=3, max_workers=5, gpus_per_worker=5, time_at_min=1000),
        ),
        "sizes-1-3-6": _handmade(
            9,
            ElasticJob(name="one", min_workers=1, max_workers=4, gpus_per_worker=1, time_at_min=90),
            ElasticJob(name="three", min_workers=2, max_workers=4, gpus_per_worker=3, time_at_min=400),
            ElasticJob(name="six", min_workers=1, max_workers=2, gpus_per_worker=6, time_at_min=700),
        ),
    }


def _tables() -> dict[str, Allocation]:
    return {
        "steps": _handmade(
            5,
            ElasticJob(name="steps", min_workers=2, max_workers=6, values=(0, 60, 60, 90)),
            ElasticJob(name="smooth", min_workers=1, max_workers=5, time_at_min=50),
        ),
        "convex": _handmade(
            6,
            ElasticJob(name="late", min_workers=1, max_workers=5, values=(1, 4, 9, 16)),
            ElasticJob(name="later", min_workers=1, max_workers=6, values=(0, 1, 3, 10, 30)),
            ElasticJob(name="even", min_workers=1, max_workers=4, values=(4, 8, 12)),
        ),
        "nothing-gained": _handmade(
            6,
            ElasticJob(name="slower", min_workers=1, max_workers=4, values=(-1, -2.5, -4)),
            ElasticJob(name="worse", min_workers=2, max_workers=3, gpus_per_worker=2, values=(-7,)),
        ),
        "rises-and-falls": _handmade(
            9,
            ElasticJob(name="a", min_workers=1, max_workers=6, values=(30, 45, 40, 20, -10)),
            ElasticJob(name="b", min_workers=4, max_workers=8, gpus_per_worker=2, values=(25, 24.5, 60, 10)),
        ),
    }


def _menus() -> dict[str, Allocation]:
    return {
        "doublings": _handmade(
            20,
            ElasticJob(name="one", min_workers=1, counts=(1, 3, 7), time_at_min=90),
            ElasticJob(name="two", min_workers=2, counts=(2, 6), gpus_per_worker=2, time_at_min=100.5),
            ElasticJob(name="three", min_workers=3, counts=(3, 9), remaining_work=700),
        ),
        "decimals": _handmade(
            7,
            ElasticJob(name="a", min_workers=1, max_workers=3, values=(0.1, 0.2)),
            ElasticJob(name="b", min_workers=1, max_workers=4, gpus_per_worker=2, values=(0.1, 0.2, 0.3)),
            ElasticJob(name="c", min_workers=2, counts=(3,), values=(0.30000000000000004,)),
        ),
        "magnitudes": _handmade(
            9,
            ElasticJob(
                name="long", min_workers=1, max_workers=4, gpus_per_worker=2, values=(1e9, 1.5e9, 1.7e9)
            ),
            ElasticJob(name="short", min_workers=1, max_workers=5, values=(4e-9, 7e-9, 8e-9, 8.5e-9)),
            ElasticJob(name="odd", min_workers=1, counts=(1, 4), values=(3e-9, 5e8)),
        ),
        **{
            f"classes-{correlation.replace('_', '-')}": multiple_choice(
                classes=4, items=5, largest=30, correlation=correlation, seed=seed
            )
            for seed, correlation in enumerate(get_args(Correlation))
        },
    }


def _classic() -> dict[str, Allocation]:
    return {
        f"classes-{correlation.replace('_', '-')}-0100": multiple_choice(correlation=correlation)
        for correlation in get_args(Correlation)
    }


def _corner_cases() -> dict[str, Allocation]:
    elastic = ElasticJob(name="elastic", min_workers=2, max_workers=6, time_at_min=60)
    rigid = ElasticJob(name="rigid", min_workers=3, max_workers=3, time_at_min=60, queued=True)
    running = ElasticJob(name="running", min_workers=3, max_workers=7, gpus_per_worker=2, remaining_work=500)
    return {
        "no-jobs": _handmade(8),
        "no-gpus": _handmade(0, elastic),
        "no-elastic-jobs": _handmade(8, rigid),
        "everything-fits": _handmade(64, elastic, running),
        "too-large-a-worker": _handmade(1, running, elastic),
        "remaining-work": _handmade(7, running, elastic),
        "no-time-left": _handmade(4, elastic, elastic.model_copy(update={"name": "done", "time_at_min": 0.0})),
        "cannot-start": _handmade(
            8, elastic, rigid, *(rigid.model_copy(update={"name": name}) for name in ("second", "third"))
        ),
    }


def _of_production_size() -> Iterator[tuple[str, Allocation]]:
    variants: tuple[tuple[str, Sizes, Scaling], ...] = (
        ("proportional", "powers_of_two", "proportional"),
        ("any-size", "any", "proportional"),
        ("imperfect", "powers_of_two", "imperfect"),
        ("across-servers", "any", "across_servers"),
    )
    for jobs, capacity in _PRODUCTION:
        for name, sizes, scaling in variants:
            if scaling == "proportional" or jobs <= _MOST_TABLES:
                problem = elastic_jobs(jobs=jobs, capacity=capacity, sizes=sizes, scaling=scaling, seed=jobs)
                yield f"{name}-{jobs:04}", problem


def _handmade(capacity: int, *jobs: ElasticJob) -> Allocation:
    return Allocation(about=HANDMADE, capacity=capacity, jobs=jobs)


if __name__ == "__main__":
    regenerate(tiny(), prove=proven)
    regenerate([*production(), *challenge(), *worst()])
