"""LP: the linear programs of shares, the models of record."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from formulations.shares.needs import level_alone, needs
from formulations.shares.prices import worths
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact, Number
from gsopt.problems.shares import Shares, TimeShares
from gsopt.solvers.formulation import Formulation

#: A job and a type on which it runs, by their places.
Pair = tuple[int, int]

#: By how much throughputs may be away from needs: beyond, solvers drop coefficients.
_SPREAD = 1e6


class Lp(Formulation[Shares, TimeShares]):
    r"""One continuous column for each type on which a job runs.

    Sets
    ----
    Jobs M; types T; T_m the types on which job m runs.

    Parameters
    ----------
    a_mt steps per second; z_m GPUs of a job; M_t GPUs of a type. L the level of the isolated shares, d_m the
    throughput that job m needs for it; y_m what a step per second counts in `fifo`.

    Variables
    ---------
    share_mt >= 0: the part of the time that job m runs on type t; in `makespan` times the length below.
    level >= 0: the level over L, in `makespan` the length over L.

    Objective
    ---------
    max_min: max L level. makespan: min L level. fifo: max sum_{m, t} y_m a_mt share_mt.

    Constraints
    -----------
    need: sum_t a_mt / d_m share_mt >= level for every m in max_min, >= 1 in makespan.

    time: sum_t share_mt <= 1 for every m; in makespan <= level.

    fits: sum_m z_m share_mt <= M_t for every t; in makespan <= M_t level.

    Size
    ----
    sum_m |T_m| + 1 columns, 2 |M| + |T| rows.

    Source
    ------
    Gavel, sections 4.1 and 4.2. `makespan` is printed with the steps over the length on the right, which is no
    linear program; with seconds on each type in place of shares it is one. `finish_time` is none: each level
    has a linear program of its own (`formulations.shares.climb`).

    The bound is that of the solver, weakened by what it may be wrong; `exact` proves one.

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
        """Build the Pyomo model."""
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
            raise Unsupported("lp: finish times have a linear program for each level only")
        rates = _rates(problem)
        model = ConcreteModel(problem.name or "shares")
        model.MT = Set(dimen=2, initialize=list(rates))
        model.share = Var(model.MT, domain=NonNegativeReals)
        jobs, kinds = range(len(problem.jobs)), range(len(problem.gpus))
        counts, length = list(problem.gpus.values()), 1
        if problem.criterion == "fifo":
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
        """Return the isolated shares, and the bound as if every job were alone."""
        return problem.fitted(problem.isolated_shares), level_alone(problem)

    def extract(self, values: Mapping[str, float], problem: Shares) -> TimeShares:
        """Read the shares."""
        kinds, length = list(problem.gpus), values["level"] if problem.criterion == "makespan" else 1.0
        shares: dict[str, dict[str, float]] = {job.name: {} for job in problem.jobs}
        for m, t in _rates(problem):
            shares[problem.jobs[m].name][kinds[t]] = values[f"share[{m},{t}]"] / length
        return problem.fitted(shares)


def _rates(problem: Shares) -> dict[Pair, Exact]:
    """Return the steps per second of each job on each type on which it runs, by places."""
    places = {kind: place for place, kind in enumerate(problem.gpus)}
    return {
        (m, places[kind]): rate
        for m, job in enumerate(problem.jobs)
        for kind, rate in problem.rates[job.name].items()
    }


def _scale(problem: Shares) -> Exact:
    return problem.objective(problem.fitted(problem.isolated_shares))


def _parts(problem: Shares, rates: Mapping[Pair, Exact], scale: Exact) -> dict[Pair, float]:
    """Return throughputs over needs."""
    each: Sequence[Exact] = needs(problem, scale)
    parts = {(m, t): float(Fraction(rate) / each[m]) for (m, t), rate in rates.items()}
    if max(parts.values()) > _SPREAD or min(parts.values()) < 1 / _SPREAD:
        raise Unsupported(f"lp: throughputs are more than {_SPREAD:g} times away from needs")
    return parts


lp = Lp()
