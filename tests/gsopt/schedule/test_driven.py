"""An adaptive job on trial."""

from gsopt.cluster import Cluster
from gsopt.job import Job
from gsopt.scenario import Scenario
from gsopt.schedule.driven import Driven
from tests.gsopt.simulation.adaptive import APPLICATION, adaptive
from tests.gsopt.simulation.scenarios import bundle

_JOB = adaptive(Job(name="a", release_date=0, duration=12, gpus=1), 4)
_SCENARIO = Scenario.of(bundle([_JOB]), Cluster.uniform(machines=2, gpus=1), applications={"cnn": APPLICATION})


def test_it_completes_as_its_trainee_does() -> None:
    """Three epochs of 2.64 s take 3 s each, and what rounding cuts short is excused at the stop."""
    driven = Driven(_JOB, _SCENARIO)
    driven.run((1,), "", 0.0, 1.0, 1.0)
    driven.follow(4.0)
    assert (round(driven.share, 9), driven.completed_at) == (round(1 / 3, 9), None)
    driven.stop(10 - 1e-9, 1e-6)
    assert driven.completed_at == 10


def test_it_stops_for_good_where_it_cannot_run() -> None:
    """What a model was not measured on breaks a schedule once, and nothing else is asked then."""
    driven = Driven(_JOB, _SCENARIO)
    driven.run((9,), "", 0.0, 0.0, 1.0)
    assert "must be placements of cnn" in driven.broken
    driven.slow(2.0, 1.0)
    driven.lose(1.0, 2.0)
    driven.stop(3.0, 0.0)
    assert (driven.share, driven.completed_at) == (0.0, None)


def test_it_does_not_run_again() -> None:
    """A job that is complete cannot be given GPUs once more."""
    driven = Driven(_JOB, _SCENARIO)
    driven.run((1,), "", 0.0, 0.0, 1.0)
    driven.stop(20.0, 0.0)
    driven.run((1,), "", 30.0, 30.0, 1.0)
    assert (driven.broken, driven.completed_at) == ("it is complete at 9.0", None)
