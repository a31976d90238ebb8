"""The public checks catch what they are for."""

from collections.abc import Iterator

import pytest

from gsopt import testing
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.solvers.backends import CpSat, Highs, Outcome, Scip
from gsopt.solvers.backends.base import Backend
from tests.gsopt.core.test_method import first_servers
from tests.gsopt.evaluation.test_compare import gives_up
from tests.gsopt.problems.test_reclaiming import figure_5, pick
from tests.gsopt.solvers.test_formulation import Model


class Blind(Reclaiming):
    """A reclaiming problem whose candidates are all infeasible."""

    def candidates(self) -> Iterator[ReclaimingSolution]:
        """Enumerate nothing."""
        return iter(())


def unproven(problem: Reclaiming) -> Result[ReclaimingSolution]:
    """Find the optimum without proving it."""
    return Result.judged(problem, method="unproven", solution=pick("s1", "s2"), runtime=0.0)


def wrong(problem: Reclaiming) -> Result[ReclaimingSolution]:
    """Prove a wrong optimum."""
    return Result.judged(problem, method="wrong", solution=pick("s3", "s4"), bound=2, runtime=0.0)


def rounded(problem: Reclaiming) -> Result[ReclaimingSolution]:
    """Find the optimum by a solver, without a proof."""
    return Result.judged(problem, method="rounded", solution=pick("s1", "s2"), solver="HiGHS", runtime=0.0)


class Yes:
    """A backend that calls everything infeasible."""

    name = "yes"

    def solve(self, *_: object, **__: object) -> Outcome:
        """Claim infeasibility."""
        return Outcome(Status.INFEASIBLE, None, None, None, StoppedBy.FINISHED, "yes")


@pytest.mark.parametrize("backend", [Highs(), CpSat(), Scip()], ids=lambda backend: backend.name)
def test_every_backend_passes(backend: Backend) -> None:
    """Each backend of gsopt passes the conformance checks."""
    assert testing.check_backend(backend) == 6


def test_wrong_backend_fails() -> None:
    """A backend that gives wrong statuses does not pass."""
    with pytest.raises(AssertionError, match="not optimal"):
        testing.check_backend(Yes())


def test_right_formulation_passes_on_every_backend() -> None:
    """Each instance is checked once per backend."""
    problems = [figure_5(demand) for demand in range(7)]
    assert testing.check_formulation(Model(), problems, backends=[Highs(), CpSat(), Scip()]) == 21


def test_rounded_costs_point_to_exact_costs() -> None:
    """A model that finds the optimum without a proof, as rounded costs may cause, learns how to state them."""
    with pytest.raises(AssertionError, match="feasible, not optimal; a formulation whose costs are rounded"):
        testing.check_formulation(rounded, [figure_5(2)])


def test_unproven_and_wrong_optima_fail() -> None:
    """A method that proves nothing, or something wrong, does not pass as exact."""
    with pytest.raises(AssertionError, match="feasible, not optimal"):
        testing.check_formulation(unproven, [figure_5(2)])
    with pytest.raises(AssertionError, match="2, brute force finds 1"):
        testing.check_formulation(wrong, [figure_5(2)])
    with pytest.raises(AssertionError, match="no instance was checked"):
        testing.check_formulation(gives_up, [figure_5(2)])


def test_heuristics_are_held_against_brute_force() -> None:
    """An honest heuristic passes; a solution of an instance without any is refused."""
    assert testing.check_heuristic(first_servers, [figure_5(2), figure_5(3)], skip=1) == 2
    blind = Blind(demand=2, servers=figure_5(2).servers, jobs=figure_5(2).jobs)
    with pytest.raises(AssertionError, match="a solution of an infeasible instance"):
        testing.check_heuristic(first_servers, [blind])


def test_judge_check_counts_the_caught() -> None:
    """The judge check counts mutants and refuses a starting point that is broken itself."""
    mutants = [pick("s1"), pick("s1", "s1"), pick("s3", "s4")]
    assert testing.check_judge(figure_5(2), pick("s1", "s2"), mutants) == (2, 3)
    with pytest.raises(AssertionError, match="must be feasible"):
        testing.check_judge(figure_5(2), pick("s1"), mutants)
