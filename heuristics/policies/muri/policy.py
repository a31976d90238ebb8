"""Muri: a policy that groups jobs to share GPUs, each job using a different resource at any one time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, Literal, NamedTuple, get_args

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.simulation import Action, Assign, Decider, Start, State, Wake
from gsopt.simulation.interval import require_interval
from gsopt.simulation.parts.tiers import Need, need_of
from heuristics.policies.lucid.machines import FewestMachines
from heuristics.policies.muri.matching import breadth_first_matching

#: Which jobs come first: those with the least remaining GPU time (Muri-S), or the least GPU time so far
#: (Muri-L).
Order = Literal["remaining", "attained"]

#: The rules for grouping: those of the paper, or those of the authors' simulator.
Rules = Literal["paper", "program"]

#: Digits after the point of the efficiencies that matchings compare; below them is only rounding.
_DIGITS = 12


def muri(
    state: State,
    *,
    order: Order = "remaining",
    most: int = 4,
    interval: float = 360.0,
    whole_rounds: bool = False,
    rules: Rules = "paper",
    busy: Mapping[str, float] | None = None,
) -> Decider:
    """Run the jobs that come first, in groups that share GPUs if there are too few GPUs for all.

    Jobs are taken in ascending order of key until their total demand would exceed `most` times the number of
    GPUs. If they do not all fit, jobs with equal demands are matched in pairs that maximize the total
    efficiency. The most efficient pairs are merged first, until all jobs fit. If necessary, the groups are
    matched again, up to `most` jobs per group.

    A group gets the GPUs of its first running job, or else GPUs that are close together. Groups that do not fit
    wait, and free GPUs go to the next jobs that fit. Until the next grouping, jobs may start only on free GPUs
    of their own.

    The efficiency of a group is the sum of its jobs' speeds relative to running alone, weighted by `busy`.
    Slowdowns are those of the scenario; `gsopt.performance.colocation.interleaving` computes them from stage
    times. If the scenario has slowdowns for pairs only, a job in a larger group is slowed down as by its worst
    partner alone, which may understate the slowdown in Muri.

    Source: Muri (SIGCOMM 2022), and its authors' simulator, schedules ``multi-resource-blossom-same-gpu`` and
    ``-unaware``. Key: see `order`. Ties: lower job number. Preemptive: at most once per `interval`, or at every
    event with the ``program`` rules. Knows slowdowns, and with `order` ``"remaining"`` also durations. O(n^3)
    per decision for n jobs with the same demand, or O(n^4) with the ``program`` rules.

    With the ``program`` rules, jobs are regrouped at every event. In ascending order of key, each job that is
    not a candidate yet and would still fit on GPUs of its own becomes one, together with the next ``most - 1``
    jobs of the same demand. Only candidates run; GPUs that none of them can use stay idle. Pairs are merged in
    the order of their jobs. Groups that are slower than their jobs one after another are split. Of several best
    matchings, that of `breadth_first_matching` is used. The program charges every running job the time of a
    start at every event; here, the scenario's overheads count.

    Parameters
    ----------
    order
        Whether the key is the ``remaining`` or the ``attained`` GPU-seconds.
    most
        Largest number of jobs in a group, at least 1. It is reduced to the `share_limit` of the run.
    interval
        Least time between two groupings, in seconds; above 0.
    whole_rounds
        Whether to merge all pairs of a matching even if fewer would suffice; only for ``rules="paper"``.
    rules
        Whether groupings follow the ``paper`` or the authors' ``program``, which has no `interval`.
    busy
        Average number of resources that a job keeps busy when it runs alone, keyed by model; 1 for other
        models. With these weights, the efficiency is Muri's, times the number of resources.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> from gsopt.performance.colocation.interleaving import interleaved
    >>> from gsopt.scenario.speed import Speed
    >>> speed = Speed(interference=interleaved({"disk": (3.0, 1.0), "gpu": (1.0, 3.0)}))
    >>> kinds = ["disk", "disk", "gpu", "gpu"]
    >>> jobs = Workload(
    ...     jobs=[Job(name=str(i), release_date=0, duration=60, gpus=1, model=k) for i, k in enumerate(kinds)]
    ... )
    >>> machine = Cluster.uniform(machines=1, gpus=2)
    >>> simulate(jobs, muri, cluster=machine, speed=speed, share_limit=2).completion_times
    (60.0, 60.0, 60.0, 60.0)
    """
    require_one_of("order", order, ("remaining", "attained"))
    require(isinstance(most, int) and number_of(most) >= 1, "most", most, "must be an integer, at least 1")
    require_interval("interval", interval)
    require_one_of("rules", rules, get_args(Rules))
    for model, resources in (busy or {}).items():
        require(number_of(resources) > 0, f"busy.{model}", resources, "must be above 0")
    kind = _Program if rules == "program" else _Muri
    return kind(
        state, order, min(most, state.share_limit), interval, whole_rounds=whole_rounds, busy=busy or {}
    )


class _Group(NamedTuple):
    """Jobs that share GPUs, in order, with the index of the first one and their joint need."""

    place: int
    jobs: tuple[int, ...]
    need: Need


class _Merge(NamedTuple):
    """A possible merge of two groups, ranked by the negated efficiency of the merged group."""

    rank: float
    first: _Group
    second: _Group


class _Muri:
    preemptive = True

    def __init__(
        self,
        state: State,
        order: Order,
        most: int,
        interval: float,
        *,
        whole_rounds: bool,
        busy: Mapping[str, float],
    ) -> None:
        self._by_service, self._most, self._whole_rounds = order == "attained", most, whole_rounds
        self._interval = type(state.now)(interval)
        self._places = FewestMachines(state)
        self._busy = busy
        self._slowdowns: dict[tuple[str, ...], float] = {}  # of the first model beside the others
        self._there: set[int] = set()  # jobs that are released and not complete
        self._supply = state.capacity, state.servers
        self._next = state.now  # when they are grouped again at the earliest
        self._is_due = True  # whether anything has happened since they were grouped

    def decide(self, state: State) -> Iterable[Action]:
        self._is_due = self._follow(state) or self._is_due
        if state.now < self._next:
            yield from self._start_alone(state)
        elif self._is_due or self._by_service:
            yield self._assigned(state)
            self._next, self._is_due = state.now + self._interval, False
        waits = len(state.running) < len(self._there)
        if (waits and self._by_service) or (self._is_due and (waits or _any_shares(state))):
            yield Wake(self._next)

    def _follow(self, state: State) -> bool:
        """Record the events since the last call, and return whether there were any."""
        self._there.update(state.arrived)
        self._there.difference_update(state.completed)
        supply = state.capacity, state.servers
        happened = state.arrived or state.completed or state.evicted or supply != self._supply
        self._supply = supply
        return bool(happened)

    def _in_order(self, state: State, jobs: Iterable[int]) -> list[int]:
        def key(job: int) -> Any:
            return state.service(job) if self._by_service else state.remaining(job) * state.jobs[job].gpus

        return sorted(jobs, key=lambda job: (key(job), job))

    def _start_alone(self, state: State) -> Iterator[Action]:
        """Start waiting jobs, in order, that fit on free GPUs of their own."""
        for job in self._in_order(state, self._there - state.running.keys()):
            if state.fits(job):
                yield Start(job)

    def _assigned(self, state: State) -> Assign:
        """Regroup all jobs, and return the assignment of their GPUs."""
        jobs = self._in_order(state, self._there)
        if state.cluster.is_plain:
            return Assign(_counts(state, jobs))
        self._look(state)
        groups = self._grouped(state, self._first(state, jobs))
        return Assign(self._placed(state, groups, jobs))

    def _look(self, state: State) -> None:
        """Treat all available GPUs as free."""
        there = chain(state.free_gpus(), *map(state.placement, state.running))
        self._places.look(state, set(there))

    def _first(self, state: State, jobs: Iterable[int]) -> list[_Group]:
        """Return the first jobs whose total demand is at most `most` times the GPUs, each as a group."""
        left, groups = self._most * state.capacity, []
        for place, job in enumerate(jobs):
            need = need_of(state.jobs[job])
            left -= need.gpus
            if left < 0:
                break
            groups.append(_Group(place, (job,), need))
        return groups

    def _grouped(self, state: State, groups: list[_Group]) -> list[_Group]:
        """Merge groups until all fit or no more can be merged."""
        excess = sum(group.need.gpus for group in groups) - state.capacity
        while excess > 0 and (merges := self._merges(state, groups)):
            for _, first, second in merges:
                if excess > 0 or self._whole_rounds:
                    groups.remove(first)
                    groups.remove(second)
                    groups.append(_merged(first, second))
                    excess -= first.need.gpus
        return sorted(groups)

    def _merges(self, state: State, groups: Iterable[_Group]) -> list[_Merge]:
        """Match groups of equal demand to maximize their efficiency, and return the merges, best first."""
        import networkx as nx

        graph = nx.Graph()
        for one, other in combinations(sorted(groups), 2):
            if self._may_merge(one, other):
                graph.add_edge(one, other, weight=self._efficiency(state, one.jobs + other.jobs))
        matched = (sorted(pair) for pair in nx.max_weight_matching(graph))
        return sorted(_Merge(-graph.edges[one, other]["weight"], one, other) for one, other in matched)

    def _may_merge(self, one: _Group, other: _Group) -> bool:
        if len(one.jobs) + len(other.jobs) > self._most or one.need[:2] != other.need[:2]:
            return False
        return self._places.could(_merged(one, other).need)

    def _efficiency(self, state: State, jobs: tuple[int, ...]) -> float:
        """Return the average number of resources that jobs keep busy when they share GPUs."""
        speeds = zip(jobs, self._speeds(state, jobs), strict=True)
        return sum(self._busy.get(state.jobs[job].model, 1.0) * speed for job, speed in speeds)

    def _speeds(self, state: State, jobs: tuple[int, ...]) -> list[float]:
        """Return the speeds of jobs that share GPUs, each relative to running alone."""
        return [1 / self._slowdown(state, job, [other for other in jobs if other != job]) for job in jobs]

    def _slowdown(self, state: State, job: int, others: Sequence[int]) -> float:
        models = (state.jobs[job].model, *sorted(state.jobs[other].model for other in others))
        if models not in self._slowdowns:
            count = state.jobs[job].gpus
            slowdown = state.rate(job, count) / state.rate(job, count, beside=others)
            self._slowdowns[models] = float(slowdown)
        return self._slowdowns[models]

    def _placed(self, state: State, groups: list[_Group], jobs: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """Return the GPUs of the groups that fit, in order, and of the next jobs on the remaining GPUs."""
        chosen = _fitting(groups, state.capacity)
        held = {group: self._kept(state, group) for group in chosen}
        held |= {group: self._taken(group.need) for group, gpus in held.items() if gpus is None}
        assigned = {job: gpus for group, gpus in held.items() if gpus for job in group.jobs}
        full: set[Need] = set()
        for job in jobs:
            need = need_of(state.jobs[job])
            if job not in assigned and need not in full:
                gpus = self._taken(need)
                if gpus:
                    assigned[job] = gpus
                else:
                    full.add(need)
        return assigned

    def _kept(self, state: State, group: _Group) -> tuple[int, ...] | None:
        """Return the GPUs of the first job of a group whose GPUs are still free and suit the group."""
        for job in group.jobs:
            gpus = state.placement(job) if job in state.running else ()
            if len(gpus) == group.need.gpus and self._places.suit(gpus, group.need):
                self._places.take(gpus)
                return gpus
        return None

    def _taken(self, need: Need) -> tuple[int, ...] | None:
        gpus = self._places.nearest(need)
        self._places.take(gpus or ())
        return gpus


class _Program(_Muri):
    """The decider with the rules of the authors' simulator."""

    def decide(self, state: State) -> Iterable[Action]:
        if self._follow(state):
            yield self._assigned(state)

    def _assigned(self, state: State) -> Assign:
        """Regroup the considered jobs, and return the assignment of GPUs to the groups that fit."""
        jobs = self._in_order(state, self._there)
        if state.cluster.is_plain:
            return Assign(_counts(state, jobs))
        alone = [_Group(place, (job,), need_of(state.jobs[job])) for place, job in enumerate(jobs)]
        groups = self._grouped(state, self._considered(state, alone))
        whole = [part for group in groups for part in self._split(state, group, alone)]
        self._look(state)
        kept = [group for group in sorted(whole) if self._taken(group.need)]
        self._look(state)
        kept.sort(key=lambda group: -group.need.gpus)
        placed = {group: self._taken(group.need) for group in kept}
        return Assign({job: gpus for group, gpus in placed.items() if gpus for job in group.jobs})

    def _considered(self, state: State, alone: Sequence[_Group]) -> list[_Group]:
        """Return the jobs to consider: at most `most` times as many as would fit on GPUs of their own."""
        self._look(state)
        alike: dict[int, list[_Group]] = {}
        for group in alone:
            alike.setdefault(group.need.gpus, []).append(group)
        counts = dict.fromkeys(alike, 0)
        considered: set[_Group] = set()
        for group in alone:
            gpus = group.need.gpus
            if group not in considered and self._taken(group.need):
                counts[gpus] += self._most
                considered.update(alike[gpus][: counts[gpus]])
        return [group for groups in alike.values() for group in groups if group in considered]

    def _grouped(self, state: State, groups: list[_Group]) -> list[_Group]:
        """Match groups of equal demand, and merge the pairs until all groups fit; match again if needed."""
        alike: dict[int, list[_Group]] = {}
        for group in groups:
            alike.setdefault(group.need.gpus, []).append(group)
        excess, merges = sum(group.need.gpus for group in groups) - state.capacity, True
        while excess > 0 and merges:
            merges = False
            for gpus, members in alike.items():
                firsts = {second: first for first, second in self._pairs(state, members)}
                alike[gpus] = []
                for group in members:
                    if group in firsts and excess > 0:
                        alike[gpus].append(_merged(firsts[group], group))
                        excess -= gpus
                        merges = True
                    elif group in firsts:
                        alike[gpus] += [firsts[group], group]
                    elif group not in firsts.values():
                        alike[gpus].append(group)
        return list(chain.from_iterable(alike.values()))

    def _pairs(self, state: State, groups: Sequence[_Group]) -> list[tuple[_Group, _Group]]:
        """Match groups of equal demand to maximize their efficiency; ties go by the search for a matching."""
        weights = [[0] * len(groups) for _ in groups]
        for (i, one), (j, other) in combinations(enumerate(groups), 2):
            if self._may_merge(one, other):
                efficiency = self._efficiency(state, one.jobs + other.jobs)
                weights[i][j] = weights[j][i] = round(efficiency * 10**_DIGITS)
        return [(groups[i], groups[j]) for i, j in breadth_first_matching(weights)]

    def _split(self, state: State, group: _Group, alone: Sequence[_Group]) -> Iterable[_Group]:
        """Return a group, or its jobs one by one if they would be faster one after another."""
        if len(group.jobs) == 1 or sum(self._speeds(state, group.jobs)) >= 1:
            return [group]
        return [each for each in alone if each.jobs[0] in group.jobs]


def _any_shares(state: State) -> bool:
    """Check whether any jobs share GPUs."""
    return sum(state.running.values()) > state.capacity - state.free


def _merged(one: _Group, other: _Group) -> _Group:
    first, second = sorted((one, other))
    memories = [group.need.memory for group in (first, second) if group.need.memory is not None]
    need = first.need._replace(memory=sum(memories) if memories else None)
    return _Group(first.place, first.jobs + second.jobs, need)


def _fitting(groups: Iterable[_Group], left: int) -> list[_Group]:
    """Return the groups that fit on `left` GPUs, taken in order and skipping groups that do not fit."""
    chosen = []
    for group in groups:
        if group.need.gpus <= left:
            left -= group.need.gpus
            chosen.append(group)
    return chosen


def _counts(state: State, jobs: Iterable[int]) -> Mapping[int, int]:
    """Return the GPUs of the jobs that fit in a plain cluster, taken in order."""
    left, chosen = state.capacity, {}
    for job in jobs:
        gpus = state.jobs[job].gpus
        if gpus <= left:
            left -= gpus
            chosen[job] = gpus
    return chosen
