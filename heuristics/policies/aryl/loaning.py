"""Loaning: Aryl's decider for base and flexible workers and for machines on loan."""

from collections.abc import Iterable, Iterator, Mapping

from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.policy import Action, Request, State, Vacate, Wake
from heuristics.policies.aryl.flexing import flex
from heuristics.policies.aryl.growth import growth
from heuristics.policies.aryl.machines import Counts, Machines
from heuristics.policies.aryl.occupancy import Occupancy, RunningJob
from heuristics.policies.aryl.queue import Queue
from heuristics.policies.aryl.repacking import repack
from heuristics.policies.aryl.scheduler import FlexibleJob, SchedulerView
from heuristics.policies.aryl.settings import ArylSettings
from heuristics.policies.aryl.starting import start


class Loaning:
    """A decider with an orchestrator, which answers requests, and a scheduler, which starts and resizes jobs.

    Jobs are stopped only when machines are returned. Workers that the scheduler grants but that cannot be
    placed are dropped. If nothing has happened since the last interval, nothing is decided. A request whose
    deadline is no later than the orchestrator's next decision is answered immediately.
    """

    preemptive = False

    def __init__(self, state: State, settings: ArylSettings) -> None:
        self._grouping = settings.grouping
        self._scheduler = settings.make_scheduler()
        self._orchestrator = settings.make_orchestrator()
        self._placement = settings.find_placement()
        self._schedules = Instants(settings.interval)
        self._answers = Instants(settings.orchestrator_interval, "orchestrator_interval")
        self._machines = Machines(state.cluster, settings.inference)
        self._occupancy = Occupancy(self._machines)
        self._queue = Queue(self._machines, training_first=not settings.grouping)
        self._own_only = bool(getattr(self._scheduler, "own_servers_only", False))
        self._is_news = False

    def decide(self, state: State) -> Iterable[Action]:
        """Answer requests for machines if an answer is due, and schedule jobs if that is due."""
        now = state.now
        schedules, answers = self._schedules.reached(now), self._answers.reached(now)
        self._update(state)
        for request in state.requests:
            if answers or request.deadline <= self._answers.after(now):
                yield from self._answer(state, request)
        if schedules:
            yield from self._schedule(state)
        if self._is_news and (len(self._queue) or self._occupancy.elastic):
            yield Wake(self._schedules.ask(now))
        if state.requests:
            yield Wake(self._answers.ask(now))

    def _update(self, state: State) -> None:
        occupancy, queue = self._occupancy, self._queue
        queue.wake(state)
        for job in (*state.completed, *state.evicted):
            occupancy.end(job)
        queue.complete(state.completed)
        queue.rest(state.evicted)
        queue.arrive(state, state.arrived)
        self._is_news = True

    def _answer(self, state: State, request: Request) -> Iterator[Action]:
        occupancy = self._occupancy
        occupancy.update(state)
        given = self._orchestrator.answer(occupancy, request)
        lost = occupancy.base_on(given)
        yield from occupancy.commit(but=lost)
        for job in lost:
            occupancy.end(job)
        self._queue.rest(lost)
        if given:
            yield Vacate([self._machines.names[machine] for machine in given])

    def _schedule(self, state: State) -> Iterator[Action]:
        """Start jobs, and grant elastic jobs flexible workers. Jobs that rest wait for a later interval."""
        occupancy, queue = self._occupancy, self._queue
        occupancy.update(state)
        elastic = {job: _elastic(state, running) for job, running in occupancy.elastic.items()}
        order = self._scheduler.order(self._snapshot(state, elastic))
        started = start(occupancy, order, queue.forms, blocks=self._scheduler.blocks, grouping=self._grouping)
        queue.start(running.job for running in started)
        for running in started:
            running.pool, running.speeds = growth(state, running, self._machines)
        for running in occupancy.changed:
            if running.form.is_elastic:
                elastic[running.job] = _elastic(state, running)
        if elastic:
            extras = self._scheduler.extras(self._snapshot(state, elastic))
            flex(occupancy, extras, grouping=self._grouping, own_only=self._own_only)
        if self._placement is not None:
            repack(occupancy, self._placement, grouping=self._grouping)
        yield from occupancy.commit()
        self._is_news = queue.rests

    def _snapshot(self, state: State, elastic: Mapping[int, FlexibleJob]) -> SchedulerView:
        inference, waiting = self._machines.inference, self._queue.waiting
        idle, room = self._occupancy.idle, self._occupancy.room
        return SchedulerView(
            now=state.now,
            waiting=waiting,
            elastic=tuple(elastic.values()),
            idle={"training": int(idle[~inference].sum()), "inference": int(idle[inference].sum())},
            pending=bool(waiting),
            room={"training": _positive(room[~inference]), "inference": _positive(room[inference])},
        )


def _elastic(state: State, running: RunningJob) -> FlexibleJob:
    form, speeds, left = running.form, running.speeds, state.remaining(running.job)
    time = left if speeds[0] == 1 else left / type(left)(speeds[0])
    most = form.base + len(speeds) - 1
    return FlexibleJob(
        running.job, time, form.worker_gpus, form.base, most, running.extra, running.pool, speeds
    )


def _positive(room: Counts) -> tuple[int, ...]:
    return tuple(room[room > 0].tolist())
