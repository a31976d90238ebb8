"""Progress: phases are crossed exactly, in whatever pieces time passes."""

from fractions import Fraction

from gsopt.scenario.job import Job, Phase
from gsopt.simulation import simulate
from gsopt.simulation.progress import Stretch, stretches
from heuristics.policies import fifo
from tests.gsopt.simulation.scenarios import bundle


def test_phases_without_slowdown_change_nothing() -> None:
    """A job whose phases are all at full speed completes like one without phases."""
    phases = [Phase(until=0.3), Phase(until=1)]
    jobs = bundle(
        Job(name=str(i), release_date=0, duration=7, gpus=1, phases=p) for i, p in enumerate([(), phases])
    )
    first, second = simulate(jobs, fifo, cluster=2, exact=True).completion_times
    assert first == second == 7


def test_modes_have_their_own_slowdowns() -> None:
    """The slowdown of a phase in a mode counts instead of that of the phase."""
    phase = Phase(until=1, slowdown=2, modes={"": 3.0})
    job = Job(name="a", release_date=0, duration=6, gpus=1, phases=[phase])
    assert stretches(job, "", Fraction) == (Stretch(0, 3),)
    assert simulate(bundle([job]), fifo, cluster=1).completion_times == (18,)
