"""Lucid: a policy that profiles jobs, starts those with the least GPU time, and packs pairs on shared GPUs."""

from collections.abc import Iterable, Iterator
from math import inf
from typing import Any

from gsopt.core.errors import number_of, require
from gsopt.performance.colocation import Pair
from gsopt.simulation import Action, Decider, Start, State, Wake
from gsopt.simulation.parts.accumulation import Pairs, fits, memory_left
from gsopt.simulation.parts.partners import suitable
from gsopt.simulation.parts.starts import on_free
from gsopt.simulation.parts.tiers import Need, need_of
from gsopt.simulation.parts.turns import Turn, Turns
from heuristics.policies.castor.pairing import assign_partners
from heuristics.policies.lucid.durations import DurationPredictor, Predictions, predictor_from
from heuristics.policies.lucid.load import GPUS, QUIET, Load, Source, load_from
from heuristics.policies.lucid.machines import FewestMachines
from heuristics.policies.lucid.profiler import Profiler
from heuristics.policies.lucid.scores import Scorer, Scores, scorer_from


def lucid(
    state: State,
    *,
    exact: bool = False,
    load: Source = "recent",
    quiet: float | None = None,
    predictions: Predictions = "known",
    scores: Scores = "model",
    spread: bool = False,
    largest: int = 8,
    threshold: int = 2,
    ratio: float = 2.0,
    profilers: int | None = None,
    profiling: float = 200.0,
    as_published: bool = False,
) -> Decider:
    """Profile jobs, start those with the least GPU time first, and let pairs share GPUs under load.

    A job of at most `largest` GPUs first runs on machines that are reserved for profiling, if any, where jobs
    with the fewest GPUs go first. After `profiling` seconds, it stops, and waits for the other machines. Jobs
    that are larger, or that would not fit on the reserved machines, wait for the other machines from the
    beginning.

    While the cluster is busy, a waiting job of at most `largest` GPUs seeks a partner, even if GPUs are free.
    The partner is the job that started first among those that run alone on the same number of GPUs, leave
    enough memory, and satisfy `threshold` and `ratio`. Jobs that find no partner start on free GPUs, on no more
    machines than they need in an empty cluster. Jobs that do not fit are skipped. While the cluster is quiet,
    no job gets a partner, and a job that does not fit blocks those behind it.

    Source: Lucid (ASPLOS 2023), with the rules and numbers of its published code. Key: predicted seconds times
    GPUs, as predicted when the job begins to wait for the other machines. Ties: lower job number. Preemptive
    only at the end of profiling. O(waiting jobs * running jobs) per event at worst; with `exact`, plus O(n^3)
    to match n jobs. Jobs share GPUs only if the `share_limit` of the run is above 1.

    The published code differs as follows:

    - Profiling delays no jobs (see `as_published`), but the work done meanwhile is lost.
    - Two machines of 130 are for profiling, and one more while many jobs wait.
    - Arrivals are predicted by a rule learned for one cluster. On other clusters, jobs always share.
    - Scores are predicted from measured profiles.
    - When the older job of a pair completes, the younger one stays slow, and gets no new partner.
    - A job that needs several machines waits until as many are entirely free.

    Parameters
    ----------
    exact
        Whether jobs first start on free GPUs, and the others are then paired to save the most time, as in
        `heuristics.policies.best_pairs`, regardless of scores and `ratio`. Set this with `functools.partial`,
        because `gsopt.simulate` has another option of this name.
    load
        When the cluster is busy: ``"always"``, or if the mean number of arrivals per ten minutes exceeds
        `quiet`. With ``"recent"``, the last fifty minutes count, as of the last multiple of 100 s. With a
        sequence of predictions, one for each period of ten minutes from time 0, the next five periods count.
        From the last period on, the cluster is busy.
    quiet
        Largest number of arrivals per ten minutes in a quiet cluster; if None, 2 per 1,040 GPUs.
    predictions
        The running times of jobs: ``"known"``, the ``"mean"`` of the most similar completed jobs, or seconds
        keyed by job name. For a job without a prediction, 1,000 s are used.
    scores
        A score is 0 for a speed of at least 0.95 of the speed alone, 1 for at least 0.85, and otherwise 2. The
        speed is that beside the partner (``"pair"``), or the mean beside all models seen so far (``"model"``).
        Alternatively, scores keyed by model name, with 2 for missing ones.
    spread
        Whether jobs may start on more machines than they need.
    largest
        Largest demand, in GPUs, of a job that is profiled or may share; at least 0.
    threshold
        Largest total score of two jobs that share, at least 0.
    ratio
        Largest ratio of a job's predicted GPU time to its partner's, above 0.
    profilers
        Number of machines for profiling, the last ones of the cluster; if None, one in 64, and at most two. A
        job for which the other machines would be too few may use all machines.
    profiling
        How long a job is profiled, in seconds; above 0.
    as_published
        Whether profiling costs no time: jobs that would not complete while being profiled wait for the other
        machines at once.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> from gsopt.scenario.speed import Speed
    >>> sizes = [("a", 0, 600), ("b", 1, 300)]
    >>> jobs = Workload(jobs=[Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in sizes])
    >>> machine, speed = Cluster.uniform(machines=1, gpus=1), Speed(default_interference=1.125)
    >>> for load in ("always", [0, 0, 0]):  # busy, or quiet for 20 minutes
    ...     run = simulate(jobs, lucid, cluster=machine, speed=speed, share_limit=2, load=load)
    ...     print(run.completion_times)
    (637.5, 338.5)
    (600.0, 900.0)
    >>> run = simulate(jobs, lucid, cluster=Cluster.uniform(machines=2, gpus=1), profilers=1, record=True)
    >>> [(each.job, each.start, each.placement) for each in run.schedule.segments]
    [('a', 0.0, (1,)), ('b', 200.0, (1,)), ('a', 200.0, (0,)), ('b', 600.0, (0,))]
    """
    rule = "must be a number of jobs, at least 0, or None"
    require(quiet is None or 0 <= number_of(quiet) < inf, "quiet", quiet, rule)
    require(number_of(largest) >= 0, "largest", largest, "must be at least 0 GPUs")
    require(number_of(threshold) >= 0, "threshold", threshold, "must be at least 0")
    require(0 < number_of(ratio) < inf, "ratio", ratio, "must be a number above 0")
    sound = profilers is None or (isinstance(profilers, int) and number_of(profilers) >= 0)
    require(sound, "profilers", profilers, "must be a whole number, at least 0, or None")
    require(0 < number_of(profiling) < inf, "profiling", profiling, "must be a number of seconds above 0")
    limit = QUIET * state.cluster.gpus / GPUS if quiet is None else quiet
    profiler = Profiler(state, profilers, seconds=profiling, largest=largest, charged=not as_published)
    forecast = _Forecast(predictor_from(predictions), scorer_from(scores), threshold, ratio)
    share = largest if state.share_limit > 1 else 0
    return _Lucid(state, profiler, load_from(load, limit), forecast, share, exact=exact, spread=spread)


