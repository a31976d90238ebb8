"""Suites: the committed instances of scheduling, and the program that writes their files.

``python -m instances.scheduling.suites`` rewrites every file. To solve the instances without known results, run
``gsopt suites verify scheduling --update`` afterwards.
"""

from gsopt.problems.scheduling import ElasticJob, Scheduling
from instances.scheduling import spaces
from instances.scheduling.aryl import crawling, table_3, table_4
from instances.scheduling.counts import restricted
from instances.scheduling.elastic_jobs import elastic_jobs
from instances.scheduling.figures import figure_1, figure_4
from instances.suites import HANDMADE, changed, in_folder, picked, regenerate, renamed


def committed() -> list[Scheduling]:
    """Generate every committed instance, without the best known results that the files also contain."""
    return [*small(), *medium(), *challenge(), *whole(), *worst()]


def small() -> list[Scheduling]:
    """Generate the instances with at most seven jobs, each of which is solved to optimality in seconds."""
    return in_folder("small", _figures(), _random(), _fair(), _corner_cases())


def medium() -> list[Scheduling]:
    """Generate the instances with 10 to 20 jobs, most of which are solved to proven optimality."""
    made = {}
    for jobs in (10, 12, 15, 20):
        for gpus, load in ((8, 1.0), (16, 1.2), (64, 1.5)):
            made[f"j{jobs:02}-g{gpus:02}"] = elastic_jobs(jobs=jobs, gpus=gpus, load=load, seed=jobs + gpus)
    return in_folder("medium", made)


def challenge() -> list[Scheduling]:
    """Generate a larger instance that the exact method cannot solve to proven optimality within minutes."""
    return [renamed(elastic_jobs(jobs=30, gpus=32, load=1.2, seed=62), "challenge/j30-g32")]


def whole() -> list[Scheduling]:
    """Generate the instances whose jobs may be resized at any time but not paused."""
    made = [table_3(), table_4(), crawling(jobs=3, gpus=32), crawling(), crawling(jobs=5, gpus=128)]
    return [renamed(problem, problem.name) for problem in made]


def worst() -> list[Scheduling]:
    """Generate the instances of two small spaces on which heuristics are farthest from the optimum."""
    rigid = {
        "rigid-fifo": "1:5,0,0",
        "rigid-marginal": "1:1,3,7",
        "rigid-sjf": "1:5,6,6",
        "rigid-srtf": "1:3,0,0",
        "rigid-afs": "1:0,0,3",
        "rigid-gandiva-rotation": "1:2,3,7",
        "rigid-random-order": "1:0,0,5",
        "rigid-tiresias": "0:1,0,3",
        "rigid-allox": "0:2,3,3",
        "rigid-allox-port": "1:2,5,9",
        "rigid-estimated": "1:2,3,9",
        "rigid-rolling-prices": "1:2,3,3",
        "rigid-themis-auction": "1:1,3,3",
        "rigid-pollux": "0:2,0,3",
    }
    elastic = {
        "elastic-fifo": "0:2",
        "elastic-marginal": "0:4,5,6",
        "elastic-equal-share": "0:5,5,2",
        "elastic-elastic-srtf": "0:0,1,8",
        "elastic-afs": "0:5,5,8",
        "elastic-elastic-las": "0:1,0,10",
        "elastic-gandiva-rotation": "0:5,8,8",
        "elastic-marginal-attained": "0:4,5,2",
        "elastic-sia": "0:0,1,10",
        "elastic-tiresias": "0:5,11,8",
        "elastic-estimated": "0:5,1,2",
        "elastic-rolling-prices": "0:5,2,2",
        "elastic-shockwave": "0:5,8,11",
        "elastic-themis-auction": "0:4,5,8",
    }
    return in_folder(
        "worst",
        picked(spaces.rigid(jobs=3, gpus=2, widths=2, durations=3, releases=1, unit=3600.0), rigid),
        picked(spaces.elastic(jobs=3, works=2, releases=1, unit=3600.0), elastic),
    )


def _figures() -> dict[str, Scheduling]:
    return {
        "ares-figure-1": figure_1(),
        "ares-figure-1-truncated": figure_1(reading="truncated"),
        "ares-figure-4": figure_4(),
    }


def _random() -> dict[str, Scheduling]:
    """Generate jobs and clusters of all sizes, varying load, scaling, arrivals and GPU counts."""
    made = {}
    for jobs in (4, 5, 6, 7):
        for gpus in (2, 4, 6, 8):
            seed = 10 * jobs + gpus
            made[f"concave-j{jobs}-g{gpus}"] = elastic_jobs(jobs=jobs, gpus=gpus, load=0.8, seed=seed)
            made[f"busy-j{jobs}-g{gpus}"] = elastic_jobs(jobs=jobs, gpus=gpus, load=1.5, seed=seed + 100)
            made[f"at-once-j{jobs}-g{gpus}"] = elastic_jobs(
                jobs=jobs, gpus=gpus, at_once=True, counts="alpha", seed=seed + 200
            )
        made[f"linear-j{jobs}"] = elastic_jobs(jobs=jobs, gpus=8, scaling="linear", seed=jobs)
        made[f"alpha-j{jobs}"] = elastic_jobs(jobs=jobs, gpus=8, load=1.2, counts="alpha", seed=jobs + 300)
    return made


