"""The linear program of a level."""

from fractions import Fraction

import pytest

from formulations.shares.linear import MOST, Precise, earn, meet
from gsopt.core.budget import Budget
from gsopt.solvers.standard_form import StandardForm
from instances.shares import typed_jobs
from tests.strategies.shares import alike, small


def test_needs_are_met_as_often_as_can_be() -> None:
    """Shares of jobs whose needs are met half are half of what they would take."""
    answer = meet(alike({}, {}, gpus=1), [Fraction(1, 2), Fraction(3, 2)], Budget())
    assert answer is not None
    assert answer.factor == pytest.approx(0.5)
    assert answer.shares["b"]["v100"] == pytest.approx(0.75)


def test_needs_that_are_settled_are_met_once() -> None:
    """Whoever is settled has its need and no more, and the others what is left."""
    answer = meet(alike({}, {}, gpus=1), [Fraction(1, 5), Fraction(1, 5)], Budget(), settled=[0])
    assert answer is not None
    assert answer.factor == pytest.approx(4)
    assert [own["v100"] for own in answer.shares.values()] == pytest.approx([0.2, 0.8])


def test_needs_next_to_nothing_are_met_a_million_times() -> None:
    """A factor that no solver could tell from infinity ends at the largest."""
    answer = meet(small("one-job"), [Fraction(1, 10**15)], Budget())
    assert answer is not None
    assert answer.factor == pytest.approx(MOST)


def test_the_last_gpu_has_a_price() -> None:
    """The first of three jobs has the GPU, the second would pay 2 for it."""
    problem = alike({}, {}, {}, gpus=1, criterion="fifo")
    answer = earn(problem, [3, 2, 1], Budget())
    assert answer is not None
    assert answer.shares["a"]["v100"] == pytest.approx(1)
    assert 2 <= answer.gpus["v100"] <= 3


def test_out_of_time_there_is_no_answer() -> None:
    """Without any time neither program has an answer."""
    problem, budget = typed_jobs(jobs=30, seed=1), Budget(time_limit=0.0)
    assert meet(problem, [Fraction(1)] * 30, budget) is None
    assert earn(problem, [Fraction(1)] * 30, budget) is None


def test_the_solver_is_as_precise_as_it_can_be() -> None:
    """Both tolerances are at their least."""
    form = StandardForm.build(cost=[1], matrix=[[1]], row_lower=[0], row_upper=[1])
    options = Precise().request(form, time_limit=None, gap=0.0, start=None)[1].options
    assert options["primal_feasibility_tolerance"] == options["dual_feasibility_tolerance"] == 1e-10
