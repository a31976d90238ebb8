"""Pairs: a bound from the pairs of servers that share jobs, for servers with random sets of jobs."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from formulations.reclaiming.reduction import Reduction
from gsopt.core.budget import Budget

#: Maximum number of servers. The time grows with its third power, and is a few seconds at this number.
MOST_SERVERS = 400

#: Factors of a job's expected number of returned servers around which its preemption is counted.
_SPREADS = (1.1, 1.3, 1.5)

#: Number of times that the weights of the servers are adjusted, and steps of the descent for each of them.
_ROUNDS, _STEPS = 8, 200

#: Binary digits of the rounded costs and of the rounded point.
_DIGITS, _POINT_DIGITS = 20, 8

#: How much larger than computed the weights of the servers become, so that rounding does no harm.
_SPARE = 1.001

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def pairs_bound(reduction: Reduction, budget: Budget) -> int:
    r"""Return a lower bound on the value of every choice.

    If h returned servers host a job, the job counts as preempted a h - b h (h - 1) / 2 times, for
    a = 2 / (k + 1), b = 2 / (k (k + 1)), and any integer k > 0. This is 0 if h is 0, and never more than 1, so
    the sum over the jobs is a lower bound. It is a quadratic function of the choice, which counts each returned
    server and each pair of returned servers that share jobs. Its quadratic part is made convex: y_s^2 = y_s for
    each server s, and (sum of y)^2 = demand^2, so multiples of these squares may be added and subtracted. A
    convex function is at least its tangent, whose minimum is a constant plus the `demand` smallest
    coefficients.

    In relaxations with linear rows, a job on many partly returned servers may cost no more than a job on only
    one of them. If servers share few jobs, pairs say much more. Multiples and tangent are found in floating
    point, and the bound is then computed from them in exact integer arithmetic. That the function is convex is
    shown by a factorization, whose error is added to the multiples.

    Returns 0 if there are more than 400 servers, if the demand is 0 or all servers, if there are no merged
    jobs, or if no time is left.

    Notes
    -----
    Source: Dawson and Sankoff, An inequality for probabilities (Proceedings of the American Mathematical
    Society 18, 1967), for the union, and Hammer and Rubin, Some remarks on quadratic programming with 0-1
    variables (RAIRO 4, 1970), for the convex function. The combination is gsopt's own.
    """
    servers = reduction.servers
    if not reduction.weights or not 0 < reduction.demand < servers <= MOST_SERVERS:
        return 0
    best: tuple[float, Quadratic, Floats, Floats] | None = None
    for spread in _SPREADS:
        quadratic = Quadratic.of(reduction, spread)
        share = np.ones(servers)
        for _ in range(_ROUNDS):
            if budget.passed:
                break
            weights = quadratic.least_weights(share)
            value, point = quadratic.minimum(weights)
            if best is None or value > best[0]:
                best = value, quadratic, weights, point
            wanted = 1 / np.sqrt(np.maximum(point - point**2, 1 / 50))
            share = (share / share.mean() + wanted / wanted.mean()) / 2
    if best is None:
        return 0
    _, quadratic, weights, point = best
    return reduction.paid + max(ceil(quadratic.certified(weights, point) * max(reduction.weights)), 0)


def _hosts(reduction: Reduction) -> Integers:
    """Return a matrix that is 1 where a server hosts a merged job, shape (jobs, servers)."""
    rows = [group.jobs for group in reduction.groups for _ in group.servers]
    hosts = np.zeros((len(reduction.weights), len(rows)), dtype=np.int64)
    for server, jobs in enumerate(rows):
        hosts[list(jobs), server] = 1
    return hosts


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The function ``linear y - y^T pairs y``, a lower bound on the value of a choice y of `demand` servers.

    Its unit is the largest weight of a job, divided by 2 to the power of `_DIGITS` + 1.
    """

    demand: int
    linear: Integers  # Python integers, shape (servers,)
    pairs: Integers  # shape (servers, servers)

    @classmethod
    def of(cls, reduction: Reduction, spread: float) -> "Quadratic":
        """Build the function, with a k (see `pairs_bound`) for each job.

        A job's k is 1 plus `spread` times its expected number of returned servers. It is rounded, and less than
        the job's number of servers if that is possible.
        """
        hosts, unit = _hosts(reduction), Fraction(2**_DIGITS, max(reduction.weights))
        most = hosts.sum(axis=1)
        wanted = 1 + spread * most * (reduction.demand / hosts.shape[1])
        counts = np.rint(np.clip(wanted, 1, np.maximum(most - 1, 1))).astype(np.int64).tolist()
        each = [int(unit * weight * 2 / (k + 1)) for weight, k in zip(reduction.weights, counts, strict=True)]
        pair = [
            ceil(unit * weight * 2 / (k * (k + 1))) for weight, k in zip(reduction.weights, counts, strict=True)
        ]
        own = [int(unit * group.cost) for group in reduction.groups for _ in group.servers]
        taken = (2 * np.array(each) + np.array(pair)) @ hosts
        return cls(
            demand=reduction.demand,
            linear=2 * np.array(own, dtype=object) + taken,
            pairs=hosts.T @ (np.array(pair, dtype=np.int64)[:, None] * hosts),
        )

    def least_weights(self, share: Floats) -> Floats:
        """Return the smallest multiple w of `share` that makes the function convex.

        The sum of w_s (y_s^2 - y_s), which is 0 for every choice, is added to the function. Convexity is
        required only among points with the same sum. The factor is at least 1.
        """
        scale = 1 / np.sqrt(share)
        matrix = scale[:, None] * self.pairs * scale
        fixed = scale / np.linalg.norm(scale)  # the direction in which the number of servers changes
        matrix -= np.outer(fixed, fixed @ matrix)
        matrix -= np.outer(matrix @ fixed, fixed)
        weights: Floats = max(float(np.linalg.eigvalsh(matrix)[-1]), 1.0) * share
        return weights

    def minimum(self, weights: Floats) -> tuple[float, Floats]:
        """Return a lower bound on the convex function, and a point near its minimum (Frank and Wolfe, 1956)."""
        linear, demand = self.linear.astype(np.float64) - weights, self.demand
        convex = np.diag(weights) - self.pairs
        point = np.full(weights.size, demand / weights.size)
        bound = -np.inf
        for _ in range(_STEPS):
            bent = convex @ point
            slope = linear + 2 * bent
            corner = np.zeros_like(point)
            corner[np.argpartition(slope, demand)[:demand]] = 1
            move = corner - point
            gain = float(slope @ move)
            bound = max(bound, float(point @ bent + linear @ point) + gain)
            curve = float(move @ convex @ move)
            point = point + (min(1.0, -gain / (2 * curve)) if curve > 0 else 1.0) * move
        return bound, point

    def certified(self, weights: Floats, point: Floats) -> Fraction:
        """Return a lower bound, computed in exact integer arithmetic, as a multiple of the largest weight.

        The bound is 0 if no convex function is found.
        """
        found = self.convex(weights)
        if found is None:
            return Fraction(0)
        convex, added, squared = found
        exact = _rounded(point, self.demand)
        bent = convex.astype(object) @ exact
        slope = ((self.linear - added) << (2 * _POINT_DIGITS)) + (bent << (_POINT_DIGITS + 1))
        least = sum(sorted(slope.tolist())[: self.demand])
        value = least - exact @ bent - (squared * self.demand**2 << (2 * _POINT_DIGITS))
        return Fraction(int(value), 2 ** (2 * _POINT_DIGITS + _DIGITS + 1))

    def convex(self, weights: Floats) -> tuple[Integers, Integers, int] | None:
        """Make `-pairs` positive semidefinite by adding a diagonal and a multiple of the matrix of ones.

        Returns the sum, the diagonal and the multiple, or None if no such sum is found. To allow for rounding,
        the entries of the diagonal are slightly larger than the weights.
        """
        added = np.ceil(weights * _SPARE).astype(np.int64)
        squared = 1
        while squared < 2**40:
            convex = np.diag(added) + squared - self.pairs
            try:
                factor = np.linalg.cholesky(convex.astype(np.float64))
            except np.linalg.LinAlgError:
                squared *= 4
                continue
            digits = (60 - int(convex.diagonal().max()).bit_length()) // 2
            if digits < 0:
                break
            root = np.rint(factor * 2.0**digits).astype(np.int64)
            error = (convex << (2 * digits)) - root @ root.T
            more = -(-np.abs(error).sum(axis=1) >> (2 * digits))
            return convex + np.diag(more), added + more, squared
        return None


def _rounded(point: Floats, demand: int) -> Integers:
    """Return a point in multiples of 2 to the power of minus `_POINT_DIGITS`, with the demand as its sum."""
    scaled = np.clip(point, 0, 1) * 2**_POINT_DIGITS
    exact = np.floor(scaled).astype(np.int64)
    more = demand * 2**_POINT_DIGITS - int(exact.sum())
    exact[np.argsort(exact - scaled)[: max(more, 0)]] += 1
    numbers: Integers = exact.astype(object)
    return numbers
