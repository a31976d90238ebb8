"""ONES: an evolutionary search of elastic batch sizes that goes on from event to event."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, Literal, get_args

import numpy as np
from pydantic import ValidationError

from gsopt.core.errors import require, require_one_of
from gsopt.core.files import first_error
from gsopt.simulation import Action, Decider, State, Wake
from gsopt.simulation.parts.ways import local_limit
from heuristics.batching.evolution.population import Population, refresh
from heuristics.batching.evolution.rows import counts_of
from heuristics.batching.evolution.search import Engine, Evolved, evolve
from heuristics.batching.evolution.settings import Settings
from heuristics.batching.evolution.table import CostTable
from heuristics.policies.ones.dividing import Division, Roster
from heuristics.policies.ones.epochs import Epochs
from heuristics.policies.ones.limits import BatchLimits, Floor, Penalty
from heuristics.policies.ones.outlook import Knowledge, RemainingWork

#: Who must run: jobs that have never run, as printed, or all.
Forced = Literal["new", "all"]


def ones(
    state: State,
    *,
    knowledge: Knowledge = "predicted",
    generations_per_second: float = 1.0,
    most_generations: int = 20,
    mutation_rate: float = 0.3,
    population: int | None = None,
    penalty: Penalty = "current",
    rate: float | None = None,
    forced: Forced = "all",
    floor: Floor = "sample",
    every_epoch: bool = True,
    engine: Engine = "vectorised",
    seed: int = 0,
) -> Decider:
    """Evolve candidate schedules between events, and run the best once every running job has passed an epoch.

    Each candidate has a job on every GPU; the best is that of the least remaining utilization of the jobs that
    run, ``sum T_j c_j``. A job's batch size is that of its fastest mode within its batch limit, which begins
    with what one GPU holds, doubles at every epoch, shrinks for jobs that run long, and is halved whenever a
    job is left waiting (`gsopt.performance.batching.LimitRules`). What jobs have left is predicted by a Beta
    distribution of their progress, learned from those that are complete
    (`heuristics.policies.ones.progress.Predictor`), and drawn anew for every generation; or it is known.

    No comparison has it unless it is named: ``heuristics.policies.ones:ones``. It needs jobs whose training is
    described (`gsopt.scenario.job.Job.training`), or known work, and modes that are batch sizes.

    Source: ONES (SC 2021), sections 3.2 and 3.3; the search is `heuristics.batching.evolution`, with its
    departures. Key: as above. Ties: as the search breaks them. Preemptive at every event; resizes; does not
    know durations unless `knowledge` is ``known``. O(K * GPUs) per generation of K candidates.

    Readings of what the paper leaves open:

    - The search runs all the time; here its generations between two updates are made up at the later one, by
      what is then known, `generations_per_second` of simulated time and at most `most_generations`, after which
      populations hardly change. The paper gives no number.
    - Arrivals and completions do not wait for epochs: what runs is refreshed at once, as the search refreshes a
      candidate, so that new jobs get GPUs and idle ones are filled.
    - The rules for limits are applied once at the end of each epoch; the first epoch is the warm-up, in which a
      job stays on one GPU. Scale-down is for jobs that run longer than 1/sigma. With `penalty` ``current``
      their limits double too, and only the part is used that the formula leaves of them. With ``compound`` the
      limit itself shrinks at every epoch, as printed: it ends at 1 or 2 samples, and mean job completion times
      are several times as long. ``never`` is without scale-down, and the fastest on the jobs of
      `instances.workloads.ones`. Modes are finitely many: the largest batch within the limit counts, and the
      smallest is always allowed.
    - A job is rejected when it waits before and after an update; refreshes reject nobody. As printed its limit
      is halved down to one sample, `floor` ``gpu`` ends at what one GPU holds.
    - By the printed goal jobs that wait cost nothing, so the best candidate often has one job on all GPUs,
      while the limits of all others are halved away. With `forced` ``all`` every job must run that can,
      shortest first where not all can; with ``new`` only those must that have never run, as in the printed
      refresh, which on a busy cluster takes two to four times as long.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    knowledge
        Whether what is left is ``predicted`` or ``known``.
    generations_per_second, most_generations
        Generations for each simulated second since the last update, at least one, and the most at one update.
    mutation_rate
        Probability with which a mutation preempts each job.
    population
        Number of candidates; as many as there are GPUs when None.
    penalty
        How jobs that run long are scaled down.
    rate
        sigma of the scale-down, in 1/s; the rate of arrivals so far when None.
    forced
        Who must run: ``all`` jobs, or ``new`` ones.
    floor
        What rejections halve limits to: one ``sample``, or what one ``gpu`` holds.
    every_epoch
        Whether schedules wait until all running jobs have passed an epoch; at every event and every end of an
        epoch there is an update otherwise.
    engine
        Who runs the generations, see `heuristics.batching.evolution.search.evolve`.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        An option is out of its range, a job's training is not described, or the cluster has GPUs of several
        kinds.

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
    for name, value, choices in (
        ("knowledge", knowledge, Knowledge),
        ("penalty", penalty, Penalty),
        ("forced", forced, Forced),
        ("floor", floor, Floor),
        ("engine", engine, Engine),
    ):
        require_one_of(name, value, get_args(choices))
    for name, number in (
        ("generations_per_second", generations_per_second),
        ("rate", 0 if rate is None else rate),
    ):
        sound = isinstance(number, int | float) and 0 <= number < inf
        require(sound, name, number, "must be a number, at least 0")
    sound = isinstance(most_generations, int) and most_generations >= 1
    require(sound, "most_generations", most_generations, "must be an integer, at least 1")
    try:
        readings = Settings(population=population, mutation_rate=mutation_rate)
    except ValidationError as error:
        raise first_error("", error) from None
    search = _Search(
        readings,
        generations_per_second,
        most_generations,
        engine,
        np.random.default_rng(seed),
    )
    return _Ones(
        state,
        search,
        RemainingWork(knowledge, forced, seed),
        BatchLimits(penalty, rate, floor),
        every_epoch=every_epoch,
    )


