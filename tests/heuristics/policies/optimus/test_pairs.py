"""Pairs: the shorter and the longer of two jobs are compared as the paper has it."""

from random import Random

from gsopt.scenario.job import Job
from heuristics.policies.optimus.candidates import Candidate
from heuristics.policies.optimus.rules import wins
from tests.effort import cases

ITEM = Job(name="a", release_date=0, duration=1, gpus=1)


def test_by_the_paper() -> None:
    """The winner of two jobs on any GPUs is the one whose choice gives the two of them less time in sum.

    The comparison is derived from what follows when the next GPU goes to the shorter job, which gives it up
    when it is complete, or to the longer one.
    """
    random = Random(3)
    for _ in range(cases(400)):
        small, large = sorted(random.uniform(10, 500) for _ in range(2))
        have, more = (1.0, random.uniform(1.05, 2.0)), (1.0, random.uniform(1.05, 2.0))
        one = Candidate(0, ITEM, (1, 2), (small / have[0], small / have[1]))
        other = Candidate(1, ITEM, (1, 2), (large / more[0], large / more[1]))
        if one.left[0] >= other.left[1]:
            continue  # the longer job would be through first with one GPU more
        to_short = 2 * one.left[1] + (large - one.left[1] * more[0]) / more[1]
        to_long = 2 * one.left[0] + (large - one.left[0] * more[1]) / more[1]
        assert wins(one, 0, other, 0) == (to_short < to_long) == (not wins(other, 0, one, 0))
