"""Kinds: a random choice of the jobs that are elastic, heterogeneous, or able to run on either cluster.

The clusters are the training cluster and the inference cluster of Aryl.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import gcd
from random import Random
from typing import Literal

from gsopt.core.errors import require
from gsopt.scenario.job import Job, Mode
from instances.arguments import at_least, fractions

#: GPU types of the training and of the inference cluster. Source: Aryl, section 2.1.
TRAINING, INFERENCE = "V100", "T4"

#: The mode in which a job runs on the inference cluster.
INFERENCE_MODE = "inference"

#: Smallest number of GPUs of a large job. If 5 % of a scenario's jobs are drawn from its large jobs, they take
#: about as much of the GPU time as the elastic jobs in the paper, 36 %.
LARGE = 4

#: Share of its speed that a job loses with each worker beyond mid-range. Source: Aryl, section 7.2.
_LOST = 0.1

Menu = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class KindShares:
    """The share of jobs of each kind, and the properties of each kind.

    Attributes
    ----------
    elastic
        Share of the jobs with a variable number of workers. Jobs of at least four GPUs are chosen first.
    heterogeneous
        Share of the jobs that run on any mix of GPU types.
    either
        Share of the jobs, of any size, that run on the training or the inference cluster, but not on both at
        once. Jobs that are also heterogeneous run on any mix instead.
    checkpoints
        Share of the jobs that keep their progress when they are stopped.
    reach
        ``above``: an elastic job runs on 1 to 2 times its demand. ``below``: it runs on 0.5 to 1 times its
        demand.
    worker_gpus
        GPUs per worker of an elastic job. If this does not divide the demand, the greatest common divisor of
        both is used.
    scaling
        ``linear``: the speed is proportional to the number of workers. ``imperfect``: likewise, but each worker
        beyond the middle of the range also reduces the speed by a tenth. Numbers of workers that are no faster
        than smaller numbers are then left out.
    normalised
        Number of GPUs of the inference cluster that replace one of the training cluster. With 1, a job has the
        same number of GPUs on either cluster.
    """

    elastic: float = 0.05
    heterogeneous: float = 0.0
    either: float = 0.21
    checkpoints: float = 1.0
    reach: Literal["above", "below"] = "above"
    worker_gpus: int = 2
    scaling: Literal["linear", "imperfect"] = "linear"
    normalised: int = 1

    def check(self) -> None:
        """Raise `InvalidInput` for a value that is out of range."""
        shares = ("elastic", "heterogeneous", "either", "checkpoints")
        fractions(**{name: getattr(self, name) for name in shares})
        at_least(1, worker_gpus=self.worker_gpus, normalised=self.normalised)
        require(self.reach in {"above", "below"}, "reach", self.reach, "must be above or below")
        fine = self.scaling in {"linear", "imperfect"}
        require(fine, "scaling", self.scaling, "must be linear or imperfect")

    def given(self, jobs: Sequence[Job], *, training: int, inference: int, seed: int = 0) -> tuple[Job, ...]:
        """Choose the kinds of the given rigid jobs at random, and return the jobs with their new properties.

        The kinds are drawn independently of each other. With the same seed, a larger share includes the jobs of
        every smaller share. `training` and `inference` are the numbers of GPUs of the clusters; menus contain
        no larger numbers. Without inference GPUs, all jobs run only on the training cluster.
        """
        self.check()
        random = Random(seed)
        elastic = _drawn(jobs, self.elastic, random, first=LARGE)
        mixed, either, stored = (
            _drawn(jobs, share, random) for share in (self.heterogeneous, self.either, self.checkpoints)
        )

        def kind(place: int, job: Job) -> Job:
            menu = self.menu(job.gpus, training) if place in elastic else ()
            apart = inference > 0 and place not in mixed
            return job.model_copy(
                update={
                    "menu": menu,
                    "gpu_type": TRAINING if apart or not inference else "",
                    "modes": self._modes(job, menu, inference) if apart and place in either else (),
                    "checkpoints": place in stored,
                }
            )

        return tuple(kind(place, job) for place, job in enumerate(jobs))

    def menu(self, demand: int, most: int) -> Menu:
        """Return the menu of an elastic job with a given demand, on at most `most` GPUs.

        The menu is empty if it would have only one entry, or no entry for the demand.
        """
        return _menu(demand, most, self.worker_gpus, self.reach, self.scaling)

    def _modes(self, job: Job, menu: Menu, inference: int) -> tuple[Mode, ...]:
        """Return the job's mode on the inference cluster, or an empty tuple if the job is too large for it."""
        times = self.normalised
        entries = tuple(
            (count * times, speed * times)
            for count, speed in menu or ((job.gpus, 1.0),)
            if count * times <= inference
        )
        least = min(job.gpus, *(count for count, _ in menu)) if menu else job.gpus
        return (_mode(entries),) if least * times <= inference else ()


def _drawn(jobs: Sequence[Job], share: float, random: Random, *, first: int = 0) -> frozenset[int]:
    """Return the indices of a random share of the jobs, starting with jobs of at least `first` GPUs."""
    order = random.sample(range(len(jobs)), len(jobs))
    order.sort(key=lambda place: jobs[place].gpus < first)
    return frozenset(order[: round(share * len(jobs))])


@cache
def _menu(demand: int, most: int, worker_gpus: int, reach: str, scaling: str) -> Menu:
    worker = gcd(demand, worker_gpus)
    workers = demand // worker
    base, top = (workers, 2 * workers) if reach == "above" else (-(-workers // 2), workers)
    middle = (base + top) / 2
    entries: list[tuple[int, float]] = []
    for count in range(base, min(top, most // worker) + 1):
        steps = max(0, count - int(middle)) if scaling == "imperfect" else 0
        speed = count * (1 - _LOST) ** steps
        if not entries or speed > entries[-1][1]:
            entries.append((count * worker, speed))
    own = dict(entries).get(demand)
    if own is None or len(entries) == 1:
        return ()
    return tuple((count, speed / own) for count, speed in entries)


@cache
def _mode(menu: Menu) -> Mode:
    return Mode(name=INFERENCE_MODE, gpu_type=INFERENCE, menu=menu)
