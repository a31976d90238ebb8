"""Orders: a linear program for each order of starts and ends, for starts at any time."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from formulations.sharing.best import Best
from formulations.sharing.events import search_events
from formulations.sharing.jobs import Jobs, Units, arrays_of
from gsopt.budget import Budget
from gsopt.errors import GsoptError, Unsupported
from gsopt.method import exact_method
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.problems.waiting import Run
from gsopt.result import Result, StoppedBy
from gsopt.tolerances import LEAST_TOLERANCE

#: Jobs up to which the orders are searched: with five there are some 100,000, on many GPUs each.
MOST_JOBS = 4

#: SciPy's number for an infeasible program.
_INFEASIBLE = 2

#: Users of each GPU, by its number.
Users = tuple[frozenset[int], ...]


@dataclass(frozen=True)
class _Prefix:
    """The first starts and ends of an order, the time of each being a variable.

    Attributes
    ----------
    users
        Who holds each GPU after them.
    started, ended
        Event at which each job starts and ends, by job.
    gpus
        GPUs of each job.
    done
        Work that each job has done until the last event: a coefficient for the time of each event.
    """

    users: Users
    started: dict[int, int]
    ended: dict[int, int]
    gpus: dict[int, tuple[int, ...]]
    done: dict[int, tuple[float, ...]]

    @property
    def events(self) -> int:
        """Number of events."""
        return len(self.started) + len(self.ended)

    @property
    def running(self) -> set[int]:
        """The jobs that have started and have not ended."""
        return self.started.keys() - self.ended.keys()


@exact_method(unused=["gap", "backend", "log"])
def orders(problem: Sharing, budget: Budget) -> Result[SharingSolution]:
    """Prove the best schedule of up to four jobs that start at any time, order by order of starts and ends.

    Sets: jobs j; events e = 1 .. 2 n, each the start of a job on certain GPUs or the end of one.
    Parameters: p_j seconds of a job, r_j its release; xi_je its slowdown between events e and e + 1, given the
    GPUs of all.
    Variables: t_e the time of each event.
    Objective: the sum of the t_e of ends.
    Constraints: t_e <= t_(e+1); r_j <= t_e for the start of j; the t_(e+1) - t_e over xi_je between start and
    end of j add up to p_j.
    Size: 2 n variables for each of (2 n)! / 2^n orders, on GPUs that differ by who holds them.

    Orders are built event by event. The program of the first events, in which whatever is left runs at full
    speed at once, bounds all orders that begin with them. It begins with the best schedule of starts at events,
    which is almost always optimal.

    Source: for a fixed order the model of Castor, Eq. 6-13, without slots is linear; the search is our own.

    Parameters
    ----------
    problem
        The problem, with starts at ``"any"`` time.
    budget
        When to stop.

    Raises
    ------
    Unsupported
        Jobs start at events only, or there are more than four.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 4), ("b", 1)]]
    >>> result = orders(Sharing(gpus=1, jobs=jobs, default_interference=2.0, starts="any"))
    >>> result.status, result.objective
    (<Status.OPTIMAL: 'optimal'>, 3)
    """
    if problem.starts != "any":
        raise Unsupported("orders: starts at events only: exact proves these")
    if len(problem.jobs) > MOST_JOBS:
        raise Unsupported(f"orders: {len(problem.jobs)} jobs: at most {MOST_JOBS}")
    best = Best(problem, budget, "orders")
    programs = 0
    try:
        search_events(best)
        programs = search_orders(best)
        stopped_by = best.finished or StoppedBy.FINISHED
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return best.result(stopped_by, message=f"Model C: starts at any time; {programs:,} linear programs")


def search_orders(best: Best) -> int:
    """Find the best schedule of starts at any time, and raise the bound when all orders are searched.

    Returns
    -------
    int
        Number of linear programs solved.
    """
    search = _Orders(best)
    search.run()
    return search.programs


class _Orders:
    """The search over orders."""

    def __init__(self, best: Best) -> None:
        self.best = best
        self.jobs: Jobs
        self.units: Units
        self.jobs, self.units = arrays_of(best.problem)
        self.count = len(best.problem.jobs)
        self.programs = 0
        self.least = np.inf

    def run(self) -> None:
        """Search all orders, or until there is a reason to stop."""
        free: Users = (frozenset(),) * self.best.problem.gpus
        if self._extend(_Prefix(free, {}, {}, {}, {})):
            self.least = min(self.least, self.units.total(self.best.problem, self.best.known_value))
            self.best.raise_bound(self.units.mean(self.best.problem, self.least - self._slack))

    @property
    def _slack(self) -> float:
        """What the rounding of a program's rows may come to, in the arrays' units."""
        return LEAST_TOLERANCE * 2 * self.count

    def _extend(self, prefix: _Prefix) -> bool:
        """Search the orders that begin with a prefix; tell whether that went to the end."""
        if self.best.finished:
            return False
        for longer in self._longer(prefix):
            found = self._program(longer)
            if found is None:
                continue
            bound, times = found
            if bound >= self.units.total(self.best.problem, self.best.known_value) - self._slack:
                self.least = min(self.least, bound)
            elif len(longer.ended) == self.count:
                self.least = min(self.least, bound)
                self.best.take(self._schedule(longer, times))
            elif not self._extend(longer):
                return False
        return True

    def _longer(self, prefix: _Prefix) -> Iterator[_Prefix]:
        """Give every prefix of one event more: the end of a job that runs, or the start of another."""
        for job in sorted(prefix.running):
            users = tuple(own - {job} for own in prefix.users)
            yield self._with(prefix, users, ended={**prefix.ended, job: prefix.events})
        for job in range(self.count):
            if job not in prefix.started:
                for gpus in self._choices(prefix.users, job):
                    users = tuple(own | {job} if gpu in gpus else own for gpu, own in enumerate(prefix.users))
                    started = {**prefix.started, job: prefix.events}
                    yield self._with(prefix, users, started=started, gpus={**prefix.gpus, job: gpus})

    def _with(self, prefix: _Prefix, users: Users, **changes: Any) -> _Prefix:
        """Add an event to a prefix: between it and the one before, who ran did its work."""
        done = {}
        for job in prefix.started:
            before = prefix.done.get(job, (0.0,) * prefix.events)
            if job in prefix.running and prefix.events:
                partners = {user for gpu in prefix.gpus[job] for user in prefix.users[gpu]} - {job}
                speed = 1 / max([1.0, *(float(self.jobs.slowdown[job, other]) for other in partners)])
                done[job] = (*before[:-1], before[-1] - speed, speed)
            else:
                done[job] = (*before, 0.0)
        fields = {"started": prefix.started, "ended": prefix.ended, "gpus": prefix.gpus, **changes}
        for job in fields["started"].keys() - done.keys():
            done[job] = (0.0,) * (prefix.events + 1)
        return _Prefix(users=users, done=done, **fields)

    def _choices(self, users: Users, job: int) -> Iterator[tuple[int, ...]]:
        """Give the GPUs on which a job may start, one choice of those with the same users."""
        alike: dict[frozenset[int], list[int]] = {}
        for gpu, own in enumerate(users):
            if len(own) < self.best.problem.share_limit and all(self.jobs.pairs[job, other] for other in own):
                alike.setdefault(own, []).append(gpu)
        for counts in product(*(range(len(group) + 1) for group in alike.values())):
            if sum(counts) == self.jobs.demand[job]:
                groups = zip(alike.values(), counts, strict=True)
                yield tuple(sorted(gpu for group, count in groups for gpu in group[:count]))

    def _program(self, prefix: _Prefix) -> tuple[float, list[float]] | None:
        """Solve the program of a prefix: the least sum of ends and the times of the events; None if infeasible.

        Behind the times stand the earliest starts of the jobs that are pending.
        """
        from scipy.optimize import linprog

        self.programs += 1
        jobs, events = self.jobs, prefix.events
        pending = [job for job in range(self.count) if job not in prefix.started]
        size = events + len(pending)
        cost, constant = np.zeros(size), 0.0
        most: list[Any] = []
        limits: list[float] = []
        equal: list[Any] = []
        wanted: list[float] = []
        for event in range(1, events):
            most.append(_row(size, {event - 1: 1.0, event: -1.0}))
            limits.append(0.0)
        for place in range(events, size):
            most.append(_row(size, {events - 1: 1.0, place: -1.0}))
            limits.append(0.0)
            cost[place] += 1
        lowest = [0.0] * events + [float(jobs.release[job]) for job in pending]
        for job, start in prefix.started.items():
            lowest[start] = float(jobs.release[job])
            work = np.zeros(size)
            work[:events] = prefix.done[job]
            if job in prefix.ended:
                equal.append(work)
                wanted.append(float(jobs.duration[job]))
                cost[prefix.ended[job]] += 1
            else:
                most.append(work)
                limits.append(float(jobs.duration[job]))
                cost[events - 1] += 1
                cost -= work
                constant += float(jobs.duration[job])
        constant += sum(float(jobs.duration[job]) for job in pending)
        found = linprog(
            cost,
            A_ub=np.array(most) if most else None,
            b_ub=limits or None,
            A_eq=np.array(equal) if equal else None,
            b_eq=wanted or None,
            bounds=[(low, None) for low in lowest],
            method="highs",
            options={
                "primal_feasibility_tolerance": LEAST_TOLERANCE,
                "dual_feasibility_tolerance": LEAST_TOLERANCE,
            },
        )
        if found.status == _INFEASIBLE:
            return None
        if found.x is None or found.fun is None:
            raise GsoptError(f"orders: a linear program failed: {found.message}")
        return float(found.fun) + constant, [float(time) for time in found.x[:events]]

    def _schedule(self, order: _Prefix, times: list[float]) -> SharingSolution:
        names = [self.best.problem.jobs[number].name for number in self.units.order]
        return SharingSolution(
            runs=[
                Run(job=names[job], start=self.units.seconds(times[event]), gpus=order.gpus[job])
                for job, event in order.started.items()
            ]
        )


def _row(size: int, entries: dict[int, float]) -> Any:
    row = np.zeros(size)
    for place, value in entries.items():
        row[place] = value
    return row
