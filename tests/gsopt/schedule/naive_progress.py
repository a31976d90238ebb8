"""Naive progress: when adaptive jobs complete, from what a schedule says and the definitions alone.

A job works at constant speed in pieces. A piece ends with its epoch, when the job tunes its batch, when it has
other GPUs, when it gets slower or faster, and when it loses work.
"""

from math import floor, inf

from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.fitting import Measurement, fit
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from tests.gsopt.schedule.naive import History, capability, home, machine_at
from tests.gsopt.schedule.naive_training import Division, Training


class Progress:
    """What an adaptive job does in a schedule, by its segments and those beside it.

    Attributes
    ----------
    completed_at
        When it is complete; infinity if it is not.
    """

    def __init__(self, schedule: Schedule, scenario: Scenario, job: Job) -> None:
        self.scenario, self.job, self.agents = scenario, job, scenario.agents
        self.application = scenario.applications[job.model]
        self.training = Training(self.application, scenario.agents, job.batch_size or 1)
        self.goals = [float(self.training.goal(epoch)) for epoch in range(self.application.epochs + 1)]
        self.models = {each.name: each.model for each in scenario.workload.jobs}
        self.segments = sorted(schedule.timed(float).segments, key=lambda each: each.start)
        self.rows = History(schedule, scenario).rows
        self.completed_at = inf
        self.epoch, self.done, self.speed = 0, 0.0, 0.0
        self.written = 0.0  # progress in the checkpoint of the last start
        self.begin, self.end, self.ends_epoch = 0.0, inf, False
        self.held: Segment | None = None  # what the job has now
        self.works_from, self.ran, self.slower = 0.0, False, 1.0
        self.shape: tuple[int, ...] = ()
        self.division: Division = (0, 0)
        self.seen: dict[tuple[int, int, int], Measurement] = {}
        self.gradient: Gradient | None = None
        self.divided_by: tuple[int, Gradient | None] = (0, None)  # what it knew then
        for now in self._instants():
            self._work_until(now)
            if self.completed_at == inf:
                self._lose(now)
                self._change(now)
        self._work_until(inf)

    def _instants(self) -> list[float]:
        times = {float(time) for each in self.segments for time in (each.start, each.end)}
        return sorted(times | {float(row.now) for row in self.rows})

    # What happens to it

    def _lose(self, now: float) -> None:
        """Lose work with a machine that leaves without notice."""
        own = self.held
        for row in (row for row in self.rows if float(row.now) == now):
            for event in row.left if own is not None and now > own.start else ():
                assert own is not None
                machines = {machine_at(self.scenario.cluster, gpu).name for gpu in own.placement}
                if machines & set(event.servers) and max(own.placement) < row.limit:
                    self._take_back(event.lost_work / self.job.duration if self.job.checkpoints else 1.0, now)
                    self.written = min(self.written, self.done)
                    return

    def _take_back(self, share: float, now: float) -> None:
        self._stop(now)
        step = self.scenario.checkpoint_interval / self.job.duration * self.goals[-1]
        if step:
            self.done = max(floor(self.done / step * (1 + SUM)) * step, self.written)
        self.done = max(self.done - share * self.goals[-1], 0.0)
        while self.goals[self.epoch] > self.done:
            self.epoch -= 1
        if self.held is not None:
            self._work(now)

    def _change(self, now: float) -> None:
        """Take what the schedule gives from now on."""
        there = [each for each in self.segments if each.start <= now < each.end]
        own = next((each for each in there if each.job == self.job.name), None)
        before, self.held = self.held, own
        if own is None:
            if before is not None:
                self._stop(now)
            return
        slower = self._slowdown(own, there)
        if before is None:
            self._start(now)
        elif self._is_anew(before, own):
            if self._pays(before, own):
                self.works_from = max(self.works_from, now + self.scenario.overhead(self.job).resize)
            self._stop(now)
            self._divide()
        elif slower == self.slower:
            return
        self._stop(now)
        if before is None or self._is_anew(before, own):
            self.written = self.done
        self.slower = slower
        self._work(now)

    def _start(self, now: float) -> None:
        overhead = self.scenario.overhead(self.job)
        self.works_from = now + overhead.start + (overhead.stop if self.ran else 0.0)
        if self.ran and not self.job.checkpoints:
            self.epoch, self.done = 0, 0.0
        self.ran = True
        self._divide()

    def _slowdown(self, own: Segment, there: list[Segment]) -> float:
        """Return how much slower it is for those on its GPUs, and for the types of these."""
        table, default = self.scenario.speed.interference, self.scenario.speed.default_interference
        beside = [
            each.job for each in there if each.job != own.job and set(each.placement) & set(own.placement)
        ]
        worst = [table.get(self.job.model, {}).get(self.models[name], default) for name in beside]
        return float(max([1.0, *worst]) / capability(self.scenario, tuple(own.placement)))

    def _is_anew(self, before: Segment, own: Segment) -> bool:
        if self.scenario.restarts == "change":
            return (set(before.placement), before.mode) != (set(own.placement), own.mode)
        return self._way(before) != self._way(own)

    def _pays(self, before: Segment, own: Segment) -> bool:
        if self.scenario.restarts == "machines":
            return len(self._way(before)[0]) != len(self._way(own)[0])
        return self.scenario.restarts == "change" or self._way(before)[0] != self._way(own)[0]

    def _way(self, own: Segment) -> tuple[tuple[int, ...], str]:
        """Return the shape of its GPUs, and the mode."""
        homes = [home(self.scenario.cluster, gpu) for gpu in own.placement]
        return tuple(homes.count(each) for each in sorted(set(homes))), own.mode

    # What it does

    def _divide(self) -> None:
        """Choose and divide the batch."""
        assert self.held is not None
        shape, mode = self._way(self.held)
        self.divided_by = (len(self.seen), self.gradient)
        if not self.job.tunes_in(mode) or self.gradient is None:
            self.division = self.training.divide(self.job.batch_in(mode), shape)
            return
        gpus, limits = sum(shape), self.application.limits
        limits = limits.model_copy(update={"most_local": self.training.most_local(shape)})
        model = fit(list(self.seen.values()), tolerance=self.agents.tolerance)
        best = model.goodput(len(shape), gpus, self.gradient, limits)
        local = min(int(best.local), limits.most_batch // (gpus * (int(best.steps) + 1)))
        self.division = local, int(best.steps)

    def _work(self, now: float) -> None:
        """Begin a piece."""
        assert self.held is not None
        self.begin = max(now, self.works_from)
        self.shape = self._way(self.held)[0]
        rate = self.training.rate(self.shape, self.division, self.epoch)
        assert rate is not None
        self.speed = float(rate) / self.slower
        seconds = (self.goals[self.epoch + 1] - self.done) / self.speed
        self.end, interval = self.begin + seconds, self.agents.interval
        if self.agents.whole_seconds:
            self.end = self.begin + max(round(round(seconds, 6)), 1)
        origin = float(self.scenario.clock.origin)
        tuned = origin + (floor((self.begin - origin) / interval) + 1) * interval
        self.ends_epoch, self.end = self.end <= tuned, min(self.end, tuned)

    def _stop(self, now: float) -> None:
        """End a piece; what it saw in it, the job knows from then on."""
        if self.end < inf and now > self.begin:
            self.done = min(self.done + self.speed * (now - self.begin), self.goals[self.epoch + 1])
            self._see()
        self.end = inf

    def _see(self) -> None:
        (local, steps), shape = self.division, self.shape
        gpus = sum(shape)
        samples = gpus * local * (steps + 1)
        self.gradient = self.application.gradient(samples, self.epoch)
        step, sync = self.application.step_time(shape, local) or (0.0, 0.0)
        key = (len(shape), gpus, local)
        self.seen.setdefault(key, Measurement(*key, step, sync))

    def _work_until(self, until: float) -> None:
        """Go through the pieces that end by a time."""
        while self.end <= until * (1 + SUM) and self.end < inf:
            now, ends_epoch = self.end, self.ends_epoch
            self._stop(now)
            if ends_epoch:
                self.epoch, self.done = self.epoch + 1, self.goals[self.epoch + 1]
            if self.epoch == self.application.epochs:
                self.completed_at = now
                return
            if self.divided_by != (len(self.seen), self.gradient):
                self._divide()
            self._work(now)


def progress_in(schedule: Schedule, scenario: Scenario) -> dict[str, Progress]:
    """Return the progress of all adaptive jobs by name."""
    jobs = [job for job in scenario.workload.jobs if job.model in scenario.applications]
    return {job.name: Progress(schedule, scenario, job) for job in jobs}
