"""Trainees: the adaptive jobs of a run, whose progress depends on where their GPUs are.

The engine updates them. Policies can see them but cannot change them.
"""

from gsopt.scenario.adaptive.trainee import Trainee
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.job import LEAST
from gsopt.scenario.scenario import Scenario
from gsopt.simulation.plan import Held
from gsopt.simulation.policy import Allocation
from gsopt.simulation.shapes import Shapes


class Trainees(dict[int, Trainee]):
    """The trainees of a run by job number, from their release on."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__()
        self._scenario = scenario
        self._jobs = scenario.workload.jobs
        self.shapes = Shapes(scenario.cluster)

    def release(self, job: int, now: float) -> None:
        """Add a released job if it is adaptive."""
        item = self._jobs[job]
        application = self._scenario.application(item)
        if application is not None:
            self[job] = Trainee(application, self._scenario.agents, item.batch_size, now)

    def place(self, job: int, held: Held, now: float, works_from: float, slowdown: float) -> None:
        """Start a job on its GPUs."""
        shape, batch = self.shapes.of(held.gpus), self._jobs[job].batch_in(held.mode)
        self[job].place(shape, now, works_from, slowdown=slowdown, batch_size=batch)

    def stop(self, job: int, now: float) -> None:
        """Stop a job."""
        self[job].place((), now, now)

    def slow(self, job: int, slowdown: float, now: float) -> None:
        """Change the slowdown of a job by its partners."""
        self[job].slow(slowdown, now)

    def lose(self, job: int, share: float, now: float) -> float:
        """Take back a share of a job's work, at most the work done so far, and return the remaining work."""
        self[job].lose(min(share, 1.0), now)
        return self._work_left(job)

    def left(self, job: int, now: float) -> float:
        """Return the remaining work at a time, which must not be before that of the last call."""
        self[job].advance(now)
        return self._work_left(job)

    def is_done(self, job: int, now: float) -> bool:
        """Check whether a job is complete."""
        self[job].advance(now)
        return self[job].completed_at is not None

    def next_change(self, job: int) -> float:
        """Return the time at which a running job next completes or tunes itself."""
        return self[job].next_change()

    def view(self, job: int, now: float) -> TraineeView | None:
        """Return the view of a job if it is adaptive."""
        if job not in self:
            return None
        self[job].advance(now)
        return TraineeView(self[job])

    def rate(self, job: int, gpus: Allocation, tier: str, mode: str, now: float) -> float:
        """Return the current speed of a job that shares no GPU.

        Its GPUs are given by number, or as a number of GPUs joined by a tier.
        """
        item, trainee = self._jobs[job], self[job]
        shape = self.shapes.closest(gpus, tier) if isinstance(gpus, int) else self.shapes.of(gpus)
        trainee.advance(now)
        return item.duration * trainee.rate(shape, item.batch_in(mode))

    def _work_left(self, job: int) -> float:
        """Return the remaining work, which stays close to 0 while a job waits for the end of its last epoch."""
        left = self._jobs[job].duration * (1.0 - self[job].share)
        return left if self[job].completed_at is not None else max(left, LEAST)
