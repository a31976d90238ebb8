"""Forms: the ways to run a job, each defined by a mode, machines and a worker size."""

from collections.abc import Iterator, Mapping
from math import gcd
from typing import NamedTuple

from gsopt.scenario.job import Job
from heuristics.policies.aryl.machines import Counts, Machines, Mask
from heuristics.policies.aryl.scheduler import Pool


class Form(NamedTuple):
    """One way to run a job as workers of equal size, each on one machine.

    Attributes
    ----------
    mode
        The job's mode.
    pool
        The pool that the workers use, or ``mixed`` if the base workers may be spread over both pools.
    suits
        Whether each machine has the GPU type and the memory that the mode requires, shape (machines,).
    worker_gpus
        GPUs of each worker.
    base
        Smallest number of workers.
    speeds
        Speed with base + w workers at index w, without any slowdowns; 0 if that number is not allowed.
    """

    mode: str
    pool: Pool
    suits: Mask
    worker_gpus: int
    base: int
    speeds: tuple[float, ...]

    @property
    def is_elastic(self) -> bool:
        """Whether the job may have more than its base workers."""
        return len(self.speeds) > 1

    @property
    def base_gpus(self) -> int:
        """Number of GPUs of the base workers."""
        return self.base * self.worker_gpus


def forms_of(job: Job, machines: Machines, *, training_first: bool = False) -> tuple[Form, ...]:
    """Return the forms of a job, the preferred one first.

    There is at most one form for each pool and at most one mixed form. A mode that only runs on machines of one
    pool gives a form for that pool, and a mode that runs on machines of both pools gives only a mixed form. If
    several modes give the same kind of form, the first one counts.

    Elastic jobs prefer the inference pool (unless `training_first`), where flexible workers can be removed
    without preempting the job. Inelastic jobs prefer the training pool. The mixed form comes last.

    The worker size is the largest common divisor of the mode's GPU counts that fits on every suitable machine,
    or a smaller divisor if otherwise even empty machines could not hold the base workers.

    Source: Aryl, section 5.3 (preferences) and section 6 (heterogeneous jobs).
    """
    found: dict[Pool, Form] = {}
    for mode, menu in job.speeds.items():
        for pool, suits in _pools(job, mode, machines):
            if pool not in found and (form := _form(mode, menu, pool, suits, machines.gpus)) is not None:
                found[pool] = form
    elastic = any(form.is_elastic for form in found.values()) and not training_first
    order: tuple[Pool, ...] = ("inference", "training") if elastic else ("training", "inference")
    return tuple(found[pool] for pool in (*order, "mixed") if pool in found)


def _pools(job: Job, mode: str, machines: Machines) -> Iterator[tuple[Pool, Mask]]:
    """Yield the pool of a job's mode with the suitable machines, or nothing if no machine is suitable."""
    suits = machines.suiting(job.gpu_type_in(mode), job.memory_in(mode) or 0)
    lent = bool((suits & machines.inference).any())
    own = bool((suits & ~machines.inference).any())
    if own or lent:
        yield "mixed" if own and lent else "inference" if lent else "training", suits


def _form(mode: str, menu: Mapping[int, float], pool: Pool, suits: Mask, gpus: Counts) -> Form | None:
    """Return the form of a mode, or None if the suitable machines together have too few GPUs for it."""
    sizes: Counts = gpus[suits]
    least = min(menu)
    for worker in _divisors(gcd(*menu), int(sizes.min())):
        most = int((sizes // worker).sum())
        if least <= most * worker:
            base = least // worker
            counts = {count // worker - base: speed for count, speed in menu.items() if count <= most * worker}
            return Form(
                mode, pool, suits, worker, base, tuple(counts.get(w, 0.0) for w in range(max(counts) + 1))
            )
    return None


def _divisors(number: int, most: int) -> Iterator[int]:
    """Yield the divisors of a number up to a limit, largest first."""
    return (divisor for divisor in range(min(number, most), 0, -1) if number % divisor == 0)
