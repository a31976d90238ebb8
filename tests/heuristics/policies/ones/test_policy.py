"""ONES as a policy: the search goes on from event to event."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.training import Training
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import tiresias
from heuristics.policies.ones.policy import ones
from instances.workloads import ones as jobs_of_ones
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios

_SMALL = Scenario(workload=jobs_of_ones(jobs=5, gpus=4, load=1.2, seed=3), cluster=Cluster.plain(4))

#: With few generations, which is faster.
_quick = partial(ones, most_generations=2)


def _job(name: str, release_date: float, epochs: int, most: int = 4) -> Job:
    """Return a job that is as fast as it has GPUs; an epoch takes ten seconds on one."""
    modes = [Mode(name=str(k), menu=[(k, float(k))], batch_size=32 * k) for k in range(2, most + 1)]
    training = Training(epoch=1000, samples=1000 * epochs)
    return Job(
        name=name, release_date=release_date, duration=10 * epochs, gpus=1, batch_size=32, modes=modes,
        training=training,
    )  # fmt: skip


def _segments(*jobs: Job, gpus: int, **options: Any) -> list[tuple[str, float, int, str]]:
    run = simulate(bundle(jobs), partial(ones, **options), cluster=gpus, record=True, exact=True)
    assert run.schedule is not None
    return [(each.job, float(each.start), each.gpus, each.mode) for each in run.schedule.segments]


def test_a_job_alone_doubles_at_every_epoch() -> None:
    """It begins on one GPU, and its batch doubles at each end of an epoch until it is the largest."""
    assert _segments(_job("a", 0, 9), gpus=4, penalty="never") == [
        ("a", 0, 1, ""), ("a", 10, 2, "2"), ("a", 15, 4, "4"),
    ]  # fmt: skip


def test_new_jobs_get_a_gpu_at_once() -> None:
    """A job that comes gets a GPU of the job that has run, which has not passed an epoch yet."""
    found = _segments(_job("a", 0, 30), _job("b", 16, 3), gpus=4, penalty="never", knowledge="known")
    assert ("b", 16, 1, "") in found
    assert ("a", 16, 3, "3") in found


def test_updates_wait_for_an_epoch_of_every_running_job() -> None:
    """With a slow job beside it a fast one keeps its GPUs, unless schedules need not wait."""
    slow = _job("slow", 0, 3).model_copy(update={"modes": (), "training": Training(epoch=5000, samples=15000)})
    waits = _segments(slow, _job("fast", 0, 20), gpus=4, penalty="never", knowledge="known")
    changes = [start for name, start, _, _ in waits if name == "fast"]
    assert changes[:2] == [0, 10]
    at_once = _segments(
        slow, _job("fast", 0, 20), gpus=4, penalty="never", knowledge="known", every_epoch=False
    )
    assert [start for name, start, _, _ in at_once if name == "fast"][:3] == [0, 10, 15]


@pytest.mark.parametrize(
    "options", [{}, {"knowledge": "known"}, {"penalty": "compound", "forced": "new", "floor": "gpu"}]
)
def test_on_jobs_of_ones(options: dict[str, Any]) -> None:
    """All that is booked is what the judge finds, runs are repeatable, and no bound is beaten."""
    assert check_policy(_quick, [_SMALL], exact=False, **options) == 1


@settings(max_examples=cases(30), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_jobs_without_training(scenario: Scenario) -> None:
    """With known work any jobs will do, with overheads and changes of capacity."""
    assert check_policy(ones, [scenario], exact=False, knowledge="known") == 1


def test_overheads_are_paid() -> None:
    """Where scaling costs ten seconds the same jobs take longer than where it costs none."""
    free = simulate(_SMALL, _quick, bound=False).metrics.mean_jct
    slow = _SMALL.model_copy(update={"overheads": {"": Overhead(start=10, resize=10)}})
    assert simulate(slow, _quick, bound=False).metrics.mean_jct > free + 10


def test_elastic_batches_are_worth_it() -> None:
    """At a light load jobs complete in less than half of Tiresias' time where none is scaled down."""
    given = Scenario(workload=jobs_of_ones(jobs=5, gpus=8, load=0.2, seed=1), cluster=Cluster.plain(8))
    ours = simulate(given, _quick, bound=False, penalty="never").metrics.mean_jct
    assert ours < 0.5 * simulate(given, tiresias, bound=False).metrics.mean_jct


def test_engines_draw_from_the_same_distribution() -> None:
    """DEAP takes the place of arrays in a run, and its schedules are as long to a fifth."""
    given = Scenario(workload=jobs_of_ones(jobs=3, gpus=2, seed=1), cluster=Cluster.plain(2))
    found = [
        simulate(given, _quick, bound=False, engine=each).metrics.mean_jct for each in ("vectorised", "deap")
    ]
    assert found[1] == pytest.approx(found[0], rel=0.2)


def test_seeds_differ() -> None:
    """Another seed draws another search."""
    given = Scenario(workload=jobs_of_ones(jobs=7, gpus=4, load=3, seed=1), cluster=Cluster.plain(4))
    runs = [simulate(given, _quick, bound=False, seed=seed).completion_times for seed in (1, 2)]
    assert runs[0] != runs[1]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"knowledge": "guessed"}, "knowledge: 'guessed': must be one of predicted, known"),
        ({"penalty": "always"}, "penalty: 'always': must be one of compound, current, never"),
        ({"forced": "none"}, "forced: 'none': must be one of new, all"),
        ({"floor": "none"}, "floor: 'none': must be one of sample, gpu"),
        ({"engine": "steam"}, "engine: 'steam': must be one of vectorised, deap"),
        ({"generations_per_second": -1}, "generations_per_second"),
        ({"most_generations": 0}, "most_generations"),
        ({"rate": float("nan")}, "rate"),
        ({"mutation_rate": 2}, "mutation_rate"),
        ({"population": 0}, "population"),
    ],
)
def test_bad_options(options: dict[str, Any], reason: str) -> None:
    """An option out of its range is refused in a line that names it."""
    with pytest.raises(InvalidInput, match=reason):
        simulate(bundle([_job("a", 0, 2)]), ones, cluster=4, **options)
