"""The course of jobs that share GPUs, by hand."""

from fractions import Fraction

from gsopt.schedule.course import Course


def twice(job: int, other: int) -> int:
    """Let any two jobs be twice as slow."""
    assert job != other
    return 2


def test_the_worst_partner_on_any_gpu_slows_the_whole_job() -> None:
    """Beside partners of 1.5 and 3 on single GPUs, a job is three times as slow, then 1.5 times."""
    slow = {(0, 1): Fraction(3, 2), (0, 2): Fraction(3)}
    course = Course([4, 9, 2], lambda job, other: slow.get((job, other), 1), [0, 0, 0])
    course.start(0, [0, 1, 2, 3])
    course.start(1, [0])
    course.start(2, [1])

    assert course.partners(0) == {1, 2}
    assert course.next_event == 2
    course.pass_until(2)
    assert (course.left[0], course.next_event) == (4 - Fraction(2, 3), 2 + Fraction(10, 3) * Fraction(3, 2))
    course.pass_until(20)
    assert course.ends == {2: 2, 0: 7, 1: 9}
    assert course.users == {}


def test_arrivals_are_events() -> None:
    """Time passes from arrival to end, and the last event is known."""
    course = Course([4, 1], twice, [0, 3])
    course.start(0, [0])
    course.pass_until(Fraction(7, 2))

    assert (course.last_event, course.next_event) == (3, 4)


def test_a_copy_goes_its_own_way() -> None:
    """What starts in a copy changes nothing in the course that was copied."""
    course = Course([4, 4], twice, [0, 0])
    course.start(0, [0])
    other = course.copy()
    other.start(1, [0])

    assert (course.next_event, other.next_event) == (4, 8)
    assert course.users == {0: [0]}
