"""Offline schedules without prices are those of a second version, written from the documentation."""

from random import Random

import pytest

from gsopt import judge
from gsopt.core.numbers.clock import clock_error
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.studies.offline import offline_schedule
from tests.effort import cases
from tests.gsopt.schedule.bounds.tiny import exact
from tests.gsopt.studies.naive_offline import completions


def _times(random: Random, kind: int) -> tuple[float, float]:
    """Draw a release date and a duration: whole, with decimals, tied, far apart, or of any magnitude."""
    return [
        (random.randint(0, 12), random.randint(1, 30)),
        (round(random.uniform(0, 20), 3), round(random.uniform(0.1, 30), 4)),
        (random.choice([0, 0, 2]), random.choice([1, 3])),
        (random.choice([0, 1e5, 1e6]), round(random.uniform(1, 9), 3)),
        (0, float(f"{10 ** random.uniform(0, 6):.4g}")),
    ][kind]


def _draw(random: Random) -> tuple[list[tuple[float, float, int]], int]:
    """Draw the release dates, durations and numbers of GPUs of a few jobs, and the size of the cluster."""
    gpus, origin, kind = random.randint(1, 12), random.choice([0, 0.25, 1.7e9]), random.randrange(5)
    times = [_times(random, kind) for _ in range(random.randint(1, 7))]
    sizes = [random.choice([1, gpus, random.randint(1, gpus)]) for _ in times]
    return [
        (origin + release, duration, size) for (release, duration), size in zip(times, sizes, strict=True)
    ], gpus


def _scenario(rows: list[tuple[float, float, int]], gpus: int) -> Scenario:
    """Return rigid jobs in the given order."""
    jobs = [
        Job(name=str(place), release_date=release, duration=duration, gpus=size)
        for place, (release, duration, size) in enumerate(rows)
    ]
    return Scenario.of(Workload(jobs=jobs), gpus)


def test_a_second_version_finds_the_same_value() -> None:
    """If there is only one best choice at every event, the second version has the same mean JCT.

    The judge finds every schedule legal, with the value of the plan, whatever the order of the jobs.
    """
    compared = 0
    for seed in range(cases(500)):
        random = Random(f"offline {seed}")
        rows, gpus = _draw(random)
        scenario, power = _scenario(rows, gpus), random.choice([0, 1, 1, 2])
        found = offline_schedule(scenario, None, power=power)
        verdict = judge(found.schedule, scenario)
        allowed = clock_error(max(release for release, _, _ in rows), found.mean_jct)

        assert verdict.violations == (), seed
        assert verdict.mean_jct == pytest.approx(found.mean_jct, rel=1e-9, abs=allowed), seed
        done, is_unique = completions(scenario, power)
        if is_unique:
            mean = float(
                sum(done[job.name] - exact(job.release_date) for job in scenario.workload.jobs) / len(rows)
            )
            random.shuffle(rows)
            other = offline_schedule(_scenario(rows, gpus), None, power=power)
            assert found.mean_jct == pytest.approx(mean, rel=1e-9), seed
            assert other.mean_jct == pytest.approx(mean, rel=1e-9), seed
            compared += 1
    assert compared >= cases(500) / 2
