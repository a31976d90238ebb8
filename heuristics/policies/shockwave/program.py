"""Program: the integer program of a window, which chooses each job's rounds and their order."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from gsopt.solvers.backends import Highs
from gsopt.solvers.standard_form import StandardForm
from heuristics.policies.shockwave.window import Counts, Plan, Window

#: Costs are scaled so that this is the largest one, because solvers' tolerances are absolute.
_LARGEST = 1000.0


@dataclass(frozen=True)
class Effort:
    """The limits of a solve: a relative gap, and a time limit in seconds (None for no limit)."""

    gap: float = 0.0
    limit: float | None = None


class RoundProgram:
    """The integer program that determines which job runs in which round of a window.

    It has two forms: one for the largest gain, which also determines each job's number of rounds, and one for
    the best order of the rounds, given these numbers.

    Sets: jobs j; rounds t = 0, ..., T - 1; ordinals i = 1, ..., T of a job's rounds.

    Parameters: g_j: GPUs of job j; M: number of GPUs; u_ji: gain of job j from its i-th round, not increasing
    in i; w_j: weight of job j; l_j: its smallest number of rounds; n_j: its chosen number of rounds.

    Variables: x_jt in {0, 1}: job j runs in round t; y_ji in {0, 1}: job j has an i-th round.

    Objective: maximize sum_ji u_ji y_ji for the largest gain; minimize sum_jt (w_j / n_j) t x_jt for the order,
    with 1 in place of n_j = 0.

    Constraints: sum_t x_jt = sum_i y_ji for each job; sum_j g_j x_jt <= M for each round; for the gain,
    y_ji = 1 for i <= l_j; for the order, y_ji = 1 exactly for i <= n_j.

    Size: 2 J T columns, J + T rows.

    Source: Shockwave (NSDI 2023), section 6.
    """

    def __init__(self, window: Window, effort: Effort) -> None:
        self._window, self._effort = window, effort

    def most(self, least: Counts, start: Plan | None = None) -> Plan | None:
        """Return the plan with the largest gain and at least `least` rounds per job, or None if none is found.

        The solve is limited by the `Effort`. It begins with the plan `start`, if given, which must have at
        least these rounds.
        """
        gains = self._window.gains
        cost = np.stack([np.zeros_like(gains), -gains])
        return self._solve(cost, self._numbers(least), np.ones_like(gains), start)

    def first(self, plan: Plan) -> Plan:
        """Return a plan in which jobs run as early as possible, above all those with much weight per round.

        Each job has as many rounds as in the given plan.
        """
        counts = plan.sum(axis=1)
        early: Plan = np.arange(self._window.rounds) < counts[:, None]
        if (self._window.load(early) <= self._window.gpus).all():
            return early  # and nobody could be earlier
        weights = np.array([claim.weight for claim in self._window.claims]) / np.maximum(counts, 1)
        start = plan[:, np.argsort(-(weights @ plan), kind="stable")]
        places = np.arange(self._window.rounds) * weights[:, None]
        cost = np.stack([places, np.zeros_like(places)])
        fixed = self._numbers(counts)
        found = self._solve(cost, fixed, fixed, start)
        return start if found is None else found

    def _numbers(self, counts: Counts) -> NDArray[np.float64]:
        return (np.arange(self._window.rounds) < counts[:, None]).astype(np.float64)

    @cached_property
    def _matrix(self) -> csr_array[Any, Any]:
        """The matrix of constraints: a row per job counts its rounds, and a row per round counts its GPUs."""
        jobs, rounds = self._window.gains.shape
        each = kron(eye_array(jobs), np.ones((1, rounds)))
        room = kron(self._window.sizes[None].astype(np.float64), eye_array(rounds))
        return csr_array(vstack([hstack([each, -each]), hstack([room, csr_array((rounds, jobs * rounds))])]))

    def _solve(
        self,
        cost: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        start: Plan | None,
    ) -> Plan | None:
        """Return the plan with the smallest cost, shape (2, jobs, rounds), within bounds on y, or None."""
        jobs, rounds = self._window.gains.shape
        largest = abs(cost).max(initial=0.0)
        form = StandardForm.build(
            cost=cost.ravel() * (_LARGEST / largest if largest else 1.0),
            matrix=self._matrix,
            row_lower=np.append(np.zeros(jobs), np.full(rounds, -np.inf)),
            row_upper=np.append(np.zeros(jobs), np.full(rounds, float(self._window.gpus))),
            column_lower=np.append(np.zeros(lower.size), lower.ravel()),
            column_upper=np.append(np.ones(upper.size), upper.ravel()),
        )
        known = None
        if start is not None:
            known = np.append(start.ravel(), self._numbers(start.sum(axis=1)).ravel()).astype(np.float64)
        found = Highs().solve(form, gap=self._effort.gap, time_limit=self._effort.limit, start=known).values
        return None if found is None else found[: lower.size].reshape(lower.shape) == 1