class _Forecast:
    """Predictions for jobs and for pairs of jobs, with parameters as in `lucid`."""

    def __init__(self, predictor: DurationPredictor, scorer: Scorer, threshold: int, ratio: float) -> None:
        self._predictor, self._scorer = predictor, scorer
        self._threshold, self._ratio = threshold, ratio
        self._seconds: dict[int, float] = {}  # predicted, of the jobs that are there
        self._pairs = Pairs()

    def update(self, state: State) -> None:
        """Process the events since the last decision."""
        for job in state.completed:
            self._seconds.pop(job, None)
        self._predictor.learn(state, state.completed)
        if state.share_limit > 1:
            self._scorer.see(state, state.arrived)

    def key(self, state: State, job: int) -> float:
        """Return a job's predicted GPU time, in GPU-seconds, which is fixed at the first call."""
        if job not in self._seconds:
            self._seconds[job] = self._predictor.of(state, job)
        return self._seconds[job] * state.jobs[job].gpus

    def suit(self, state: State, job: int, partner: int) -> bool:
        """Check whether a waiting job may share with a partner, given their GPU times and total score."""
        if self.key(state, job) > self._ratio * self.key(state, partner):
            return False
        return self._scorer.of(state, job, partner) <= self._threshold

    def saved(self, state: State, job: int, partner: int, gpus: tuple[int, ...]) -> Any:
        """Return the seconds of completion time that sharing is predicted to save, compared with waiting."""
        pair = self._pairs.of(state, job, partner, gpus)[0].pair
        wrong = [self._wrong(state, each) for each in (partner, job)]
        if wrong != [1, 1]:
            left = type(state.now)(pair.remaining) * wrong[0], pair.seconds * wrong[1]
            pair = Pair(*left, slowdown_running=pair.slowdown_running, slowdown_new=pair.slowdown_new)
        return pair.saved

    def _wrong(self, state: State, job: int) -> Any:
        """Return the ratio of a job's predicted duration to its true duration."""
        return type(state.now)(self._seconds[job]) / type(state.now)(state.jobs[job].duration)


