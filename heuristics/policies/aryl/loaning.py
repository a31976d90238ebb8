"""Loaning: schedules base and flexible workers on machines of which some are on loan."""

from collections.abc import Iterable, Iterator, Mapping

from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.policy import Action, Request, State, Vacate, Wake
from heuristics.policies.aryl.books import Books
from heuristics.policies.aryl.crew import Crew
from heuristics.policies.aryl.epoch import Elastic, Epoch, Scheduler
from heuristics.policies.aryl.flexing import flex
from heuristics.policies.aryl.machines import Counts, Machines
from heuristics.policies.aryl.orchestrator import Orchestrator
from heuristics.policies.aryl.queue import Queue
from heuristics.policies.aryl.reach import reach
from heuristics.policies.aryl.settling import Place, settle
from heuristics.policies.aryl.starting import start


class Loaning:
    """Let an orchestrator answer requests, and a scheduler start jobs and share what is left, at intervals.

    Jobs are never stopped but by giving up machines. Whatever the scheduler says is done as far as workers can
    be placed.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    scheduler
        Says who starts, and who gets flexible workers; one with a true attribute ``own_servers_only`` gives
        them only on machines where the job has workers.
    orchestrator
        Says which machines are given up.
    interval, orchestrator_interval
        Seconds from one decision of each to the next. Where nothing has happened nothing is decided; a request
        whose deadline is no later than the next decision of the orchestrator is answered at once.
    inference
        The type of GPU of the machines that are on loan at times.
    grouping
        Whether elastic jobs prefer these, with base and flexible workers apart; else all prefer the others.
    placement
        Places what has changed at a decision again; None where best fit is enough.

    Raises
    ------
    InvalidInput
        An interval is no finite number of seconds, or too short; or the cluster is plain.
    """

    preemptive = False

    def __init__(
        self,
        state: State,
        scheduler: Scheduler,
        orchestrator: Orchestrator,
        *,
        interval: float = 60,
        orchestrator_interval: float = 300,
        inference: str = "T4",
        grouping: bool = True,
        placement: Place | None = None,
    ) -> None:
        self._placement = placement
        self._scheduler, self._orchestrator, self._grouping = scheduler, orchestrator, grouping
        self._schedules = Instants(interval)
        self._answers = Instants(orchestrator_interval, "orchestrator_interval")
        self._machines = Machines(state.cluster, inference)
        self._books = Books(self._machines)
        self._queue = Queue(self._machines, training_first=not grouping)
        self._own_only = bool(getattr(scheduler, "own_servers_only", False))
        self._is_news = False

    def decide(self, state: State) -> Iterable[Action]:
        """Vacate machines that are asked for, and schedule, if it is time."""
        now = state.now
        schedules, answers = self._schedules.reached(now), self._answers.reached(now)
        self._look(state)
        for request in state.requests:
            if answers or request.deadline <= self._answers.after(now):
                yield from self._answer(state, request)
        if schedules:
            yield from self._schedule(state)
        if self._is_news and (len(self._queue) or self._books.elastic):
            yield Wake(self._schedules.ask(now))
        if state.requests:
            yield Wake(self._answers.ask(now))

    def _look(self, state: State) -> None:
        """Take in what has happened."""
        books, queue = self._books, self._queue
        queue.wake(state)
        for job in (*state.completed, *state.evicted):
            books.end(job)
        queue.complete(state.completed)
        queue.rest(state.evicted)
        queue.arrive(state, state.arrived)
        self._is_news = True

    def _answer(self, state: State, request: Request) -> Iterator[Action]:
        """Vacate machines."""
        books = self._books
        books.look(state)
        given = self._orchestrator.answer(books, request)
        lost = books.on(given)
        yield from books.commit(but=lost)
        for job in lost:
            books.end(job)
        self._queue.rest(lost)
        if given:
            yield Vacate([self._machines.names[machine] for machine in given])

    def _schedule(self, state: State) -> Iterator[Action]:
        """Start jobs, and give elastic ones their flexible workers; jobs that rest are news for next time."""
        books, queue = self._books, self._queue
        books.look(state)
        elastic = {job: _elastic(state, crew) for job, crew in books.elastic.items()}
        order = self._scheduler.order(self._epoch(state, elastic))
        forms, blocks = queue.forms, self._scheduler.blocks
        started = start(books, order, forms, blocks=blocks, grouping=self._grouping)
        queue.start(crew.job for crew in started)
        for crew in started:
            crew.pool, crew.speeds = reach(state, crew, self._machines)
        for crew in books.unbooked:
            if crew.form.is_elastic:
                elastic[crew.job] = _elastic(state, crew)
        if elastic:
            extras = self._scheduler.extras(self._epoch(state, elastic))
            flex(books, extras, grouping=self._grouping, own_only=self._own_only)
        if self._placement is not None:
            settle(books, self._placement, grouping=self._grouping)
        yield from books.commit()
        self._is_news = queue.rests

    def _epoch(self, state: State, elastic: Mapping[int, Elastic]) -> Epoch:
        """Return what the scheduler sees."""
        books, inference = self._books, self._machines.inference
        idle, room = books.idle, books.room
        waiting = self._queue.waiting
        return Epoch(
            now=state.now,
            waiting=waiting,
            elastic=tuple(elastic.values()),
            idle={"training": int(idle[~inference].sum()), "inference": int(idle[inference].sum())},
            pending=bool(waiting),
            room={"training": _some(room[~inference]), "inference": _some(room[inference])},
        )


def _elastic(state: State, crew: Crew) -> Elastic:
    form, speeds, left = crew.form, crew.speeds, state.remaining(crew.job)
    time = left if speeds[0] == 1 else left / type(left)(speeds[0])
    most = form.base + len(speeds) - 1
    return Elastic(crew.job, time, form.worker_gpus, form.base, most, crew.extra, crew.pool, speeds)


def _some(room: Counts) -> tuple[int, ...]:
    return tuple(room[room > 0].tolist())
