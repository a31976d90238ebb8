"""Granting: a decider that reallocates all GPUs at intervals or at every event."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.parts.pool import Count, Holding, Pool, pool_of
from gsopt.simulation.placer import FreeGpus, emptiest_first
from gsopt.simulation.policy import Action, Assign, State, Wake
from heuristics.policies.optimus.candidates import Candidates, GpuCandidate


class Grants:
    """The GPUs that a decision grants, initially none.

    At first, `pool` contains all available GPUs, even those that jobs hold. If GPUs are of several kinds, jobs
    are granted the GPUs that they held `before` if possible.
    """

    def __init__(self, pool: Pool, before: Mapping[int, Holding]) -> None:
        self.pool = pool
        self.holdings: dict[int, Holding] = {}
        self._before = before
        self._rungs: dict[int, int] = {}

    def rung(self, job: GpuCandidate) -> int:
        """Return the index of a job's granted number of GPUs among its counts, or -1 if it has none."""
        return self._rungs.get(job.number, -1)

    def may_grow(self, job: GpuCandidate) -> bool:
        """Check whether a job may run on a larger count, and whether enough GPUs remain for the next one."""
        rung = self.rung(job)
        if rung + 1 == len(job.counts):
            return False
        held = job.counts[rung] if rung >= 0 else 0
        return job.counts[rung + 1] - held <= self.pool.room(job.item)

    def grow(self, job: GpuCandidate) -> bool:
        """Grant a job its next larger count if enough GPUs remain, and return whether this was the case."""
        if fits := self.may_grow(job):
            self.set(job, self.rung(job) + 1)
        return fits

    def start(self, jobs: Iterable[GpuCandidate]) -> list[GpuCandidate]:
        """Grant jobs their smallest numbers of GPUs, one after another, and return the jobs that got them."""
        return [job for job in jobs if self.grow(job)]

    def set(self, job: GpuCandidate, rung: int) -> None:
        """Grant a job one of its counts, given by index, in place of its previous grant."""
        if (holding := self.holdings.get(job.number)) is not None:
            self.pool.give_back(holding)
        taken = self.pool.take(job.item, job.counts[rung], self._before.get(job.number))
        self.holdings[job.number], self._rungs[job.number] = taken, rung


#: A rule that grants GPUs to candidates, given in order of release.
Grant = Callable[[Sequence[GpuCandidate], Grants], None]


class Granting:
    """A decider that lets a rule reallocate all GPUs, and moves the jobs whose number of GPUs changes.

    If all GPUs are of one kind, jobs are placed by `place_on_emptiest`. Otherwise, a job keeps as many of its
    GPUs as possible, and takes additional GPUs with the least sufficient memory, close together. Decisions are
    taken at multiples of the interval, or at every event if it is None.
    """

    preemptive = True

    def __init__(
        self, state: State, grant: Grant, *, interval: float | None, candidates: Candidates | None = None
    ) -> None:
        self._grant = grant
        self._instants = None if interval is None else Instants(interval)
        self._pool = pool_of(state)
        self._contenders = candidates or Candidates(state)
        self._there: dict[int, None] = {}
        self._held: dict[int, Holding] = {}

    def decide(self, state: State) -> Iterable[Action]:
        """Grant the GPUs if a decision is due, and ask to be woken for the next decision.

        After a decision, no wake-up is needed if all jobs are rigid, because nothing then changes between
        events. If no decision is due yet, a wake-up is needed whenever there are jobs.
        """
        self._follow(state)
        is_time = self._instants is None or self._instants.reached(state.now)
        if is_time:
            yield from self._grant_anew(state)
        waits = any(len(state.jobs[job].counts) > 1 for job in self._there) if is_time else bool(self._there)
        if self._instants is not None and waits:
            yield Wake(self._instants.ask(state.now))

    def _follow(self, state: State) -> None:
        """Process the jobs that have arrived, completed or been evicted."""
        for job in state.completed:
            del self._there[job]
            self._held.pop(job, None)
            self._contenders.forget(job)
        for job in state.evicted:
            self._held.pop(job, None)
        self._there.update(dict.fromkeys(state.arrived))

    def _grant_anew(self, state: State) -> Iterable[Action]:
        self._pool.look(state)
        for holding in self._held.values():
            self._pool.give_back(holding)
        grants = Grants(self._pool, self._held)
        self._grant(self._contenders.of(state, self._there), grants)
        before, self._held = self._held, grants.holdings
        if before == self._held:
            return ()
        if isinstance(self._pool, Count):
            return (Assign(self._held if state.cluster.is_plain else place_on_emptiest(state, self._held)),)
        nothing: dict[int, Holding | None] = dict.fromkeys([*before, *self._held])
        return self._pool.actions(state, nothing | before, nothing | self._held)


def place_on_emptiest(state: State, counts: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """Choose GPUs for jobs with given numbers of GPUs, in a cluster with racks.

    A running job keeps its GPUs if their number does not change, and releases all of them otherwise. The other
    jobs are placed in ascending order of their numbers of GPUs, then of job number. Each takes GPUs from the
    machine with the most free GPUs, then from the machine with the next most, until it has enough. Ties go to
    the machine with the lower number.

    Source: the placement of Optimus in Pollux' simulator (OSDI 2021).
    """
    cluster, running = state.cluster, state.running
    placed = {job: state.placement(job) for job, count in counts.items() if running.get(job) == count}
    given_back = [gpu for job in running if job not in placed for gpu in state.placement(job)]
    free: list[list[int]] = [[] for _ in cluster.machines]
    for gpu in sorted([*state.free_gpus(), *given_back]):
        free[cluster.machine_of[gpu]].append(gpu)
    free_gpus = FreeGpus(cluster, range(len(free)), free)
    for job in sorted(counts.keys() - placed.keys(), key=lambda job: (counts[job], job)):
        placed[job] = emptiest_first(free_gpus, counts[job])
        for gpu in placed[job]:
            machine = cluster.machine_of[gpu]
            before = len(free[machine])
            free[machine].remove(gpu)
            free_gpus.recount(machine, before, before - 1)
    return placed
