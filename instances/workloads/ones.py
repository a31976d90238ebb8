"""ONES: training jobs with elastic batch sizes, drawn from the paper's 50 tasks."""

from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from math import fsum, log
from random import Random
from typing import Literal, NamedTuple, get_args

from gsopt.core.errors import require
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.training import Training
from instances.arguments import at_least
from instances.workloads.ones_tasks import TASKS, TableTask, TrainedModel

#: Epochs for which a job continues after it reaches its target accuracy. Source: ONES, section 4.1.
_AFTER = 10

#: Numbers of GPUs that users request, and the ratio in which they occur. These are gsopt's own.
_DEMANDS, _SHARES = (1, 2, 4), (5, 3, 2)

#: Divisors of the largest batch of one GPU that lead to further batch sizes.
_PARTS = (2, 4, 8)

#: Largest number of GPUs of a job: the whole cluster of the paper.
_WIDEST = 64

#: Smallest and largest load; beyond them, release dates would be unreasonable.
_LEAST_LOAD, _MOST_LOAD = 1e-6, 1e6

_Convergence = Literal["measured", "equal"]
_Widths = Literal["equal", "drawn"]


def ones(
    *,
    jobs: int = 150,
    gpus: int = 64,
    load: float = 0.9,
    largest: int = 16,
    convergence: _Convergence = "measured",
    widths: _Widths = "equal",
    seed: int = 0,
) -> Workload:
    """Generate ONES's training jobs, with elastic batch sizes and Poisson arrivals.

    Each job is one of the 50 tasks in the paper's Table 2, and scales to w GPUs (see `widths`). Each of its
    modes is a batch size: b, 2 b, ..., w b, or b divided by 2, 4 or 8, where b is the model's largest batch
    size on one GPU. A batch of B samples may run on ceil(B / b) to w GPUs, but on at most B. The default mode
    has batch size b.

    The paper gives the tasks, and the ten epochs for which a job continues after it reaches its target.
    Everything else is gsopt's own. Speeds, and the number of samples for each batch size, are those of
    `instances.workloads.ones_tasks`. The number of epochs to the target is drawn uniformly from the model's
    range; the ten epochs are added. Users request 1, 2 and 4 GPUs in the ratio 5:3:2. The loss begins at the
    logarithm of the number of classes and ends between a tenth and a third of that. The accuracy at the end is
    within 0.05 of the model's.

    Parameters
    ----------
    jobs, gpus
        Number of jobs, and number of GPUs of the cluster.
    load
        Expected GPU-seconds submitted per second and GPU, between 1e-6 and 1e6. The GPU-seconds of a job are
        its running time on one GPU with batch size b.
    largest
        Largest number of GPUs of a job, between 1 and 64.
    convergence
        Number of samples that larger batches need. ``measured``: more than smaller batches, as in published
        measurements. ``equal``: as many as smaller batches, as ONES assumes (section 3.3.2).
    widths
        Number w of GPUs to which a job scales. ``equal``: the smaller of `largest` and `gpus`. ``drawn``: a
        power of two up to this number, drawn uniformly for each job. Users request no more than w GPUs.
    seed
        Seed of all random draws. The same tasks and targets are drawn for every value of `load`, `convergence`
        and `widths`.

    Examples
    --------
    >>> workload = ones(jobs=20, gpus=16, seed=1)
    >>> job = workload.jobs[0]
    >>> job.name, job.batch_size, job.gpus, round(job.duration), len(job.modes)
    ('j1-imagenet-resnet50-14k', 128, 2, 959, 18)
    >>> double = job.modes[3]
    >>> double.batch_size, double.menu[0][0], round(job.throughput(2, double.name) / job.throughput(2), 2)
    (256, 2, 1.05)
    """
    at_least(1, jobs=jobs, gpus=gpus)
    require(1 <= largest <= _WIDEST, "largest", largest, f"must be between 1 and {_WIDEST}")
    require(widths in get_args(_Widths), "widths", widths, "must be equal or drawn")
    require(convergence in get_args(_Convergence), "convergence", convergence, "must be measured or equal")
    require(_LEAST_LOAD <= load <= _MOST_LOAD, "load", load, "must be between 1e-6 and 1e6")
    random = Random(seed)
    drawn = [_draw(random) for _ in range(jobs)]
    rate = load * gpus / _mean_work()
    arrivals = list(accumulate((random.expovariate(1.0) for _ in drawn[1:]), initial=0.0))
    most = min(gpus, largest)
    # Last, so that jobs and arrivals are those of equal widths.
    widest = [_width(random, most) for _ in drawn] if widths == "drawn" else [most] * jobs
    return Workload(
        name=f"ones-{jobs}",
        source=(
            f"{jobs} Poisson arrivals at load {load:g} of {gpus} GPUs, tasks of ONES' Table 2 with speeds of "
            f"our own and {convergence} convergence{', widths drawn' * (widths == 'drawn')}; seed {seed}"
        ),
        jobs=tuple(
            _job(number, each, width, convergence, round(arrival / rate, 3))
            for number, (arrival, each, width) in enumerate(zip(arrivals, drawn, widest, strict=True), start=1)
        ),
    )


