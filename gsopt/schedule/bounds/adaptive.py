"""Adaptive: the work of adaptive jobs that no placement, batch or epoch can avoid, for bounds to count."""

from gsopt.core.numbers.tolerances import TERM, ULPS
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.work import options

#: Most seconds, and largest share of its work, that an epoch saves by ending in whole seconds: 1 s of work
#: remains at least, and 1.5 s become 2.
_ROUNDED, _ROUNDED_SHARE = 0.5, 1 / 3


def on_highest_speeds(scenario: Scenario) -> Scenario:
    """Return a scenario without applications in which no job is slower than an adaptive job can ever be.

    The speed of an adaptive job depends on the placement, the batch and the epoch. In the result it has so much
    less work that on every number of GPUs and in every mode its menu makes it at least as fast as the highest
    of these speeds. Where epochs end in whole seconds, a job saves up to half a second of each: what it would
    do in that time at its highest speed, but at most a third of its work. Hence every schedule of the given
    scenario has time for all work of the result, and bounds of the result hold for it. A scenario without
    applications is returned as it is.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Workload
    >>> given = Scenario(workload=Workload(jobs=[]), cluster=Cluster.plain(4))
    >>> on_highest_speeds(given) is given
    True
    """
    if not scenario.applications:
        return scenario

    rates = _Rates(scenario)
    freed = (
        _freed(job, rates) if job.model in scenario.applications else job for job in scenario.workload.jobs
    )
    workload = scenario.workload.model_copy(update={"jobs": tuple(freed)})
    return scenario.model_copy(update={"workload": workload, "applications": {}})


class _Rates:
    """The largest shares of their work that adaptive jobs do in a second; each is computed once."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._largest = max((machine.gpus for machine in scenario.cluster.machines), default=None)
        self._counts_samples = scenario.agents.progress == "samples"
        self._known: dict[tuple[str, int | None, int, int | None], float] = {}
        self._courses: dict[tuple[str, int | None], Course] = {}

    def of(self, job: Job, mode: str, count: int) -> float:
        """Return the largest share on a number of GPUs in a mode; 0 on more GPUs than there are."""
        if count > self.scenario.cluster.gpus:
            return 0.0
        users_batch = job.batch_size if self._counts_samples else None
        kind = (job.model, users_batch, count, job.batch_in(mode))
        if kind not in self._known:
            course, batch = self._course(job.model, users_batch), job.batch_in(mode)
            self._known[kind] = course.highest_rate(count, batch, largest=self._largest)
        return self._known[kind]

    def _course(self, model: str, users_batch: int | None) -> Course:
        kind = (model, users_batch)
        if kind not in self._courses:
            scenario = self.scenario
            self._courses[kind] = Course(scenario.applications[model], scenario.agents, users_batch)
        return self._courses[kind]


def _freed(job: Job, rates: _Rates) -> Job:
    """Return a job that is on no number of GPUs slower than the adaptive job can be."""
    speeds = [(rates.of(job, mode, count), speed) for mode, count, speed in options(job)]
    faster = max(rate * job.duration / speed for rate, speed in speeds)
    if faster == 0:
        return job  # it runs nowhere
    saved = 0.0
    if rates.scenario.agents.whole_seconds:
        epochs = rates.scenario.applications[job.model].epochs
        saved = min(_ROUNDED * epochs * max(rate for rate, _ in speeds), _ROUNDED_SHARE)
    modes = tuple(mode.model_copy(update={"tunes": False}) for mode in job.modes)
    seconds = job.duration * (1 - saved) / faster * (1 - ULPS * TERM)  # no longer than without rounding
    return job.model_copy(update={"duration": seconds, "modes": modes})
