"""Presence: the GPUs available at each time, derived from the scenario and from the machines given up."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import isfinite
from typing import Any, NamedTuple

from gsopt.core.numbers.clock import Clock, clock_error
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.schedule import Vacated

#: Kinds of occurrences, in the order in which simultaneous ones are processed.
_CAPACITY, _EVENT, _VACATED, _DEADLINE = range(4)


@dataclass(frozen=True)
class PresenceStep:
    """The GPUs that are available from a certain time on, and the changes at that time."""

    time: Any  # seconds on the clock of the workload
    limit: int  # GPUs from this number on are not available
    gpus: int  # number of available GPUs
    fell: bool = False  # whether the limit of a plain cluster fell; no job holds particular GPUs there
    cut: range = range(
        0
    )  # GPUs of machines that became unavailable because the limit fell, perhaps only briefly
    # GPUs of the machines that have gone, even if they came back at once, and of those that have come back.
    gone: tuple[range, ...] = ()
    back: tuple[range, ...] = ()
    # GPUs of the machines that have gone without notice, with the seconds of work that their jobs lose.
    lost: tuple[tuple[range, Any], ...] = ()

    def takes(self, placement: Sequence[int]) -> bool:
        """Check whether a job on the given GPUs may have had to stop: a machine left, or the capacity fell."""
        return self.fell or any(gpu in gpus for gpus in (self.cut, *self.gone) for gpu in placement)


class _Happening(NamedTuple):
    """Something that happens at a certain time, and its rank among the occurrences at that time."""

    time: Any
    place: int
    does: Callable[..., None]
    given: tuple[Any, ...]


@dataclass
class _Request:
    """An open request, and the number of machines or GPUs that are still owed to it."""

    name: str
    deadline: Any
    request: Reclaim
    owed: int


class Presence:
    """The GPUs available over time, and the rules broken when machines are given up.

    All GPUs are available before the first of the `steps`. With floats, the times at which machines are given
    up may have rounding errors. `late` is the time that the clock on which they were rounded shows at time 0.
    `found` contains a sentence for each broken rule, with times on the clock of the schedule.
    """

    def __init__(
        self,
        scenario: Scenario,
        vacated: Sequence[Vacated],
        number: Callable[[Any], Any],
        *,
        clock: Clock = Clock(),  # noqa: B008 - frozen
        late: float = 0.0,
    ) -> None:
        self._scenario, self._cluster, self._number = scenario, scenario.cluster, number
        self._clock, self._late = clock, late
        self.found: list[str] = []
        self._there = self._limit = scenario.cluster.gpus
        self._given_up = 0  # GPUs of a plain cluster
        self._away: dict[str, None] = {}
        self._open: list[_Request] = []
        self._type_of = {machine.name: machine.gpu_type for machine in self._cluster.machines}
        self._gone: dict[str, None] = {}
        self._lost: list[tuple[range, Any]] = []
        self._lowest = self._limit
        happenings = sorted(self._happenings(vacated), key=lambda each: each[:2])
        self.steps = [self._step(time, each) for time, each in groupby(happenings, key=lambda each: each.time)]
        self._times = [step.time for step in self.steps]

    def around(self, time: Any, excuse: Any) -> Sequence[PresenceStep]:
        """Return the steps at most `excuse` seconds before or after a time."""
        begin, end = bisect_left(self._times, time - excuse), bisect_right(self._times, time + excuse)
        return self.steps[begin:end]

    def _happenings(self, vacated: Sequence[Vacated]) -> Iterator[_Happening]:
        """Yield everything that happens, in any order, and report vacated machines that are invalid."""
        number = self._number
        for change in self._scenario.capacity_changes:
            yield _Happening(number(change.time), _CAPACITY, self._set, (change.gpus,))
        requested: list[Any] = []
        due: list[Any] = []
        for index, event in enumerate(self._scenario.events):
            name, time = f"events[{index}]", number(event.time)
            yield _Happening(time, _EVENT, self._happen, (name, event))
            if isinstance(event, Reclaim):
                deadline = number(event.deadline)
                yield _Happening(deadline, _DEADLINE, self._close, (deadline, name))
                requested.append(time)
                due.append(deadline)
        due.sort()
        for index, (time, server) in enumerate(vacated):
            if not isfinite(time):
                self.found.append(f"vacated[{index}]: a machine must be given up at a finite time")
            elif server not in self._cluster.gpus_of:
                self.found.append(f"vacated[{index}]: {server!r} is not a machine of the cluster")
            else:
                date = self._meant(number(time), requested, due)
                yield _Happening(date, _VACATED, self._give_up, (date, server))

    def _meant(self, time: Any, requested: Sequence[Any], due: Sequence[Any]) -> Any:
        """Return the exact time that a rounded time stands for.

        This is a deadline just before the given time, or a request just after it, if floats cannot tell the
        two times apart. Otherwise it is the given time itself. A time just before a deadline stays unchanged,
        because it meets the deadline, and loans at the deadline come later.
        """
        excuse = 0 if self._number is Fraction else clock_error(self._late + time, 0)
        place = bisect_right(due, time)
        if place and time - due[place - 1] <= excuse:
            return due[place - 1]
        place = bisect_left(requested, time)
        if place < len(requested) and requested[place] - time <= excuse:
            return requested[place]
        return time

    def _step(self, time: Any, happenings: Iterable[_Happening]) -> PresenceStep:
        """Process everything that happens at one time, and return the resulting step."""
        self._lost, self._gone = [], {}
        before, limit = self._away.copy(), self._limit
        self._lowest = limit
        for each in happenings:
            each.does(*each.given)
        gpus_of = self._cluster.gpus_of
        away = sum(
            min(gpus_of[each].stop, self._limit) - min(gpus_of[each].start, self._limit) for each in self._away
        )
        return PresenceStep(
            time=time,
            limit=self._limit,
            gpus=self._limit - away,
            fell=self._lowest < limit and self._cluster.is_plain,
            cut=range(0) if self._cluster.is_plain else range(self._lowest, limit),
            gone=tuple(gpus_of[server] for server in self._gone if server not in before),
            back=tuple(gpus_of[each] for each in {**before, **self._gone} if each not in self._away),
            lost=tuple(self._lost),
        )

    # What happens

    def _set(self, there: int | None = None, given_up: int = 0) -> None:
        """Set the number of available GPUs, or change the number that a plain cluster has given up."""
        self._there = self._there if there is None else there
        self._given_up += given_up
        self._limit = max(self._there - self._given_up, 0)
        self._lowest = min(self._lowest, self._limit)

    def _happen(self, name: str, event: Event) -> None:
        if isinstance(event, Leave):
            for server in event.servers:
                if server not in self._away:
                    self._away[server] = self._gone[server] = None
                    self._lost.append((self._cluster.gpus_of[server], self._number(event.lost_work)))
        elif isinstance(event, Return):
            for server in event.servers:
                self._away.pop(server, None)
            self._set(given_up=-(event.gpus or 0))
        elif isinstance(event, Loan):
            self._lend(event)
        else:
            owed = event.gpus if event.servers is None else event.servers
            self._open.append(_Request(name, self._number(event.deadline), event, owed or 0))
            self._open.sort(key=lambda each: each.deadline)

    def _lend(self, loan: Loan) -> None:
        """Bring back the first absent machines, in cluster order, that match the loan."""
        left = loan.servers
        for machine in self._cluster.machines:
            if left and machine.name in self._away and loan.takes(machine.name, machine.gpu_type):
                del self._away[machine.name]
                left -= 1

    def _give_up(self, time: Any, server: str) -> None:
        if server in self._away:
            self.found.append(
                f"at {self._clock.nearest(time)}: machine {server!r} is given up but not available"
            )
            return
        self._away[server] = self._gone[server] = None
        for each in self._open:
            if each.owed and each.request.takes(server, self._type_of[server]):
                each.owed -= 1
                return
        when = self._clock.nearest(time)
        self.found.append(f"at {when}: machine {server!r} is given up, but no request takes it")

    def _close(self, time: Any, name: str) -> None:
        """Check, at a request's deadline, that it is met or that all machines that it may take are absent."""
        closing = next(each for each in self._open if each.name == name)
        self._open.remove(closing)
        if closing.request.gpus is not None:
            self._set(given_up=closing.request.gpus)
            return
        names = (machine.name for machine in self._cluster.machines)
        takes, type_of = closing.request.takes, self._type_of
        left = next((each for each in names if each not in self._away and takes(each, type_of[each])), None)
        if closing.owed and left is not None:
            when = self._clock.nearest(time)
            self.found.append(
                f"at {when}: {name} is owed {closing.owed} more machines, and {left!r} is available"
            )