class _Lucid:
    def __init__(
        self,
        state: State,
        profiler: Profiler,
        load: Load,
        forecast: _Forecast,
        largest: int,
        *,
        exact: bool,
        spread: bool,
    ) -> None:
        self.preemptive = profiler.stops
        self._profiler, self._load, self._forecast = profiler, load, forecast
        self._largest, self._exact, self._spread = largest, exact, spread
        others = frozenset(range(len(state.cluster.machines))) - profiler.machines
        self._places = [FewestMachines(state, others), FewestMachines(state)]  # of which the first will do
        self._turns = Turns()
        self._alone: dict[int, list[int]] = {}  # jobs that may get a partner, by their number of GPUs

    def decide(self, state: State) -> Iterable[Action]:
        self._forecast.update(state)
        self._load.arrive(len(state.arrived), state.now)
        yield from self._profiler.decide(state, (*state.evicted, *state.arrived))
        for job in self._profiler.released:
            self._turns.add(Turn(self._forecast.key(state, job), 0, job), need_of(state.jobs[job]))
        if not self._turns:
            return
        for places in self._places:
            places.look(state)
        if not self._load.is_busy(state.now):
            yield from self._in_turn(state, skip=False)
        else:
            self._find_lone_jobs(state)
            yield from self._in_turn(state, share=not self._exact)
            if self._exact:
                yield from self._in_pairs(state)
        if self._turns and (time := self._load.next_busy(state.now)) is not None:
            yield Wake(time)

    def _find_lone_jobs(self, state: State) -> None:
        machine_of, profiling = state.cluster.machine_of, self._profiler.machines
        self._alone.clear()
        for job, count in state.running.items() if self._largest else ():
            gpu = state.placement(job)[0]
            if len(state.users(gpu)) == 1 and machine_of[gpu] not in profiling:
                self._alone.setdefault(count, []).append(job)

    def _in_turn(self, state: State, *, share: bool = False, skip: bool = True) -> Iterator[Action]:
        """Start jobs in ascending order of key, beside a partner if they may share, or else on free GPUs."""
        full: set[Need] = set()  # needs for which too few GPUs are free

        def is_open(need: Any) -> bool:
            return need not in full or (share and self._may_share(need))

        for turn, need in self._turns.walk(is_open):
            start = self._beside(state, turn.job) if share and self._may_share(need) else None
            if start is None and need not in full:
                start = self._on_free(state, turn.job, need)
                if start is None:
                    full.add(need)
            if start is not None:
                self._turns.remove(turn, need)
                yield start
            elif not skip:
                return

    def _may_share(self, need: Need) -> bool:
        return need.gpus <= self._largest and bool(self._alone.get(need.gpus))

    def _beside(self, state: State, job: int) -> Start | None:
        """Return the start of a job beside its first suitable partner, or None if there is none."""
        for partner in self._partners(state, job):
            if self._forecast.suit(state, job, partner):
                return self._join(state, job, partner)
        return None

    def _in_pairs(self, state: State) -> Iterator[Action]:
        """Start remaining jobs beside partners, matched so as to save the most time."""
        found: dict[int, dict[int, Any]] = {}
        turns = list(self._turns.walk(self._may_share))
        for turn, _ in turns:
            own = found[turn.job] = {}
            for partner in self._partners(state, turn.job):
                saved = self._forecast.saved(state, turn.job, partner, state.placement(partner))
                if saved > 0:
                    own[partner] = saved
        chosen = assign_partners({job: own for job, own in found.items() if own})
        for turn, need in turns:
            if turn.job in chosen:
                self._turns.remove(turn, need)
                yield self._join(state, turn.job, chosen[turn.job])

    def _partners(self, state: State, job: int) -> Iterator[int]:
        """Yield the jobs that run alone on GPUs that suit a job: in number, type and remaining memory."""
        item = state.jobs[job]
        for partner in self._alone.get(item.gpus, ()):
            gpus = state.placement(partner)
            if fits(item, "", memory_left(state, gpus)) and len(suitable(state, item, gpus)) == item.gpus:
                yield partner

    def _join(self, state: State, job: int, partner: int) -> Start:
        gpus = state.placement(partner)
        self._alone[len(gpus)].remove(partner)
        return Start(job, gpus)

    def _on_free(self, state: State, job: int, need: Need) -> Start | None:
        """Return the start of a job on free GPUs, avoiding the profiler's GPUs if possible, or None."""
        places = next((places for places in self._places if places.could(need)), None)
        if places is None:  # the cluster is plain, or the job is one that runs on other GPUs than it demands
            return on_free(state, job)
        gpus = places.nearest(need) if self._spread else places.find(need)
        if gpus is None:
            return None
        for each in self._places:
            each.take(gpus)
        if need.gpus <= self._largest:
            self._alone.setdefault(need.gpus, []).append(job)
        return Start(job, gpus)
