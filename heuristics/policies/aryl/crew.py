"""Crew: the workers of a running job, base and flexible, by machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from heuristics.policies.aryl.epoch import Pool
from heuristics.policies.aryl.forms import Form

#: Number of workers on each machine, by the machine's number.
Workers = Mapping[int, int]


@dataclass(eq=False, slots=True)
class Crew:
    """The workers of a job that runs; `Books` changes it.

    Attributes
    ----------
    job
        Number of the job.
    form
        How it runs.
    base
        Its base workers on each machine; they stay as long as it runs.
    flexible
        Its flexible workers on each machine.
    pool
        Where further flexible workers may stand.
    speeds
        As of the form, but with the GPUs that it would get there.
    gpus
        GPUs that it holds on each machine, by number; as was last booked.
    extra
        Number of its flexible workers.
    """

    job: int
    form: Form
    base: dict[int, int]
    flexible: dict[int, int] = field(default_factory=dict)
    pool: Pool = "training"
    speeds: tuple[float, ...] = ()
    gpus: dict[int, tuple[int, ...]] = field(default_factory=dict)
    extra: int = 0

    @property
    def held(self) -> tuple[int, ...]:
        """The GPUs that it holds, by number."""
        return tuple(sorted(gpu for gpus in self.gpus.values() for gpu in gpus))

    @property
    def wanted(self) -> dict[int, int]:
        """Number of GPUs of its workers on each machine."""
        size, flexible = self.form.worker_gpus, self.flexible
        counts = {machine: workers * size for machine, workers in self.base.items()}
        for machine, workers in flexible.items():
            counts[machine] = counts.get(machine, 0) + workers * size
        return counts

    def allowed(self, extra: int) -> int:
        """Return the largest allowed number of flexible workers that is at most so many."""
        extra = min(extra, len(self.speeds) - 1)
        while not self.speeds[extra]:
            extra -= 1
        return extra