class _Search:
    """The population, as it is kept from event to event."""

    def __init__(
        self,
        settings: Settings,
        per_second: float,
        most: int,
        engine: Engine,
        generator: np.random.Generator,
    ) -> None:
        self._settings, self._per_second, self._most = settings, per_second, most
        self._engine, self._generator = engine, generator
        self._population: Population | None = None
        self._since: Any = None

    def best(self, table: CostTable, now: Any) -> list[int]:
        """Evolve for the time since the last update, and give the GPUs of each job in the best candidate."""
        elapsed = 0.0 if self._since is None else float(now - self._since)
        self._since = now
        generations = max(1, min(int(elapsed * self._per_second), self._most))
        found: Evolved = evolve(
            table,
            generations,
            settings=self._settings,
            engine=self._engine,
            population=self._population,
            generator=self._generator,
        )
        self._population = found.population
        chosen = found.gpus_of(table)
        return [chosen.get(name, 0) for name in table.names]

    def refreshed(self, table: CostTable, running: Mapping[str, int], limits: Mapping[str, int]) -> list[int]:
        """Return the GPUs of each job when what runs is refreshed."""
        names = tuple(running)
        genome = [place for place, name in enumerate(names) for _ in range(running[name])]
        genome += [-1] * max(table.gpus - len(genome), 0)
        old = Population(
            jobs=names,
            batch_limit=np.array([limits.get(name, table.gpus) for name in names], dtype=np.int64),
            genomes=np.array([genome], dtype=np.int64),
        )
        alone = self._settings.model_copy(update={"population": 1})
        new = refresh(old, table, alone, self._generator)
        found: list[int] = counts_of(new.genomes, table.jobs)[0].tolist()
        return found


class _Ones:
    preemptive = True

    def __init__(
        self, state: State, search: _Search, outlook: RemainingWork, limits: BatchLimits, *, every_epoch: bool
    ) -> None:
        self._search, self._outlook, self._limits = search, outlook, limits
        self._every_epoch = every_epoch
        self._roster = Roster(state, limits.of)
        self._epochs = Epochs()
        self._ran: dict[int, float] = {}  # seconds for which the jobs that are there have run
        self._now: Any = state.now
        self._mark: dict[int, int] = {}  # whole epochs of the running jobs at the last update
        self._used: dict[str, int] = {}  # limits of what runs

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
        """Take in what has happened since the last event."""
        elapsed = float(state.now - self._now)
        self._now = state.now
        for job in state.running:
            self._ran[job] = self._ran.get(job, 0.0) + elapsed
        self._outlook.complete(state, state.completed)
        for job in state.completed:
            self._ran.pop(job, None)
        self._epochs.forget(state.completed)
        self._limits.forget(state.completed)
        passed = self._epochs.passed(state, state.running)
        self._outlook.see(state, passed)
        for job, epochs in passed.items():
            self._limits.finish_epochs(job, epochs, self._ran[job])
        self._limits.arrive({job: state.jobs[job] for job in state.arrived}, state.now)
        self._roster.look(state)

    def _is_due(self, state: State) -> bool:
        """Check whether every running job has passed an epoch since the last update, if it has epochs."""
        if not self._every_epoch:
            return True
        return all(
            state.jobs[job].training is None or self._epochs.whole(job) > self._mark.get(job, 0)
            for job in state.running
        )

    def _table(self, state: State, division: Division) -> CostTable:
        costs = self._outlook.costs(state, division)
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
        """Note what runs from now on, and halve the limits of those that an update leaves waiting."""
        chosen = {job: count for job, count in zip(division.numbers, counts, strict=True) if count}
        if updated:
            held = dict(zip(division.numbers, division.held.tolist(), strict=True))
            self._limits.reject(job for job in division.numbers if job not in chosen and not held[job])
            self._mark = {}
        self._mark = {job: self._mark.get(job, self._epochs.whole(job)) for job in chosen}
        self._used = {str(job): limit for job in chosen if (limit := self._limits.of(job)) is not None}
