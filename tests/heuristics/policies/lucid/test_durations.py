"""Durations that are predicted."""

from types import SimpleNamespace
from typing import cast

from gsopt.scenario.job import Job
from gsopt.simulation import State
from heuristics.policies.lucid.durations import Means


def test_means_of_completed_jobs() -> None:
    """A job is expected to run as long as those like it did: of its model and GPUs, model, GPUs, or any."""
    past = [("m", 1, 10), ("m", 1, 20), ("m", 2, 60), ("n", 4, 80), ("n", 3, 5)]
    new = [("m", 1, 15), ("m", 3, 30), ("o", 2, 60), ("o", 8, 35)]
    jobs = [
        Job(name=str(place), release_date=0, duration=seconds, gpus=gpus, model=model)
        for place, (model, gpus, seconds) in enumerate(past + new)
    ]
    means, state = Means(), cast("State", SimpleNamespace(jobs=jobs))
    assert means.of(state, 0) == 1000
    means.learn(state, range(len(past)))
    assert [means.of(state, job) for job in range(len(past), len(jobs))] == [15, 30, 60, 35]
