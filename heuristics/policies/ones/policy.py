"""ONES: a policy for elastic batch sizes, whose evolutionary search keeps its candidates between updates."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gsopt.simulation import Action, Decider, State, Wake
from gsopt.simulation.parts.ways import local_limit
from heuristics.batching.evolution.genome import IDLE
from heuristics.batching.evolution.population import Population, refresh
from heuristics.batching.evolution.rows import counts_of
from heuristics.batching.evolution.search import evolve
from heuristics.batching.evolution.table import CostTable
from heuristics.policies.ones.dividing import Division, Roster
from heuristics.policies.ones.epochs import Epochs
from heuristics.policies.ones.limits import BatchLimits
from heuristics.policies.ones.remaining_work import RemainingWork
from heuristics.policies.ones.settings import OnesSettings
from heuristics.policies.settings import with_settings


@with_settings(OnesSettings)
def ones(state: State, settings: OnesSettings) -> Decider:
    """Evolve a set of schedules, and apply the best one once every running job has completed an epoch.

    The best schedule has the least remaining utilization: the sum, over the jobs that it runs, of the remaining
    time multiplied by the number of GPUs. A job runs in its fastest mode within its batch limit
    (`gsopt.performance.batching.LimitRules`). The limit is at first the largest batch that runs on one GPU, if
    any. It doubles at the end of each epoch, is scaled down for jobs that run long, and is halved for jobs that
    wait both before and after an update. The smallest batch is always allowed.

    Jobs need one mode for each batch size and, unless `knowledge` is ``known``, a description of their training
    (`gsopt.scenario.job.Job.training`). Comparisons include the policy only if it is named by its path:
    ``heuristics.policies.ones:ones``.

    Source: ONES (SC 2021), sections 3.2 and 3.3. The search is `heuristics.batching.evolution`, including its
    departures from the paper. Key: as above. Ties: as in the search. Preemptive at every event; resizes; does
    not know durations unless `knowledge` is ``known``. O(K * GPUs) per generation of K candidates.

    The paper's search runs continuously. Here, all generations since the last update are run at the next one,
    with the data of that time. At arrivals and completions, the running schedule is refreshed at once, as the
    search refreshes a candidate. A job's warm-up, during which its limit does not grow, is its first epoch.

    Parameters
    ----------
    knowledge
        Whether the remaining work is ``known`` or ``predicted``. In the latter case, each generation draws it
        from a Beta distribution that is learned from completed jobs
        (`heuristics.policies.ones.progress.ProgressPredictor`).
    generations_per_second, most_generations
        Number of generations per simulated second, and largest number per update. Each update runs at least
        one. The paper gives no numbers.
    mutation_rate
        Probability with which a mutation preempts each job.
    population
        Number of candidates; if None, the number of GPUs.
    penalty
        How jobs that have run longer than 1/`rate` are scaled down. ``current``: the limit still doubles, but
        only the scaled-down part is used. ``compound``: the limit shrinks at every epoch. It ends at 1 or 2
        samples, and jobs take much longer. ``never``: not at all.
    rate
        The rate for `penalty` (sigma in the paper), in 1/s; if None, the rate of arrivals so far.
    forced
        The jobs that must run, as far as they fit. ``all``: all jobs, shortest first. ``new``: jobs that have
        never run, as in the printed refresh. On a busy cluster, jobs then take much longer, because the
        objective ignores jobs that wait.
    floor
        The least limit after halving: one ``sample``, or the initial limit (``gpu``). The paper has none.
    every_epoch
        Whether an update waits until all running jobs have completed an epoch. Otherwise, there is one at every
        event and end of an epoch.
    engine
        The implementation of the generations (see `heuristics.batching.evolution.evolve`).
    seed
        Seed for all random numbers.

    Raises
    ------
    InvalidInput
        An option is out of range, the cluster has GPUs of several kinds, or a job whose work is to be predicted
        has no description of its training.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Mode, Workload
    >>> from gsopt.simulation import simulate
    >>> from gsopt.scenario.training import Training
    >>> double = Mode(name="double", menu=[(2, 1.8)], batch_size=64)
    >>> training = Training(epoch=100, samples=800)
    >>> job = Job(
    ...     name="a", release_date=0, duration=80, gpus=1, batch_size=32, modes=[double], training=training
    ... )
    >>> run = simulate(Workload(jobs=[job]), ones, cluster=2, record=True, penalty="never")
    >>> [(each.start, each.gpus, each.mode) for each in run.schedule.segments]
    [(0.0, 1, ''), (10.0, 2, 'double')]
    """
    return _Ones(state, settings)


class _KeptPopulation:
    """The population of the search, which is kept from event to event."""

    def __init__(self, settings: OnesSettings) -> None:
        self._settings = settings
        self._generator = np.random.default_rng(settings.seed)
        self._population: Population | None = None
        self._last: Any = None  # time of the last update

    def best(self, table: CostTable, now: Any) -> list[int]:
        """Run the generations due since the last update; return each job's GPUs in the best candidate."""
        settings = self._settings
        elapsed = 0.0 if self._last is None else float(now - self._last)
        self._last = now
        due = int(elapsed * settings.generations_per_second)
        found = evolve(
            table,
            max(1, min(due, settings.most_generations)),
            settings=settings.evolution,
            engine=settings.engine,
            population=self._population,
            generator=self._generator,
        )
        self._population = found.population
        chosen = found.gpus_of(table)
        return [chosen.get(name, 0) for name in table.names]

    def refreshed(self, table: CostTable, running: Mapping[str, int], limits: Mapping[str, int]) -> list[int]:
        """Refresh the running schedule, and return the GPUs of each job."""
        names = tuple(running)
        genome = [place for place, name in enumerate(names) for _ in range(running[name])]
        genome += [IDLE] * max(table.gpus - len(genome), 0)
        old = Population(
            jobs=names,
            batch_limit=np.array([limits.get(name, table.gpus) for name in names], dtype=np.int64),
            genomes=np.array([genome], dtype=np.int64),
        )
        alone = self._settings.evolution.model_copy(update={"population": 1})
        new = refresh(old, table, alone, self._generator)
        found: list[int] = counts_of(new.genomes, table.jobs)[0].tolist()
        return found


