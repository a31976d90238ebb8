"""Trainees: the adaptive jobs of a run, whose progress depends on where their GPUs are.

The engine updates them. Policies can see but not change them.
"""

from collections.abc import Sequence

from gsopt.core.errors import InvalidInput
from gsopt.scenario.adaptive.trainee import Trainee
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.job import LEAST
from gsopt.scenario.scenario import Scenario
from gsopt.simulation.plan import Held
from gsopt.simulation.policy import Allocation
from gsopt.simulation.shapes import Shapes


class Trainees(dict[int, Trainee]):
    """The adaptive jobs (trainees) of a run, keyed by job number. A job is added when it is released."""

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
        """Start or restart a job on the GPUs that it holds."""
        shape, batch = self.shapes.of(held.gpus), self._jobs[job].batch_in(held.mode)
        gpu_type = self._type_of(self[job], held.gpus)
        self[job].place(shape, now, works_from, slowdown=slowdown, batch_size=batch, gpu_type=gpu_type)

    def changes_type(self, job: int, before: Held, after: Held) -> bool:
        """Check whether a job moves to GPUs of another type; False if types do not affect its speed."""
        if job not in self or not self[job].application.gpu_types:
            return False
        return self.shapes.types(before.gpus) != self.shapes.types(after.gpus)

    def stop(self, job: int, now: float) -> None:
        """Stop a job, which then makes no progress."""
        self[job].place((), now, now)

    def slow(self, job: int, slowdown: float, now: float) -> None:
        """Set the slowdown of a job due to its partners and GPU types."""
        self[job].slow(slowdown, now)

    def lose(self, job: int, share: float, now: float) -> float:
        """Undo a share of a job's work, at most all work done so far, and return the remaining work."""
        self[job].lose(min(share, 1.0), now)
        return self._work_left(job)

    def left(self, job: int, now: float) -> float:
        """Return the remaining work at the given time, which must not be earlier than in the last call."""
        self[job].advance(now)
        return self._work_left(job)

    def is_done(self, job: int, now: float) -> bool:
        """Check whether a job is complete at the given time."""
        self[job].advance(now)
        return self[job].completed_at is not None

    def next_change(self, job: int) -> float:
        """Return the next time at which a job completes or tunes its batch; infinity if it is not running."""
        return self[job].next_change()

    def view(self, job: int, now: float) -> TraineeView | None:
        """Return what a policy can see of a job, or None if the job is not adaptive."""
        if job not in self:
            return None
        self[job].advance(now)
        return TraineeView(self[job])

    def rate(self, job: int, gpus: Allocation, tier: str, mode: str, now: float) -> float:
        """Return the speed that a job would have now if it shared no GPU.

        Its GPUs are given by index, or as a number of GPUs connected by a tier. In the latter case, they are
        all of one type: of the types that the mode allows and of which the cluster has enough GPUs, the one on
        which the job is fastest. The speed is 0 if there is no such type. Types may be mixed only if the mode
        requires none and the speed does not depend on them.
        """
        item, trainee = self._jobs[job], self[job]
        batch = item.batch_in(mode)
        trainee.advance(now)
        if not isinstance(gpus, int):
            shape, gpu_type = self.shapes.of(gpus), self._type_of(trainee, gpus)
            return item.duration * trainee.rate(shape, batch, gpu_type)
        required = item.gpu_type_in(mode)
        if not required and not trainee.application.gpu_types:
            return item.duration * trainee.rate(self.shapes.closest(gpus, tier), batch)
        kinds = [kind for kind in self.shapes.types_with(gpus) if required in ("", kind)]
        rates = (trainee.rate(self.shapes.closest(gpus, tier, kind), batch, kind) for kind in kinds)
        return item.duration * max(rates, default=0.0)

    def _type_of(self, trainee: Trainee, gpus: Sequence[int]) -> str:
        """Return the type of a job's GPUs; raise `InvalidInput` if there are several and types matter."""
        types = self.shapes.types(gpus)
        if len(types) > 1 and trainee.application.gpu_types:
            rule = f"must be of one type, as {trainee.application.name} was measured on each"
            raise InvalidInput("gpus", f"of the types {' and '.join(types)}", rule)
        return types[0]

    def _work_left(self, job: int) -> float:
        """Return the remaining work, which stays above 0 while a job waits for its last epoch to end."""
        left = self._jobs[job].duration * (1.0 - self[job].share)
        return left if self[job].completed_at is not None else max(left, LEAST)
