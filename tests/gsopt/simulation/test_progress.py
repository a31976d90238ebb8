"""Progress: phases are crossed exactly, in whatever pieces time passes."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from gsopt.scenario.job import Job, Phase
from gsopt.simulation import simulate
from gsopt.simulation.progress import Stretch, left_after, seconds_for, slowdown_at, stretches
from heuristics.policies import fifo
from tests.gsopt.simulation.scenarios import bundle

_NUMBERS = st.fractions(Fraction(1, 8), 10, max_denominator=8)
_COURSES = st.lists(st.tuples(_NUMBERS, st.fractions(1, 4, max_denominator=4)), max_size=3).map(
    lambda pairs: [Stretch(*pair) for pair in sorted(dict(pairs).items(), reverse=True)] + [Stretch(0, 1)]
)


@given(left=_NUMBERS, rate=_NUMBERS, course=_COURSES | st.just([]))
def test_all_is_done_when_it_is_said_to_be(left: Fraction, rate: Fraction, course: list[Stretch]) -> None:
    """After the seconds that are needed nothing is left, and before them something is."""
    seconds = seconds_for(left, rate, course)
    assert left_after(seconds, left, rate, course) == 0
    assert left_after(seconds * Fraction(99, 100), left, rate, course) > 0


@given(left=_NUMBERS, rate=_NUMBERS, course=_COURSES, first=_NUMBERS, then=_NUMBERS)
def test_time_may_pass_in_pieces(
    left: Fraction, rate: Fraction, course: list[Stretch], first: Fraction, then: Fraction
) -> None:
    """Two pieces of time do as much as both together."""
    halfway = left_after(first, left, rate, course)
    assert left_after(then, halfway, rate, course) == left_after(first + then, left, rate, course)


@given(left=_NUMBERS, rate=_NUMBERS, course=_COURSES)
def test_the_speed_is_that_of_the_phase(left: Fraction, rate: Fraction, course: list[Stretch]) -> None:
    """For a moment, work goes down at the rate over the slowdown of the phase."""
    moment = Fraction(1, 10**6)
    done = left - left_after(moment, left, rate, course)
    assert done == moment * rate / slowdown_at(left, course)


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
