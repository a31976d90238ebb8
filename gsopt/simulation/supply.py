"""Supply: the GPUs that join and leave the cluster during a run.

At any one time, the capacity changes first, then events happen in the given order, and finally requests whose
deadline has come take the machines that are still owed to them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gsopt.scenario.events import Leave, Loan, Reclaim, Return
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation.ledger import Forbidden, Placements, PlainLedger
from gsopt.simulation.policy import Request

#: Kinds of dates, in the order in which they are processed at the same time.
_CHANGE, _EVENT, _DEADLINE = range(3)


@dataclass(eq=False)
class _Open:
    """An open request, with the number of machines (in a plain cluster, GPUs) that are still owed to it."""

    deadline: Any
    owed: int
    reclaim: Reclaim


class Supply:
    """The supply of GPUs in a run. It applies capacity changes and events, and tracks open requests."""

    def __init__(
        self,
        scenario: Scenario,
        ledger: PlainLedger | Placements,
        running: dict[int, int],
        evict: Callable[[int, float | None], None],
        number: Callable[[Any], Any],
    ) -> None:
        self._cluster, self._ledger, self._running, self._evict = scenario.cluster, ledger, running, evict
        self._machine = {machine.name: index for index, machine in enumerate(self._cluster.machines)}
        self._open: list[_Open] = []
        self.given_up: list[tuple[Any, str]] = []
        self.coming: Any = None
        dates: list[tuple[Any, int, int, CapacityChange | Leave | Return | Loan | _Open]] = []
        for index, change in enumerate(scenario.capacity_changes):
            dates.append((number(change.time), _CHANGE, index, change))
        for index, event in enumerate(scenario.events):
            if isinstance(event, Reclaim):
                request = _Open(number(event.deadline), event.servers or event.gpus or 0, event)
                dates.append((number(event.time), _EVENT, index, request))
                dates.append((request.deadline, _DEADLINE, index, request))
            else:
                dates.append((number(event.time), _EVENT, index, event))
        self._dates = sorted(dates, key=lambda date: date[:3])
        self._next = 0
        self._look_ahead()

    def advance(self, now: Any) -> None:
        """Apply all changes and events that are due by now."""
        while self.coming is not None and self.coming <= now:
            time, kind, _, what = self._dates[self._next]
            self._next += 1
            if isinstance(what, CapacityChange):
                self._change_capacity(what.gpus)
            elif isinstance(what, Leave):
                self._leave(what)
            elif isinstance(what, Return):
                self._return(what)
            elif isinstance(what, Loan):
                self._lend(what)
            elif kind == _EVENT:
                self._open = sorted([*self._open, what], key=lambda each: each.deadline)
            else:
                self._take_owed(what, time)
            self._look_ahead()

    def _look_ahead(self) -> None:
        """Find the next date, skipping the deadlines of requests that are already met."""
        dates = self._dates
        while self._next < len(dates) and dates[self._next][1] == _DEADLINE:
            if dates[self._next][3] in self._open:
                break
            self._next += 1
        self.coming = dates[self._next][0] if self._next < len(dates) else None

    def requests(self) -> tuple[Request, ...]:
        """Return the open requests in order of deadline."""
        plain = self._cluster.is_plain
        return tuple(
            Request(
                each.deadline,
                0 if plain else each.owed,
                each.owed if plain else 0,
                tuple(each.reclaim.among),
                each.reclaim.gpu_type,
            )
            for each in self._open
        )

    def servers(self) -> tuple[str, ...]:
        """Return the names of the machines that are present, even if a capacity limit excludes their GPUs."""
        return () if isinstance(self._ledger, PlainLedger) else self._ledger.servers()

    def vacate(self, servers: Sequence[str], now: Any) -> None:
        """Vacate the given machines for open requests."""
        if isinstance(self._ledger, PlainLedger):
            raise Forbidden("GPUs of a plain cluster are given up by leaving them free until the deadline")
        for name in servers:
            machine = self._machine.get(name)
            if machine is None or not self._ledger.is_there(machine):
                raise Forbidden(f"a machine must be available to be given up ({name!r} is not)")
            request = next((each for each in self._open if self._is_meant(machine, each.reclaim)), None)
            if request is None:
                raise Forbidden(f"a machine must be given up on request only (nobody asks for {name!r})")
            request.owed -= 1
            if not request.owed:
                self._open.remove(request)
            self._give_up(self._ledger, machine, now)
        self._look_ahead()

    def _change_capacity(self, gpus: int) -> None:
        for job in self._ledger.displaced(gpus, self._running):
            self._evict(job, None)
        self._ledger.set_limit(gpus)

    def _leave(self, event: Leave) -> None:
        if isinstance(self._ledger, Placements):
            for name in event.servers:
                self._empty(self._ledger, self._machine[name], event.lost_work)
                self._ledger.leave(self._machine[name])

    def _return(self, event: Return) -> None:
        if isinstance(self._ledger, PlainLedger):
            self._ledger.give_up(-(event.gpus or 0))
        else:
            for name in event.servers:
                self._ledger.bring_back(self._machine[name])

    def _lend(self, event: Loan) -> None:
        """Bring back the first absent machines that the loan may take.

        Plain clusters have no machines, so nothing happens there.
        """
        ledger = self._ledger
        if isinstance(ledger, Placements):
            away = (
                machine
                for machine in self._machine.values()
                if not ledger.is_there(machine) and self._is_meant(machine, event)
            )
            for machine in list(islice(away, event.servers)):
                ledger.bring_back(machine)

    def _is_meant(self, machine: int, event: Reclaim | Loan) -> bool:
        """Check whether a request or loan may take the machine."""
        item = self._cluster.machines[machine]
        return event.takes(item.name, item.gpu_type)

    def _take_owed(self, request: _Open, now: Any) -> None:
        """Take the machines, or GPUs of a plain cluster, that are still owed at a deadline.

        The machines whose jobs hold the fewest GPUs are taken first. Ties go to the first in the cluster.
        """
        self._open.remove(request)
        ledger = self._ledger
        if isinstance(ledger, PlainLedger):
            for job in ledger.displaced_by(request.owed, self._running):
                self._evict(job, None)
            ledger.give_up(request.owed)
            return
        held = {
            machine: self._held_by_users(ledger, machine)
            for machine in self._machine.values()
            if ledger.is_there(machine) and self._is_meant(machine, request.reclaim)
        }
        for _ in range(min(request.owed, len(held))):
            machine = min(held, key=held.__getitem__)
            del held[machine]
            users = ledger.users_of_machine(machine)
            others = {self._cluster.machine_of[gpu] for user in users for gpu in ledger.placement(user)}
            self._give_up(ledger, machine, now)
            for other in others & held.keys():
                held[other] = self._held_by_users(ledger, other)

    def _held_by_users(self, ledger: Placements, machine: int) -> int:
        """Count the GPUs that the jobs on a machine hold, including those on other machines."""
        return sum(map(self._running.__getitem__, ledger.users_of_machine(machine)))

    def _give_up(self, ledger: Placements, machine: int, now: Any) -> None:
        self._empty(ledger, machine, None)
        ledger.leave(machine)
        self.given_up.append((now, self._cluster.machines[machine].name))

    def _empty(self, ledger: Placements, machine: int, lost_work: float | None) -> None:
        for job in ledger.users_of_machine(machine):
            self._evict(job, lost_work)