class _DrawnTask(NamedTuple):
    """The task of a job and its random properties."""

    task: TableTask
    demand: int
    epochs: float
    loss: float
    accuracy: float
    curvature: float


def _draw(random: Random) -> _DrawnTask:
    task = random.choice(TASKS)
    low, high = task.model.epochs
    return _DrawnTask(
        task=task,
        demand=random.choices(_DEMANDS, _SHARES)[0],
        epochs=random.uniform(low, high) + _AFTER,
        loss=random.uniform(0.1, 1 / 3),
        accuracy=task.model.accuracy + random.uniform(-0.05, 0.05),
        curvature=random.uniform(2.0, 5.0),
    )


def _width(random: Random, most: int) -> int:
    """Return a random power of two that is at most `most`."""
    return 1 << random.randrange(most.bit_length())


def _job(number: int, drawn: _DrawnTask, most: int, convergence: _Convergence, release_date: float) -> Job:
    task, model = drawn.task, drawn.task.model
    demand = min(drawn.demand, most)
    samples = drawn.epochs * task.samples
    initial = log(task.classes)
    ways = _ways(model, demand, most, convergence)
    return Job(
        name=f"j{number}-{task.name}",
        release_date=release_date,
        duration=samples / model.throughput(model.local, demand),
        gpus=demand,
        menu=_menu(model, model.local, demand, most, convergence),
        model=model.name,
        batch_size=model.local,
        modes=tuple(
            mode.model_copy(update={"samples": samples * _penalty(model, size, convergence)})
            for size, mode in ways
        ),
        training=Training(
            epoch=task.samples,
            samples=samples,
            initial_loss=initial,
            loss=initial * drawn.loss,
            accuracy=drawn.accuracy,
            curvature=drawn.curvature,
        ),
    )


@cache
def _ways(
    model: TrainedModel, demand: int, most: int, convergence: _Convergence
) -> tuple[tuple[int, Mode], ...]:
    """Return every batch size except the largest one of a single GPU, each with its mode."""
    sizes = [*(model.local // part for part in reversed(_PARTS)), *_multiples(model, most)]
    return tuple(
        (size, Mode(name=f"batch {size}", menu=_menu(model, size, demand, most, convergence), batch_size=size))
        for size in sizes
    )


def _multiples(model: TrainedModel, most: int) -> Iterator[int]:
    return (model.local * times for times in range(2, most + 1))


@cache
def _menu(
    model: TrainedModel, size: int, demand: int, most: int, convergence: _Convergence
) -> tuple[tuple[int, float], ...]:
    """Return a batch size's speeds, relative to the largest single-GPU batch size on the demanded GPUs."""
    unit = model.throughput(model.local, demand)
    penalty = _penalty(model, size, convergence)
    counts = range(-(-size // model.local), min(most, size) + 1)
    return tuple((count, model.throughput(size, count) / (penalty * unit)) for count in counts)


def _penalty(model: TrainedModel, size: int, convergence: _Convergence) -> float:
    return model.penalty(size) if convergence == "measured" else 1.0


@cache
def _mean_work() -> float:
    """Return the expected running time in seconds of a job on one GPU with its largest batch."""
    return fsum(_work(task) for task in TASKS) / len(TASKS)


def _work(task: TableTask) -> float:
    model = task.model
    epochs = sum(model.epochs) / 2 + _AFTER
    return epochs * task.samples / model.throughput(model.local, 1)
