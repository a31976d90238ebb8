"""Rounding: bounds of models whose costs are roundings of fractions."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

import gsopt
from formulations.allocation.milp import Milp
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import decimal
from gsopt.core.problem import Sense
from gsopt.core.result import Status
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from gsopt.solvers.rounding import valid_costs, valid_offset
from gsopt.solvers.scaling import optimize
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import brute_force
from tests.effort import cases
from tests.gsopt.solvers.forms import standard_form
from tests.unwrap import unwrap


class Steps(gsopt.Formulation[Allocation, AllocationSolution]):
    """One binary variable for each further worker, with a float difference of two values as its cost."""

    name = "steps"

    def build(self, problem: Allocation) -> Any:
        """Order the workers of a job, and limit their GPUs."""
        jobs = problem.jobs
        columns = (name[5:-1].split(",") for name in Milp().standard_form(problem).columns)
        keys = [(int(job), int(workers)) for job, workers in columns]
        gains = {(j, w): float(jobs[j].value(w)) - float(jobs[j].value(w - 1)) for j, w in keys}
        model = pyo.ConcreteModel()
        model.x = pyo.Var(keys, domain=pyo.Binary)
        model.saved = pyo.Objective(
            expr=pyo.quicksum(gains[key] * model.x[key] for key in keys), sense=pyo.maximize
        )
        model.order = pyo.ConstraintList()
        for j, w in keys:
            if (j, w - 1) in gains:
                model.order.add(model.x[j, w] <= model.x[j, w - 1])
        used = pyo.quicksum(jobs[j].gpus_per_worker * model.x[j, w] for j, w in keys)
        model.fits = pyo.Constraint(expr=used <= problem.remaining)
        return model

    def extract(self, values: Mapping[str, float], problem: Allocation) -> AllocationSolution:
        """Count the workers of each job."""
        extra = {
            job.name: round(sum(value for name, value in values.items() if name.startswith(f"x[{j},")))
            for j, job in enumerate(problem.jobs)
        }
        return AllocationSolution(extra={name: count for name, count in extra.items() if count})


def fraction(random: Random) -> Fraction:
    """Draw a fraction whose float is usually rounded, of any magnitude."""
    size = Fraction(random.randint(1, 1000), random.choice([3, 7, 9, 11, 21, 1000]))
    return random.choice([1, -1]) * size * Fraction(10) ** random.randint(-9, 9)


@pytest.mark.parametrize("seed", range(cases(400)))
def test_bounds_hold_for_the_fractions_behind_costs(seed: int) -> None:
    """A bound computed from rounded costs is no better than the optimum of the fractions, and close to it."""
    random = Random(seed)
    columns, sense = random.randint(1, 5), random.choice(list(Sense))
    exact, constant = [fraction(random) for _ in range(columns)], random.choice([Fraction(0), fraction(random)])
    rows = [[random.randint(0, 3) for _ in range(columns)] for _ in range(2)]
    needed = [random.randint(0, 4) for _ in range(2)]
    limits = (needed, np.inf) if sense is Sense.MINIMIZE else (-np.inf, needed)
    least = random.choice([0, -2])
    costs = [float(cost) for cost in exact]
    form = standard_form(costs, rows, limits, (least, least + 2), sense=sense, offset=float(constant))
    points = [point for point in product(range(least, least + 3), repeat=columns) if form.is_feasible(point)]
    values = [constant + sum(cost * x for cost, x in zip(exact, point, strict=True)) for point in points]

    proof = optimize(form, Budget(), costs=valid_costs(form), offset=valid_offset(form))

    if not values:
        assert proof.status is Status.INFEASIBLE
        return
    assert proof.bound is not None
    best = min(values) if sense is Sense.MINIMIZE else max(values)
    assert not sense.better(best, proof.bound)
    size = abs(constant) + sum(2 * abs(cost) for cost in exact)
    assert abs(best - Fraction(proof.bound)) <= size / 10**11


@pytest.mark.parametrize("seed", range(cases(100)))
def test_rounded_models_reach_exact_optima(seed: int) -> None:
    """A model with rounded costs proves the exact optimum of a problem whose values are far enough apart."""
    random = Random(seed)
    jobs = [
        ElasticJob(
            name=str(j),
            min_workers=(least := random.randint(1, 5)),
            max_workers=least + random.randint(1, 4),
            gpus_per_worker=random.randint(1, 2),
            time_at_min=random.randint(1, 500),
        )
        for j in range(random.randint(1, 4))
    ]
    needed = sum(job.min_workers * job.gpus_per_worker for job in jobs)
    problem = Allocation(capacity=needed + random.randint(2, 9), jobs=jobs)
    best, _ = unwrap(brute_force(problem))
    result = gsopt.solve(problem, Steps())
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, best, best)


def test_rounded_models_of_thirds_and_sevenths() -> None:
    """Costs of thirds and sevenths do not push a bound below the next multiple of the step."""
    result = gsopt.solve(gsopt.load("allocation/small/remaining-work"), Steps())
    assert (result.status, result.bound) == (Status.OPTIMAL, Fraction(310, 3))


def test_decimals_stay_as_they_are() -> None:
    """Costs are read as written if they have up to fifteen digits, or if a continuous column has a cost."""
    costs = [0.1, 123456789.012345, -1e-9, 5.0]
    form = standard_form(costs, [[1, 1, 1, 1]], ([1], [1]), (0, 1), offset=0.3)
    assert valid_costs(form) == costs
    assert decimal(valid_offset(form)) == Fraction(3, 10)
    mixed = StandardForm.build(
        cost=[1 / 3, 1.0], matrix=[[1, 1]], row_lower=[1], row_upper=[1], integer=[True, False]
    )
    assert valid_costs(mixed) == [1 / 3, 1.0]


def test_columns_of_both_signs_need_exact_costs() -> None:
    """A rounded cost of a column that may have either sign is refused, since neither neighbor is valid."""
    form = standard_form([1 / 3], [[1]], ([-1], [1]), (-1, 1))
    with pytest.raises(Unsupported, match=r"x0.*exact_costs"):
        valid_costs(form)
