"""LP: the reference models of shares, which are linear programs."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from formulations.shares.needs import level_alone, needs
from formulations.shares.prices import worths
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact, Number
from gsopt.problems.shares import Shares, TimeShares
from gsopt.solvers.formulation import Formulation

#: A job and a type on which it can run, by index.
Pair = tuple[int, int]

#: Maximum ratio of throughputs to needs, or of needs to throughputs; beyond it, solvers drop coefficients.
_SPREAD = 1e6


class Lp(Formulation[Shares, TimeShares]):
    r"""A linear program over the share of time for which each job runs on each GPU type.

    The criterion `finish_time` is not supported. The bound is that of the solver, weakened by its tolerance;
    `exact` proves its bound.

    Sets
    ----
    M: jobs. T_m: types on which job m can run. T: types on which some job can run.

    Parameters
    ----------
    a_mt: steps per second of job m on type t. z_m: GPUs of job m. M_t: GPUs of type t. L: value of the isolated
    shares. d_m: throughput with which job m reaches this value. y_m: value of one step per second of job m,
    which is 1 in `max_sum`.

    Variables
    ---------
    share_mt >= 0: fraction of time for which job m runs on type t, multiplied by `level` in `makespan`. level
    >= 0 (only in `max_min` and `makespan`): the objective divided by L.

    Objective
    ---------
    max_min: max L level. makespan: min L level. fifo, max_sum: max sum_{m, t} y_m a_mt share_mt.

    Constraints
    -----------
    need: sum_t a_mt / d_m share_mt >= level for every m in max_min, and >= 1 in makespan.

    time: sum_t share_mt <= 1 for every m, and <= level in makespan.

    fits: sum_m z_m share_mt <= M_t for every t, and <= M_t level in makespan.

    Size
    ----
    sum_m |T_m| + 1 columns, 2 |M| + |T| rows. In `fifo` and `max_sum`, one column (level) and |M| rows (need)
    fewer.

    Source
    ------
    Gavel, sections 4.1 and 4.2. The paper divides by the throughput in `makespan`, which is not linear; here,
    the variables of `makespan` are times on each type.

    Examples
    --------
    >>> from gsopt.problems.shares import TypedJob
    >>> jobs = [TypedJob(name=name, throughputs={"v100": 4.0, "k80": 1.0}, steps=400) for name in "ab"]
    >>> result = lp(Shares(gpus={"v100": 1, "k80": 1}, jobs=jobs, criterion="makespan"))
    >>> round(float(result.objective), 6), round(result.bound, 2)
    (160.0, 160.0)
    """

    name: ClassVar[str] = "lp"

    def build(self, problem: Shares) -> Any:
        """Build the Pyomo model.

        Raises `Unsupported` for `finish_time`, or if a throughput and a need differ by more than a factor of a
        million.
        """
        from pyomo.environ import (
            ConcreteModel,
            Constraint,
            NonNegativeReals,
            Objective,
            Set,
            Var,
            maximize,
            minimize,
        )

        if problem.criterion == "finish_time":
            raise Unsupported("lp: finish times need a linear program for each level")
        rates = _rates(problem)
        model = ConcreteModel(problem.name or "shares")
        model.MT = Set(dimen=2, initialize=list(rates))
        model.share = Var(model.MT, domain=NonNegativeReals)
        jobs, kinds = range(len(problem.jobs)), range(len(problem.gpus))
        counts, length = list(problem.gpus.values()), 1
        if problem.is_sum:
            worth = worths(problem)
            counted = sum(float(worth[m] * rate) * model.share[m, t] for (m, t), rate in rates.items())
            model.worth = Objective(expr=counted, sense=maximize)
        else:
            makespan = problem.criterion == "makespan"
            model.level = Var(domain=NonNegativeReals)
            scale = _scale(problem)
            model.value = Objective(expr=float(scale) * model.level, sense=minimize if makespan else maximize)
            parts = _parts(problem, rates, scale)
            met = {m: sum(parts[m, t] * model.share[m, t] for t in kinds if (m, t) in parts) for m in jobs}
            model.need = Constraint(jobs, rule=lambda model, m: met[m] >= (1 if makespan else model.level))
            length = model.level if makespan else 1
        time = {m: sum(model.share[m, t] for t in kinds if (m, t) in rates) for m in jobs}
        model.time = Constraint(jobs, rule=lambda _, m: time[m] <= length)
        used = {
            t: sum(problem.jobs[m].gpus * model.share[m, t] for m in jobs if (m, t) in rates) for t in kinds
        }
        wanted = sorted({t for _, t in rates})
        model.fits = Constraint(wanted, rule=lambda _, t: used[t] <= counts[t] * length)
        return model

    def at_once(self, problem: Shares) -> tuple[TimeShares, Number]:
        """Return the isolated shares, and a bound that ignores contention."""
        return problem.fitted(problem.isolated_shares), level_alone(problem)

    def extract(self, values: Mapping[str, float], problem: Shares) -> TimeShares:
        """Read the shares from the column values."""
        kinds, length = list(problem.gpus), values["level"] if problem.criterion == "makespan" else 1.0
        shares: dict[str, dict[str, float]] = {job.name: {} for job in problem.jobs}
        for m, t in _rates(problem):
            shares[problem.jobs[m].name][kinds[t]] = values[f"share[{m},{t}]"] / length
        return problem.fitted(shares)


def _rates(problem: Shares) -> dict[Pair, Exact]:
    """Return the steps per second of each job on each type on which it can run, keyed by their indices."""
    places = {kind: place for place, kind in enumerate(problem.gpus)}
    return {
        (m, places[kind]): rate
        for m, job in enumerate(problem.jobs)
        for kind, rate in problem.rates[job.name].items()
    }


def _scale(problem: Shares) -> Exact:
    return problem.objective(problem.fitted(problem.isolated_shares))


def _parts(problem: Shares, rates: Mapping[Pair, Exact], scale: Exact) -> dict[Pair, float]:
    """Return each job's throughput on each type, divided by its need, keyed by their indices."""
    each: Sequence[Exact] = needs(problem, scale)
    parts = {(m, t): float(Fraction(rate) / each[m]) for (m, t), rate in rates.items()}
    if max(parts.values()) > _SPREAD or min(parts.values()) < 1 / _SPREAD:
        raise Unsupported(f"lp: throughputs and needs differ by more than a factor of {_SPREAD:g}")
    return parts


lp = Lp()
