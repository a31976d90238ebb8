"""An adaptive job on trial."""

from random import Random

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.trainee import Trainee
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.adaptive_progress import AdaptiveProgress
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION, adaptive
from tests.gsopt.simulation.scenarios import bundle

_JOB = adaptive(Job(name="a", release_date=0, duration=12, gpus=1), 4)
_SCENARIO = Scenario.of(bundle([_JOB]), Cluster.uniform(machines=2, gpus=1), applications={"cnn": APPLICATION})


def test_it_completes_as_its_trainee_does() -> None:
    """Three epochs of 2.64 s take 3 s each, and what rounding cuts short is excused at the stop."""
    progress = AdaptiveProgress(_JOB, _SCENARIO)
    progress.run((1,), "", 0.0, 1.0, 1.0)
    progress.follow(4.0)
    assert (round(progress.share, 9), progress.completed_at) == (round(1 / 3, 9), None)
    progress.stop(10 - 1e-9, 1e-6)
    assert progress.completed_at == 10


def test_it_stops_for_good_where_it_cannot_run() -> None:
    """What a model was not measured on breaks a schedule once, and nothing else is asked then."""
    progress = AdaptiveProgress(_JOB, _SCENARIO)
    progress.run((9,), "", 0.0, 0.0, 1.0)
    assert "must be placements of cnn" in progress.broken
    progress.slow(2.0, 1.0)
    progress.lose(1.0, 2.0)
    progress.stop(3.0, 0.0)
    assert (progress.share, progress.completed_at) == (0.0, None)


def test_it_does_not_run_again() -> None:
    """A job that is complete cannot be given GPUs once more."""
    progress = AdaptiveProgress(_JOB, _SCENARIO)
    progress.run((1,), "", 0.0, 0.0, 1.0)
    progress.stop(20.0, 0.0)
    progress.run((1,), "", 30.0, 30.0, 1.0)
    assert (progress.broken, progress.completed_at) == ("it is complete at 9.0", None)


def _given(random: Random) -> Scenario:
    """Draw an adaptive job, whose measurements and agents differ."""
    few = APPLICATION.model_copy(update={"placements": APPLICATION.placements[:-3]})
    return Scenario.of(
        bundle([adaptive(Job(name="a", release_date=0, duration=12, gpus=1), random.randint(4, 16))]),
        Cluster.uniform(machines=4, gpus=3),
        applications={
            "cnn": random.choice([APPLICATION, few]).model_copy(update={"slowdown": random.choice([1.0, 1.3])})
        },
        agents=Agents(
            interval=random.choice([1, 3, 60]),
            whole_seconds=random.random() < 0.5,
            progress=random.choice(["statistical", "samples"]),
            memory=random.choice(["model", "placement"]),
        ),
    )


@pytest.mark.parametrize("seed", range(cases(100)))
def test_it_gets_as_far_as_a_trainee_does(seed: int) -> None:
    """Whatever happens to an adaptive job, the judge's account and the simulator's trainee say the same."""
    random = Random(seed)
    given = _given(random)
    (job,) = given.workload.jobs
    progress = AdaptiveProgress(job, given)
    trainee = Trainee(given.applications["cnn"], given.agents, job.batch_size, 0.0)
    now, runs, slowdown = 0.0, False, 1.0
    for _ in range(30):
        now += random.choice([0.0, 0.25, 0.5, 1.0, 1.7, 4.0])
        what = random.choice(["run", "run", "slow", "lose", "follow", "stop"])
        progress.follow(now)
        trainee.advance(now)
        if trainee.completed_at is not None:
            break
        if what == "run":
            shape = tuple(random.randint(1, 3) for _ in range(random.randint(1, 4)))
            mode, ready = random.choice(["", "adaptive", "large"]), now + random.choice([0, 0.4, 3])
            slowdown = random.choice([1.0, 2.0])
            progress.run(shape, mode, now, ready, slowdown)
            if progress.broken:
                with pytest.raises(InvalidInput, match="must be placements of cnn"):
                    trainee.place(shape, now, ready, slowdown, job.batch_in(mode))
                return
            trainee.place(shape, now, ready, slowdown, job.batch_in(mode))
            runs = True
        elif what == "slow" and runs:
            slowdown = 3.0 - slowdown  # as the trainee is told of changes only
            progress.slow(slowdown, now)
            progress.slow(slowdown, now)
            trainee.slow(slowdown, now)
        elif what == "lose":
            share = random.choice([0.1, 0.5, 1.0])
            progress.lose(share, now)
            trainee.lose(share, now)
        elif what == "stop":
            progress.stop(now, 0.0)
            trainee.place((), now, now)
        assert progress.broken == ""
        assert progress.share == pytest.approx(trainee.share, rel=SUM, abs=SUM)
    assert (progress.completed_at or 0.0) == pytest.approx(trainee.completed_at or 0.0, rel=SUM)
