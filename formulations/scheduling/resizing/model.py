"""Model: the Pyomo model of `resizing`, whose intervals end with a completion or a release date."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from formulations.scheduling.resizing.jobs import Resizable
from gsopt.core.numbers.tolerances import LINEAR_ROWS
from gsopt.schedule.bounds.position import completions_by_position

#: Cost of a unit of time in the solver's objective. It is large, so that the solver's tolerance for reduced
#: costs is small in comparison.
COST = 1e3


def launch_model(jobs: Resizable, total: float) -> Any:
    """Return the Pyomo model of schedules whose completion times add up to at most `total` seconds."""
    import pyomo.environ as pyo

    model, numbers = pyo.ConcreteModel(), range(len(jobs))
    soonest = [time / jobs.unit for time in soonest_completions(jobs)]
    latest = _latest(soonest, total / jobs.unit)
    model.cells = pyo.Set(initialize=jobs.cells, dimen=2)
    model.places = pyo.Set(initialize=[(j, k, i) for k, i in jobs.cells for j in range(jobs.there[i])], dimen=3)
    model.d = pyo.Var(model.cells, domain=pyo.NonNegativeReals)
    model.x = pyo.Var([(k, i) for k, i in jobs.cells if k < jobs.there[i]], domain=pyo.Binary)
    model.s = pyo.Var(model.places, domain=pyo.Binary)
    model.c = pyo.Var(numbers, numbers, domain=pyo.Binary)
    model.y = pyo.Var(model.places, domain=pyo.NonNegativeReals)
    model.t = pyo.Expression(numbers, rule=lambda m, k: sum(m.d[q, i] for q, i in jobs.cells if q <= k))
    model.begun = pyo.Expression(
        model.places, rule=lambda m, j, k, i: sum(m.s[j, *cell] for cell in jobs.before(j, k, i))
    )
    model.done = pyo.Expression(numbers, numbers, rule=lambda m, j, k: sum(m.c[j, q] for q in range(k)))
    model.value = pyo.Objective(expr=COST * sum(model.t[k] for k in numbers))
    model.soonest = pyo.Constraint(numbers, rule=lambda m, k: (soonest[k], m.t[k], latest[k]))
    longest = {
        (k, i): min(latest[k] - (soonest[k - 1] if k else 0.0), jobs.length(i) / jobs.unit)
        for k, i in jobs.cells
    }
    _add_path(model, jobs, longest)
    _add_order(model, jobs)
    _add_work(model, jobs, longest)
    model.shared = pyo.ConstraintList()
    return model


def _add_path(model: Any, jobs: Resizable, longest: dict[tuple[int, int], float]) -> None:
    """Add rows that order completions and release dates, and give the intervals between them their lengths."""
    import pyomo.environ as pyo

    numbers, periods = range(len(jobs)), range(len(jobs.there))

    def by(m: Any, k: int, i: int) -> Any:
        """Return an expression that is 1 if completion k is no later than period i, and always 1 for k = -1."""
        return 1 if k < 0 else sum(m.x[k, q] for q in range(i + 1) if (k, q) in m.x)

    model.v = pyo.Expression(model.cells, rule=lambda m, k, i: by(m, k - 1, i) - by(m, k, i - 1))
    model.once = pyo.Constraint(numbers, rule=lambda m, k: by(m, k, periods[-1]) == 1)
    if len(periods) == 1:
        return
    model.passed = pyo.Constraint(model.cells, rule=lambda m, k, i: m.v[k, i] >= 0)
    model.length = pyo.Constraint(model.cells, rule=lambda m, k, i: m.d[k, i] <= longest[k, i] * m.v[k, i])
    model.period = pyo.Constraint(
        periods[:-1],
        rule=lambda m, i: sum(m.d[k, i] for k in numbers if (k, i) in m.cells) == jobs.length(i) / jobs.unit,
    )


def _add_order(model: Any, jobs: Resizable) -> None:
    """Add rows that make each job start and complete once, and identical jobs complete in their order."""
    import pyomo.environ as pyo

    numbers = range(len(jobs))
    model.starts = pyo.Constraint(
        numbers, rule=lambda m, j: sum(m.s[place] for place in m.places if place[0] == j) == 1
    )
    model.ends = pyo.Constraint(numbers, rule=lambda m, j: sum(m.c[j, :]) == 1)
    model.turn = pyo.Constraint(numbers, rule=lambda m, k: sum(m.c[:, k]) == 1)
    model.runs = pyo.Constraint(
        [(j, k, i) for k, i in model.x for j in numbers],
        rule=lambda m, j, k, i: (
            (m.begun[j, k, i] if (j, k, i) in m.places else 0) - m.done[j, k] >= m.c[j, k] + m.x[k, i] - 1
        ),
    )
    if len(jobs.there) > 1:
        model.visits = pyo.Constraint(model.places, rule=lambda m, j, k, i: m.s[j, k, i] <= m.v[k, i])
    alone = [(jobs.instance.release[j] + jobs.shortest(j)) / jobs.unit for j in numbers]
    model.alone = pyo.Constraint(
        numbers, rule=lambda m, k: m.t[k] >= sum(alone[j] * m.c[j, k] for j in numbers)
    )
    data = [
        (jobs.instance.release[j], jobs.area[j], jobs.least[j], jobs.most[j], jobs.size[j]) for j in numbers
    ]
    alike = [(i, j, k) for j in numbers for i in range(j) if data[i] == data[j] for k in numbers]
    model.alike = pyo.Constraint(
        alike,
        rule=lambda m, i, j, k: (
            sum(m.c[i, q] - m.c[j, q] for q in range(k + 1)) >= 0 if k < numbers[-1] else pyo.Constraint.Skip
        ),
    )


def _add_work(model: Any, jobs: Resizable, longest: dict[tuple[int, int], float]) -> None:
    """Add rows that make each job do its work while it runs, on an allowed number of GPUs."""
    import pyomo.environ as pyo

    numbers, scale = range(len(jobs)), jobs.unit * jobs.gpus
    area = [each / scale for each in jobs.area]
    least, most = ([each / jobs.gpus for each in counts] for counts in (jobs.least, jobs.most))

    def there(m: Any, j: int, k: int, i: int) -> Any:
        return m.y[j, k, i] <= area[j] * (m.begun[j, k, i] - m.done[j, k] + 1 - m.v[k, i])

    def until(m: Any, j: int, k: int) -> Any:
        return (
            sum(m.y[place] for place in m.places if place[0] == j and place[1] <= k)
            >= area[j] * m.done[j, k + 1]
        )

    def at_least(m: Any, j: int, k: int, i: int) -> Any:
        runs = m.begun[j, k, i] - m.done[j, k]
        return m.y[j, k, i] >= least[j] * (m.d[k, i] - longest[k, i] * (1 - runs + m.s[j, k, i]))

    def in_room(m: Any, k: int, i: int) -> Any:
        there = range(jobs.there[i])
        return sum(least[j] * (m.begun[j, k, i] - m.done[j, k]) for j in there) <= 1

    model.work = pyo.Constraint(
        numbers, rule=lambda m, j: sum(m.y[place] for place in m.places if place[0] == j) == area[j]
    )
    model.there = pyo.Constraint(model.places, rule=there)
    model.until = pyo.Constraint(numbers, numbers[:-1], rule=until)
    model.since = pyo.Constraint(
        model.places,
        rule=lambda m, j, k, i: (
            sum(m.y[j, *cell] for cell in jobs.before(j, k, i)) <= area[j] * m.begun[j, k, i]
        ),
    )
    model.most = pyo.Constraint(model.places, rule=lambda m, j, k, i: m.y[j, k, i] <= most[j] * m.d[k, i])
    model.least = pyo.Constraint(model.places, rule=at_least)
    model.area = pyo.Constraint(
        model.cells, rule=lambda m, k, i: sum(m.y[j, k, i] for j in range(jobs.there[i])) <= m.d[k, i]
    )
    model.room = pyo.Constraint(model.cells, rule=in_room)


def soonest_completions(jobs: Resizable) -> list[float]:
    """Return lower bounds on the first, second, ... completion time, in seconds after the first release.

    The k-th one is the larger of two times: the k-th completion under shortest remaining time first on a single
    machine as fast as all GPUs, and the k-th smallest of the times at which the jobs could complete if each ran
    alone.
    """
    return completions_by_position(jobs.instance.problem.own_clock.workload, jobs.gpus)


def _latest(soonest: Sequence[float], total: float) -> list[float]:
    """Return the latest time of each completion if all add up to at most `total`, with a small margin."""
    before = [0.0, *accumulate(soonest)]
    count = len(soonest)
    return [(total * (1 + LINEAR_ROWS) - before[k]) / (count - k) for k in range(count)]