class _Ones:
    preemptive = True

    def __init__(self, state: State, settings: OnesSettings) -> None:
        self._search = _KeptPopulation(settings)
        self._work = RemainingWork(settings.knowledge, settings.forced, settings.seed)
        self._limits = BatchLimits(settings.penalty, settings.rate, settings.floor)
        self._every_epoch = settings.every_epoch
        self._roster = Roster(state, self._limits.of)
        self._epochs = Epochs()
        self._ran: dict[int, float] = {}  # running time of present jobs in seconds
        self._now: Any = state.now
        self._mark: dict[int, int] = {}  # complete epochs of the running jobs at the last update
        self._used: dict[str, int] = {}  # limits of the running jobs

    def decide(self, state: State) -> Iterable[Action]:
        self._follow(state)
        if not len(self._roster) or state.capacity <= 0:
            return
        due = self._is_due(state)
        if due or state.arrived or state.completed or state.evicted:
            division = self._roster.division(state)
            table = self._table(state, division)
            counts = self._search.best(table, state.now) if due else self._refreshed(state, table)
            yield from self._roster.actions(state, division, counts)
            self._conclude(division, counts, updated=due)
        if (time := self._epochs.next_end(state)) is not None:
            yield Wake(time)

    def _follow(self, state: State) -> None:
        """Update the jobs' running times, epochs and limits since the last event."""
        elapsed = float(state.now - self._now)
        self._now = state.now
        for job in state.running:
            self._ran[job] = self._ran.get(job, 0.0) + elapsed
        self._work.complete(state, state.completed)
        for job in state.completed:
            self._ran.pop(job, None)
        self._epochs.forget(state.completed)
        self._limits.forget(state.completed)
        passed = self._epochs.passed(state, state.running)
        self._work.see(state, passed)
        for job, epochs in passed.items():
            self._limits.finish_epochs(job, epochs, self._ran[job])
        self._limits.arrive({job: state.jobs[job] for job in state.arrived}, state.now)
        self._roster.update(state)

    def _is_due(self, state: State) -> bool:
        """Check whether every running job with epochs has completed one since the last update."""
        if not self._every_epoch:
            return True
        return all(
            state.jobs[job].training is None or self._epochs.whole(job) > self._mark.get(job, 0)
            for job in state.running
        )

    def _table(self, state: State, division: Division) -> CostTable:
        costs = self._work.costs(state, division)
        limits = (self._limits.of(job) for job in division.numbers)
        return CostTable.of(
            [str(job) for job in division.numbers],
            costs.unit,
            weight=costs.weight,
            forced=costs.forced,
            processed_seconds=[self._ran.get(job, 0.0) for job in division.numbers],
            batch_limit=[division.gpus if limit is None else limit for limit in limits],
            local_limit=[local_limit(job) or 1 for job in division.jobs],
            draw=costs.draw,
        )

    def _refreshed(self, state: State, table: CostTable) -> list[int]:
        running = {str(job): count for job, count in state.running.items()}
        return self._search.refreshed(table, running, self._used)

    def _conclude(self, division: Division, counts: list[int], *, updated: bool) -> None:
        """Record the new schedule, and halve the limits of jobs that keep waiting after an update."""
        chosen = {job: count for job, count in zip(division.numbers, counts, strict=True) if count}
        if updated:
            held = dict(zip(division.numbers, division.held.tolist(), strict=True))
            self._limits.reject(job for job in division.numbers if job not in chosen and not held[job])
            self._mark = {}
        self._mark = {job: self._mark.get(job, self._epochs.whole(job)) for job in chosen}
        self._used = {str(job): limit for job in chosen if (limit := self._limits.of(job)) is not None}
