"""Orders: a linear program for each order of starts and ends, in continuous time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, product
from typing import Any

from formulations.sharing.best import BestSharing, IndependentPart, Parts
from formulations.sharing.events import search_events
from formulations.sharing.listing import take_lists
from formulations.sharing.program import least
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.grid import Exact
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.sharing import Sharing, SharingSolution, run_at

#: Maximum number of jobs for which the orders are searched. Five jobs have about 100,000 orders, each with many
#: choices of GPUs.
MOST_JOBS = 4

#: The users of each GPU, in GPU order.
Users = tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Prefix:
    """The first starts and ends of an order; their times are variables."""

    users: Users  # the jobs that hold each GPU after these events
    # started, ended: event at which each job starts and ends, by job
    started: dict[int, int]
    ended: dict[int, int]
    gpus: dict[int, tuple[int, ...]]  # GPUs of each job
    # speed of each job between each event and the one before it; 0 if it does not run
    speeds: dict[int, tuple[Exact, ...]]

    @property
    def events(self) -> int:
        """The number of events."""
        return len(self.started) + len(self.ended)

    @property
    def running(self) -> set[int]:
        """The jobs that have started and have not ended."""
        return self.started.keys() - self.ended.keys()


@exact_method(unused=["backend", "log"])
def orders(problem: Sharing, budget: Budget) -> Result[SharingSolution]:
    """Find a provably best schedule with starts at any time, for groups of at most four jobs.

    The jobs are split into groups that do not overlap in any schedule at least as good as the best known one.
    Each group is solved separately. The search extends orders of starts and ends event by event. Linear
    programs in exact numbers bound all orders that begin with the same events.

    Sets: the n jobs j of a group; events e = 1 .. 2 n, each the start of a job on given GPUs or the end of a
    job. Parameters: p_j, r_j: seconds and release date of a job; xi_je: its slowdown after event e. Variables:
    t_e: time of each event. Objective: the sum of the t_e of ends. Constraints: t_e <= t_(e+1); r_j <= t_e for
    the start of j; the (t_(e+1) - t_e) / xi_je between the start and the end of j add up to p_j. Size: 2 n
    variables for each order and choice of GPUs; there are (2 n)! / 2^n orders.

    Source: for a fixed order, the model of Castor, Eq. 6-13, without slots is linear. The search is gsopt's
    own.

    Parameters
    ----------
    problem
        The problem, with starts at ``"any"`` time.
    budget
        Time limit, gap, start and callback.

    Raises
    ------
    Unsupported
        Jobs may start at events only, or a group has more than four jobs.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 4), ("b", 1)]]
    >>> result = orders(Sharing(gpus=1, jobs=jobs, default_interference=2.0, starts="any"))
    >>> result.status, result.objective
    (<Status.OPTIMAL: 'optimal'>, 3)
    """
    if problem.starts != "any":
        raise Unsupported("orders: jobs start at events only; use exact")
    best = BestSharing(problem, budget, "orders")
    programs = 0
    try:
        take_lists(best)
        most = max(len(part.problem.jobs) for part in Parts(best).every)
        if most > MOST_JOBS:
            raise Unsupported(f"orders: {most} jobs may overlap, but at most {MOST_JOBS} are allowed")
        search_events(best)
        for part in Parts(best).every:
            programs += search_orders(part)
        stopped_by = best.finished or StoppedBy.FINISHED
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return best.result(stopped_by, message=f"Model C: starts at any time; {programs:,} linear programs")


def search_orders(part: IndependentPart) -> int:
    """Find a part's best schedule with starts at any time, and prove it optimal if the search is completed.

    Returns the number of linear programs that were solved.
    """
    search = Orders(part)
    if search.run():
        part.raise_bound(part.value)
    return search.programs


class Orders:
    """The search over all orders of starts and ends."""

    def __init__(self, part: IndependentPart) -> None:
        self.part, self.problem = part, part.problem
        self.count = len(part.problem.jobs)
        self.releases = [release - part.problem.origin for release in part.problem.releases]
        self.programs = 0

    def run(self) -> bool:
        """Search all orders unless there is a reason to stop, and return whether the search is complete."""
        free: Users = (frozenset(),) * self.problem.gpus
        return self._extend(Prefix(free, {}, {}, {}, {}))

    def _extend(self, prefix: Prefix) -> bool:
        """Search the orders that begin with a prefix, and return whether the search was completed."""
        for longer in self.longer(prefix):
            if self.part.finished is not None:
                return False
            self.programs += 1
            found = self.least(longer)
            if found is None or found[0] >= self.part.value * self.count:
                continue
            if len(longer.ended) == self.count:
                self.part.take(self._schedule(longer, found[1]))
            elif not self._extend(longer):
                return False
        return True

    def longer(self, prefix: Prefix) -> Iterator[Prefix]:
        """Yield every prefix with one more event: the end of a running job, or the start of a pending one.

        Of several sets of GPUs with the same users, only one is tried for a start.
        """
        for job in sorted(prefix.running):
            users = tuple(own - {job} for own in prefix.users)
            yield self._with(prefix, users, ended={**prefix.ended, job: prefix.events})
        for job in range(self.count):
            if job not in prefix.started:
                for gpus in self._choices(prefix.users, job):
                    users = tuple(own | {job} if gpu in gpus else own for gpu, own in enumerate(prefix.users))
                    started = {**prefix.started, job: prefix.events}
                    yield self._with(prefix, users, started=started, gpus={**prefix.gpus, job: gpus})

    def _with(self, prefix: Prefix, users: Users, **changes: Any) -> Prefix:
        """Return a prefix with one more event, and the speeds of the jobs before this event."""
        speeds = {}
        for job in range(self.count):
            speed: Exact = 0
            if job in prefix.running:
                partners = {user for gpu in prefix.gpus[job] for user in prefix.users[gpu]} - {job}
                slow = max([1, *(self.problem.slowdown(job, other) for other in partners)])
                speed = 1 / Fraction(slow)
            speeds[job] = (*prefix.speeds.get(job, ()), speed)
        fields = {"started": prefix.started, "ended": prefix.ended, "gpus": prefix.gpus, **changes}
        return Prefix(users=users, speeds=speeds, **fields)

    def _choices(self, users: Users, job: int) -> Iterator[tuple[int, ...]]:
        """Yield the sets of GPUs on which a job may start, but only one of those with the same users."""
        alike: dict[frozenset[int], list[int]] = {}
        for gpu, own in enumerate(users):
            if len(own) < self.problem.share_limit and all(self.problem.may_share(job, other) for other in own):
                alike.setdefault(own, []).append(gpu)
        for counts in product(*(range(len(group) + 1) for group in alike.values())):
            if sum(counts) == self.problem.jobs[job].gpus:
                groups = zip(alike.values(), counts, strict=True)
                yield tuple(sorted(gpu for group, count in groups for gpu in group[:count]))

    def least(self, prefix: Prefix) -> tuple[Exact, list[Fraction]] | None:
        """Return the minimum sum of job completion times that a prefix allows, and its event times, or None.

        The result is None if the prefix is infeasible. All jobs are assumed to run at full speed after the last
        event, so the sum is a lower bound unless the order is complete. The variables of the program are the
        times between consecutive events, and the times from the last event to the earliest starts of the
        pending jobs.
        """
        events, pending = prefix.events, [job for job in range(self.count) if job not in prefix.started]
        size = events + len(pending)
        cost: list[Exact] = [0] * size
        rows: list[tuple[Sequence[Exact], Exact]] = []
        for place, job in enumerate(pending, events):
            wait = [1] * events + [int(other == place) for other in range(events, size)]
            cost = [before + own for before, own in zip(cost, wait, strict=True)]
            rows.append((wait, self.releases[job]))
        for job, start in prefix.started.items():
            rows.append(([int(event <= start) for event in range(size)], self.releases[job]))
            work, seconds = [*prefix.speeds[job], *[0] * len(pending)], self.problem.durations[job]
            rows.append(([-each for each in work], -seconds))
            if job in prefix.ended:
                rows.append((work, seconds))
                own: Sequence[Exact] = [int(event <= prefix.ended[job]) for event in range(size)]
            else:
                own = [(event < events) - each for event, each in enumerate(work)]
            cost = [before + each for before, each in zip(cost, own, strict=True)]
        found = least(cost, rows)
        if found is None:
            return None
        alone = sum(seconds for job, seconds in enumerate(self.problem.durations) if job not in prefix.ended)
        return found[0] + alone - sum(self.releases), list(accumulate(found[1][:events]))

    def _schedule(self, order: Prefix, times: Sequence[Fraction]) -> SharingSolution:
        names, origin = [job.name for job in self.problem.jobs], self.problem.origin
        return SharingSolution(
            runs=[
                run_at(names[job], origin + times[event], order.gpus[job])
                for job, event in order.started.items()
            ]
        )
