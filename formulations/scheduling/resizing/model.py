"""Launch model: the Pyomo model of `resizing`, of intervals that end with one completion each."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from formulations.scheduling.resizing.jobs import Resizable
from gsopt.tolerances import LINEAR_ROWS

#: Cost of a unit of time for the solver: large, so that the reduced costs that it takes for 0 are small.
COST = 1e3


def launch_model(jobs: Resizable, total: float) -> Any:
    """Give the Pyomo model for schedules whose completion times add up to at most a number of seconds."""
    import pyomo.environ as pyo

    model, numbers = pyo.ConcreteModel(), range(len(jobs))
    soonest = [time / jobs.unit for time in soonest_completions(jobs)]
    latest = _latest(soonest, total / jobs.unit)
    model.d = pyo.Var(numbers, domain=pyo.NonNegativeReals)
    model.s = pyo.Var(numbers, numbers, domain=pyo.Binary)
    model.c = pyo.Var(numbers, numbers, domain=pyo.Binary)
    model.y = pyo.Var(numbers, numbers, domain=pyo.NonNegativeReals)
    model.t = pyo.Expression(numbers, rule=lambda m, k: sum(m.d[i] for i in range(k + 1)))
    model.r = pyo.Expression(
        numbers,
        numbers,
        rule=lambda m, j, k: sum(m.s[j, i] for i in range(k + 1)) - sum(m.c[j, i] for i in range(k)),
    )
    model.value = pyo.Objective(expr=COST * sum(model.t[k] for k in numbers))
    model.soonest = pyo.Constraint(numbers, rule=lambda m, k: (soonest[k], m.t[k], latest[k]))
    _add_order(model, jobs)
    _add_work(model, jobs, [late - soon for late, soon in zip(latest, [0.0, *soonest], strict=False)])
    model.shared = pyo.ConstraintList()
    return model


def _add_order(model: Any, jobs: Resizable) -> None:
    """Let each job start and complete once, equal ones in their order."""
    import pyomo.environ as pyo

    numbers = range(len(jobs))
    model.starts = pyo.Constraint(numbers, rule=lambda m, j: sum(m.s[j, :]) == 1)
    model.ends = pyo.Constraint(numbers, rule=lambda m, j: sum(m.c[j, :]) == 1)
    model.turn = pyo.Constraint(numbers, rule=lambda m, k: sum(m.c[:, k]) == 1)
    model.runs = pyo.Constraint(numbers, numbers, rule=lambda m, j, k: m.r[j, k] >= m.c[j, k])
    model.alone = pyo.Constraint(
        numbers, rule=lambda m, k: m.t[k] >= sum(jobs.shortest(j) / jobs.unit * m.c[j, k] for j in numbers)
    )
    data = [(jobs.area[j], jobs.least[j], jobs.most[j], jobs.size[j]) for j in numbers]
    alike = [(i, j, k) for j in numbers for i in range(j) if data[i] == data[j] for k in numbers]
    model.alike = pyo.Constraint(
        alike,
        rule=lambda m, i, j, k: (
            sum(m.c[i, q] - m.c[j, q] for q in range(k + 1)) >= 0 if k < numbers[-1] else pyo.Constraint.Skip
        ),
    )


def _add_work(model: Any, jobs: Resizable, longest: Sequence[float]) -> None:
    """Let each job do its work while it runs, between its fewest and its most GPUs."""
    import pyomo.environ as pyo

    numbers, scale = range(len(jobs)), jobs.unit * jobs.gpus
    area = [each / scale for each in jobs.area]
    least, most = ([each / jobs.gpus for each in counts] for counts in (jobs.least, jobs.most))

    def at_least(m: Any, j: int, k: int) -> Any:
        return m.y[j, k] >= least[j] * (m.d[k] - longest[k] * (1 - m.r[j, k] + m.s[j, k]))

    model.work = pyo.Constraint(numbers, rule=lambda m, j: sum(m.y[j, :]) == area[j])
    model.there = pyo.Constraint(numbers, numbers, rule=lambda m, j, k: m.y[j, k] <= area[j] * m.r[j, k])
    model.until = pyo.Constraint(
        numbers,
        numbers[:-1],
        rule=lambda m, j, k: sum(m.y[j, i] - area[j] * m.c[j, i] for i in range(k + 1)) >= 0,
    )
    model.since = pyo.Constraint(
        numbers,
        numbers[:-1],
        rule=lambda m, j, k: sum(m.y[j, i] - area[j] * m.s[j, i] for i in range(k + 1)) <= 0,
    )
    model.most = pyo.Constraint(numbers, numbers, rule=lambda m, j, k: m.y[j, k] <= most[j] * m.d[k])
    model.least = pyo.Constraint(numbers, numbers, rule=at_least)
    model.area = pyo.Constraint(numbers, rule=lambda m, k: sum(m.y[:, k]) <= m.d[k])
    model.room = pyo.Constraint(numbers, rule=lambda m, k: sum(least[j] * m.r[j, k] for j in numbers) <= 1)


def soonest_completions(jobs: Resizable) -> list[float]:
    """Give the least seconds until each number of jobs is complete: by their area, and by the shortest jobs."""
    areas = accumulate(sorted(jobs.area))
    shortest = sorted(map(jobs.shortest, range(len(jobs))))
    return [max(area / jobs.gpus, time) for area, time in zip(areas, shortest, strict=True)]


def _latest(soonest: Sequence[float], total: float) -> list[float]:
    """Give the latest that each completion can be if all add up to a total, with room for rounding."""
    before = [0.0, *accumulate(soonest)]
    count = len(soonest)
    return [(total * (1 + LINEAR_ROWS) - before[k]) / (count - k) for k in range(count)]