def _fair() -> dict[str, Scheduling]:
    """Generate instances whose fairness constants are slightly larger than the smallest feasible ones.

    The smallest feasible constants are 61.7, 102.2 and 184.6 s.
    """
    return {
        f"fair-j{jobs}-g{gpus}": changed(
            elastic_jobs(jobs=jobs, gpus=gpus, load=1.2, seed=400 + jobs), fairness=fairness
        )
        for jobs, gpus, fairness in ((4, 4, 68.0), (5, 8, 103.0), (6, 4, 185.0))
    } | {"fair-ares-figure-4": changed(figure_4(), fairness=0.5)}


def _corner_cases() -> dict[str, Scheduling]:
    one = ElasticJob(name="a", release=0, work=12, rates={1: 1.0, 2: 1.5, 4: 2.0})
    whole = ElasticJob(name="a", release=0, work=12, rates={4: 4.0})
    uneven = {1: 1.0, 2: 1.8, 4: 3.0, 6: 3.6}
    return {
        "one-job": _handmade(4, one),
        "one-rigid-job": _handmade(4, whole.model_copy(update={"release": 5.0})),
        "identical-jobs": _handmade(4, *(_named(one, name) for name in "abcde")),
        "identical-jobs-one-by-one": _handmade(
            4, *(_named(one, name, release=float(place)) for place, name in enumerate("abcde"))
        ),
        "all-gpus-each": _handmade(
            4,
            *(
                _named(whole, name, work=work)
                for name, work in zip("abcd", (40.0, 4.0, 24.0, 8.0), strict=True)
            ),
        ),
        "all-gpus-or-one": _handmade(4, whole, _named(one, "b", release=1.0), _named(whole, "c", release=2.0)),
        "packing": _handmade(
            2,
            ElasticJob(name="a", release=0, work=1, rates={2: 1.0}),
            ElasticJob(name="b", release=0, work=2, rates={1: 1.0}),
        ),
        "six-gpus": _handmade(
            6,
            *(
                ElasticJob(name=name, release=release, work=work, rates=uneven)
                for name, release, work in (("a", 0, 20), ("b", 0, 9), ("c", 1, 4), ("d", 3, 12))
            ),
        ),
        "six-gpus-threes": _handmade(
            6,
            ElasticJob(name="a", release=0, work=9, rates={3: 3.0, 6: 5.0}),
            ElasticJob(name="b", release=0, work=7, rates={2: 2.0, 4: 3.5}),
            ElasticJob(name="c", release=1, work=5, rates={1: 1.0, 2: 1.8}),
            ElasticJob(name="d", release=2, work=6, rates={3: 3.0}),
        ),
        "zero-gaps": _handmade(
            4, *(_named(one, name, release=float(place // 2)) for place, name in enumerate("abcdef"))
        ),
        "idle-between": _handmade(4, one, _named(one, "b", release=100.0), _named(one, "c", release=101.0)),
        "slower-on-more": _handmade(
            4,
            ElasticJob(name="a", release=0, work=6, rates={1: 1.0, 2: 1.5, 4: 1.2}),
            ElasticJob(name="b", release=0, work=5, rates={1: 1.0, 2: 0.8, 4: 2.0}),
            ElasticJob(name="c", release=1, work=4, rates={2: 2.0, 4: 2.0}),
        ),
        "fewer-than-demanded": _handmade(
            4,
            ElasticJob(name="a", release=0, work=16, rates={1: 1.5, 2: 2.5, 4: 4.0}, gpus=4),
            ElasticJob(name="b", release=1, work=6, rates={1: 1.2, 2: 2.0, 4: 3.0}, gpus=2),
            ElasticJob(name="c", release=1, work=8, rates={1: 1.5, 2: 2.5, 4: 4.0}, gpus=4),
        ),
        "capped-by-alpha": restricted(elastic_jobs(jobs=6, gpus=8, load=1.5, seed=500), 1.0),
    }


def _named(job: ElasticJob, name: str, **fields: float) -> ElasticJob:
    return job.model_copy(update={"name": name, **fields})


def _handmade(gpus: int, *jobs: ElasticJob) -> Scheduling:
    return Scheduling(about=HANDMADE, gpus=gpus, jobs=jobs)


if __name__ == "__main__":
    regenerate(committed())
