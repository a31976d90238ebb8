"""Speed: the speed of a job on its GPUs, which it may share with other jobs.

The speed of a job that is not adaptive is the one in the menu of its mode, divided by four slowdowns. These are
due to the network tier that connects its GPUs, to the jobs with which it shares GPUs, to the current phase, and
to the types of its GPUs. All slowdowns are at least 1. Hence menus are upper limits on the speed, and bounds
that use only menus are valid.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from gsopt.core.errors import InvalidInput, number_of, require, shorten
from gsopt.core.numbers.tolerances import SUM
from gsopt.core.problem import Frozen, Name, RuleBroken
from gsopt.scenario.cluster import Tier
from gsopt.scenario.job import DEFAULT_MODE, LATEST, LEAST, Job, Phase, Slowdown

#: Maximum batch size, and maximum bytes of a message, in measured samples.
_MOST_SAMPLED = 1e18

#: Exposed communication time per unit of computation time.
Penalty = Annotated[float, Field(ge=0, le=1e6)]


class TierPenalty(Frozen):
    """Exposed communication time of a model per unit of computation time, by network tier.

    Communication is exposed while GPUs wait for it, that is, when it does not overlap with computation.

    The levels machine, rack and network always have a penalty. Any other level may have one, too, in a field
    with the name of the level. A level without a penalty takes that of the next wider level that has one, or
    that of the network if there is none.

    Any name of a level is accepted here. Levels that the cluster does not have are rejected later
    (`require_levels`).

    Examples
    --------
    >>> TIER_PENALTIES["resnet50"].network
    0.38
    >>> penalty = TierPenalty(machine=0.1, rack=0.2, network=0.8, pod=0.5)
    >>> levels = ("machine", "rack", "row", "pod", "network")
    >>> [penalty.of(level, levels) for level in levels]
    [0.1, 0.2, 0.5, 0.5, 0.8]
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Penalty]

    machine: Penalty
    rack: Penalty
    network: Penalty

    @cached_property
    def named(self) -> Mapping[str, float]:
        """Penalties of all levels that have one, keyed by level."""
        return {
            Tier.MACHINE: self.machine,
            Tier.RACK: self.rack,
            Tier.NETWORK: self.network,
            **self.__pydantic_extra__,
        }

    def of(self, tier: str, levels: Sequence[str] = ()) -> float:
        """Return the penalty of a tier in a cluster whose `levels` are listed from innermost to outermost.

        Raises
        ------
        InvalidInput
            The tier has no penalty and is not one of the levels.
        """
        named = self.named
        if tier in named:
            return named[tier]
        if tier not in levels:
            rule = f"must be a tier with a penalty, or a level of the cluster: {', '.join(levels or named)}"
            raise InvalidInput("tier", shorten(str(tier)), rule)
        wider = levels[levels.index(tier) + 1 :]
        return next((named[level] for level in wider if level in named), self.network)


def require_levels(field: str, tiers: Mapping[str, TierPenalty], levels: Sequence[str]) -> None:
    """Raise `RuleBroken` if a penalty is for a level that the cluster does not have.

    The levels machine, rack and network are always allowed.

    Examples
    --------
    >>> penalty = TierPenalty(machine=0.1, rack=0.2, network=0.8, rac=0.5)
    >>> require_levels("tiers", {"vgg11": penalty}, ["machine", "rack", "network"])
    Traceback (most recent call last):
    gsopt.core.problem.RuleBroken: tiers['vgg11']: 'rac': must be for a level of the cluster: machine, \
rack, network
    """
    for model, penalty in tiers.items():
        for level in sorted(penalty.named.keys() - {*Tier, *levels}):
            rule = f"must be for a level of the cluster: {', '.join(levels)}"
            raise RuleBroken(f"{field}[{model!r}]", level, rule)


#: Communication latency divided by computation time, on 8 GPUs. Source: Dally, Table I. Using it for other
#: numbers of GPUs is an assumption; a job on one GPU does not communicate.
TIER_PENALTIES: Mapping[str, TierPenalty] = {
    "vgg11": TierPenalty(machine=0.01, rack=0.06, network=0.07),
    "alexnet": TierPenalty(machine=0.02, rack=0.13, network=1.00),
    "mobilenetv3": TierPenalty(machine=0.42, rack=9.40, network=195.92),
    "resnet18": TierPenalty(machine=0.07, rack=1.16, network=27.49),
    "resnet50": TierPenalty(machine=0.12, rack=0.12, network=0.38),
    "bert-large": TierPenalty(machine=0.08, rack=0.23, network=7.15),
}


class Speed(Frozen):
    """Slowdowns of jobs, relative to the speeds in their menus.

    Attributes
    ----------
    tiers
        Penalties by model and network tier, for jobs on at least two GPUs. Models that are not listed have no
        penalties.
    interference
        ``interference[a][b]`` is the slowdown of model a on a GPU shared with model b.
    default_interference
        Slowdown of every pair that is not listed.
    groups
        ``groups[a]["b + c"]`` is the slowdown of model a on GPUs shared with models b and c. Each key lists the
        partners' models in alphabetical order. The slowdown applies only if it exceeds that of the worst pair.
    gpu_types
        Factors by which GPU types are slower than the GPUs on which menus were measured; 1 for types that are
        not listed. GPUs of a plain cluster have no types.
    mixed
        Additional slowdown of a job whose GPUs are of several types.

    Examples
    --------
    >>> speed = Speed(tiers=TIER_PENALTIES, interference={"resnet50": {"vgg11": 1.5}})
    >>> job = Job(name="a", release_date=0, duration=60, gpus=2, model="resnet50")
    >>> other = Job(name="b", release_date=0, duration=60, gpus=1, model="vgg11")
    >>> round(speed.rate(job, 2, Tier.NETWORK, [other]), 6)
    0.483092
    >>> typed = Speed(gpu_types={"T4": 3.0}, mixed=1.25)
    >>> typed.rate(job, 2, types={"T4": 2}, number=Fraction), typed.rate(job, 2, types={"V100": 1, "T4": 1})
    (Fraction(1, 3), 0.5333333333333333)
    """

    tiers: Mapping[Name, TierPenalty] = Field(default_factory=dict)
    interference: Mapping[Name, Mapping[Name, Slowdown]] = Field(default_factory=dict)
    default_interference: Slowdown = 1.0
    groups: Mapping[Name, Mapping[str, Slowdown]] = Field(default_factory=dict)
    gpu_types: Mapping[Name, Slowdown] = Field(default_factory=dict)
    mixed: Slowdown = 1.0

    @property
    def knows_types(self) -> bool:
        """Whether slowdowns by GPU type are given: `gpu_types` is not empty, or `mixed` exceeds 1."""
        return bool(self.gpu_types) or self.mixed > 1

    def rate(
        self,
        job: Job,
        count: int,
        tier: str = Tier.MACHINE,
        partners: Iterable[Job] = (),
        number: Callable[[Any], Any] = float,
        *,
        mode: str = DEFAULT_MODE,
        phase: Phase | None = None,
        levels: Sequence[str] = (),
        types: Mapping[str, int] | None = None,
    ) -> Any:
        """Return the speed of a job on `count` GPUs that a tier connects and that `partners` share.

        The speed is the one in the menu, divided by the slowdowns due to the tier, the partners, the phase and
        the GPU types.

        Synchronous training waits for its slowest worker, so the worst partner on any GPU determines the
        slowdown by partners, unless all partners together (`groups`) cause a larger one. On GPUs of several
        types, the batch is divided in proportion to their speeds, so that no GPU waits for another and their
        speeds add up; the result is divided by `mixed`. Source: the penalty of Dally, section III-B; the
        interference ratio of Castor, Eq. 4-5; the balance of Aryl, appendix A.

        Parameters
        ----------
        job, count, tier, partners
            The job, its number of GPUs, the tier that connects them, and the jobs that share them.
        number
            ``float``, or ``Fraction`` for exact arithmetic.
        mode
            The mode in which the job runs.
        phase
            The current phase of the job's work; None for the speed without phases.
        levels
            Levels of the cluster, innermost first; required if they differ from machine, rack and network.
        types
            Number of the job's GPUs of each type; None if GPUs have no types.

        Raises
        ------
        KeyError
            The job has no such mode, or the mode does not allow this number of GPUs.
        InvalidInput
            The job's model has penalties, but `tier` has none and is not one of `levels`.
        """
        slowdown = 1 + self._penalty(job, count, tier, number, levels)
        rate = number(job.speed(count, mode)) / (slowdown * number(self._worst(job, partners)))
        if types and self.knows_types:
            rate /= self._slowdown_of(types, number)
        return rate if phase is None else rate / number(phase.slowdown_in(mode))

    def slowdown(
        self, job: Job, partners: Iterable[Job] = (), *, types: Mapping[str, int] | None = None
    ) -> float:
        """Return the slowdown of a job due only to its partners and its GPU types.

        Parameters
        ----------
        job, partners, types
            As in `rate`.

        Examples
        --------
        >>> job = Job(name="a", release_date=0, duration=60, gpus=2)
        >>> Speed(default_interference=1.5, gpu_types={"T4": 3.0}).slowdown(job, [job], types={"T4": 2})
        4.5
        """
        worst = self._worst(job, partners)
        return worst * self._slowdown_of(types, float) if types and self.knows_types else worst

    def waiting(
        self,
        job: Job,
        count: int,
        tier: str = Tier.MACHINE,
        number: Callable[[Any], Any] = float,
        *,
        levels: Sequence[str] = (),
    ) -> Any:
        """Return the fraction of time for which a job waits for the network.

        The job runs on `count` GPUs that a tier connects. With s seconds of exposed communication per second of
        computation, the fraction is s / (1 + s). Source: Dally, section V-D, metric 4.

        Parameters
        ----------
        job, count, tier, number, levels
            As in `rate`.

        Examples
        --------
        >>> job = Job(name="a", release_date=0, duration=60, gpus=2, model="alexnet")
        >>> Speed(tiers=TIER_PENALTIES).waiting(job, 2, Tier.NETWORK)
        0.5
        """
        penalty = self._penalty(job, count, tier, number, levels)
        return penalty / (1 + penalty)

    def _worst(self, job: Job, partners: Iterable[Job]) -> float:
        """Return the slowdown due to a job's worst partner, or that due to all partners if it is larger."""
        if not self.groups:
            return max((self.interference_of(job, partner) for partner in partners), default=1.0)
        others = {partner.name: partner for partner in partners}.values()  # one may be on several GPUs
        together = " + ".join(sorted(other.model for other in others))
        group = self.groups.get(job.model, {}).get(together, 1.0)
        return max(group, *(self.interference_of(job, other) for other in others), 1.0)

    def _slowdown_of(self, types: Mapping[str, int], number: Callable[[Any], Any]) -> Any:
        """Return the slowdown due to GPU types, relative to the GPUs on which menus were measured."""
        slowdowns = {name: number(self.gpu_types.get(name, 1.0)) for name in types}
        if len(types) == 1:
            return next(iter(slowdowns.values()))
        together = sum(count / slowdowns[name] for name, count in types.items())
        return number(sum(types.values())) / together * number(self.mixed)

    def _penalty(
        self, job: Job, count: int, tier: str, number: Callable[[Any], Any], levels: Sequence[str]
    ) -> Any:
        """Return the exposed communication time per unit of computation time, or 0 for a single GPU."""
        if count > 1 and job.model in self.tiers:
            return number(self.tiers[job.model].of(tier, levels))
        return number(0)

    def interference_of(self, job: Job, partner: Job) -> float:
        """Return the slowdown of a job on a GPU shared with a partner."""
        return self.interference.get(job.model, {}).get(partner.model, self.default_interference)


def linear_menu(gpus: int, counts: Iterable[int]) -> tuple[tuple[int, float], ...]:
    """Return the menu of a job whose speed is proportional to its number of GPUs and equals 1 on `gpus` GPUs.

    Raises
    ------
    InvalidInput
        `gpus` is not one of `counts`, or a count is not positive.

    Examples
    --------
    >>> linear_menu(2, [1, 2, 4])
    ((1, 0.5), (2, 1.0), (4, 2.0))
    """
    return tabulated_menu(gpus, {count: float(count) for count in counts})


def tabulated_menu(gpus: int, throughput: Mapping[int, float]) -> tuple[tuple[int, float], ...]:
    """Return the menu of a job that demands `gpus` GPUs, from its throughputs in any unit.

    Raises
    ------
    InvalidInput
        There is no throughput for the demanded number of GPUs, or a throughput is not positive and finite.

    Examples
    --------
    >>> tabulated_menu(2, {1: 3.5, 2: 7.0, 4: 10.5})
    ((1, 0.5), (2, 1.0), (4, 1.5))
    """
    if gpus not in throughput:
        raise InvalidInput(
            "", shorten(sorted(throughput)), f"must hold the demanded {gpus} GPUs", source="throughput"
        )
    for count, value in throughput.items():
        require(0 < number_of(value) < inf, f"throughput[{count}]", value, "must be more than 0 and finite")
    return tuple((count, value / throughput[gpus]) for count, value in sorted(throughput.items()))


def efficient_counts(job: Job, alpha: float | Fraction) -> tuple[int, ...]:
    """Return the numbers of GPUs, from the demanded number upwards, on which a job runs efficiently.

    The larger numbers of the menu are included in ascending order, until the speed per GPU first falls below
    `alpha` times that on the demanded number. A relative error of 1e-9 is tolerated, because speeds are floats.

    Source: Ares, section 3.3, where the demanded number is doubled repeatedly. Here, the menu lists the
    numbers, so a menu of successive doublings yields the paper's rule.

    Raises
    ------
    InvalidInput
        `alpha` is not a number above 0 and at most 1.

    Examples
    --------
    >>> menu = [(1, 0.6), (2, 1.0), (4, 1.6), (8, 2.0)]
    >>> efficient_counts(Job(name="a", release_date=0, duration=60, gpus=2, menu=menu), 0.75)
    (2, 4)
    """
    if not (isinstance(alpha, int | float | Fraction) and 0 < alpha <= 1):
        raise InvalidInput("alpha", shorten(alpha), "must be a number above 0 and at most 1")
    counts = [job.gpus]
    for count, speed in sorted(job.menu):
        if count > job.gpus:
            if speed * job.gpus < alpha * count * (1 - SUM):
                break
            counts.append(count)
    return tuple(counts)


class IterationTime(Frozen):
    """The duration of a training iteration with gradient accumulation and overlapped communication.

    Computation on a sub-batch of b samples per GPU takes ``compute + per_sample * b`` seconds, and the
    all-reduce of m bytes takes ``latency + per_byte * m`` seconds. The all-reduce overlaps with the last of
    `steps` sub-batches, to a degree `overlap` from 1 (not at all) upwards. Source: Castor, Eq. 1-3.

    Examples
    --------
    >>> model = IterationTime(compute=0.1, per_sample=0.01, latency=0.2, per_byte=1e-9, overlap=1.0)
    >>> round(model.seconds(batch_size=40, message=1e8), 9)
    0.8
    >>> round(model.seconds(batch_size=40, message=1e8, steps=2), 9)
    0.9
    """

    compute: Annotated[float, Field(ge=0)]
    per_sample: Annotated[float, Field(ge=0)]
    latency: Annotated[float, Field(ge=0)] = 0.0
    per_byte: Annotated[float, Field(ge=0)] = 0.0
    overlap: Annotated[float, Field(ge=1, le=1000)] = 1.0

    def seconds(self, batch_size: float, *, message: float = 0.0, steps: int = 1) -> float:
        """Return the seconds for an iteration on `batch_size` samples per GPU, split into `steps` sub-batches.

        `message` is the number of bytes to reduce. If it is 0, as on a single GPU, there is no all-reduce, and
        `latency` does not apply.
        """
        computation = self.compute + self.per_sample * batch_size / steps
        communication = self.latency + self.per_byte * message if message else 0.0
        longer, shorter = max(computation, communication), min(computation, communication)
        last = longer * (1 + (shorter / longer) ** self.overlap) ** (1 / self.overlap) if longer else 0.0
        return (steps - 1) * computation + last

    def menu(
        self, gpus: int, counts: Iterable[int], *, batch_size: int, message: float
    ) -> tuple[tuple[int, float], ...]:
        """Return the menu of a job that demands `gpus` GPUs, if its total batch size is always the same.

        The menu contains `gpus` and all `counts`. `batch_size` is the total, unlike in `seconds`. On a single
        GPU, there is no all-reduce.

        Raises
        ------
        InvalidInput
            A number of GPUs is less than 1, or an iteration takes no time.

        Examples
        --------
        >>> model = IterationTime(compute=0, per_sample=0.25, latency=2)
        >>> model.menu(1, [1, 2, 4], batch_size=32, message=1)
        ((1, 1.0), (2, 1.3333333333333333), (4, 2.0))
        """
        demanded = {gpus, *counts}
        require(min(demanded) >= 1, "counts", min(demanded), "must be at least 1")
        times = {k: self.seconds(batch_size / k, message=message if k > 1 else 0.0) for k in demanded}
        for count, time in times.items():
            require(0 < time < inf, f"seconds[{count}]", time, "must be more than 0 and finite")
        return tabulated_menu(gpus, {count: 1 / time for count, time in times.items()})


def fit_iteration_time(samples: Sequence[tuple[float, float, float]]) -> IterationTime:
    """Fit an `IterationTime` to measured samples ``(batch size per GPU, message bytes, seconds)``.

    The sum of squared relative errors is minimized by local searches that start from several values of
    `overlap`. The fitted `overlap` is at most 10.

    Raises
    ------
    InvalidInput
        There are no samples, a time is not from 1e-9 to 1e12 seconds, or another number is not from 0 to 1e18.

    Examples
    --------
    >>> truth = IterationTime(compute=0.1, per_sample=0.01, latency=0.2, per_byte=1e-9)
    >>> points = [(b, m, truth.seconds(b, message=m)) for b in (8, 32, 128) for m in (0.0, 1e8, 1e9)]
    >>> fitted = fit_iteration_time(points)
    >>> all(abs(fitted.seconds(b, message=m) / t - 1) < 1e-4 for b, m, t in points)
    True
    """
    import numpy as np
    from scipy.optimize import least_squares

    require(bool(samples), "samples", samples, "must hold positive times")
    for index, sample in enumerate(samples):
        batch, message, seconds = map(number_of, sample)
        for name, number in (("batch size", batch), ("message", message)):
            rule = f"must be from 0 to {_MOST_SAMPLED:g}"
            require(0 <= number <= _MOST_SAMPLED, f"samples[{index}]: {name}", number, rule)
        rule = f"must be from {LEAST:g} to {LATEST:g}"
        require(LEAST <= seconds <= LATEST, f"samples[{index}]: seconds", seconds, rule)
    times = np.array([seconds for _, _, seconds in samples])
    scale = [
        times.min(),
        times.max() / (max(batch for batch, _, _ in samples) or 1.0),
        times.min(),
        times.max() / max(1.0, *(message for _, message, _ in samples)),
    ]

    def model(parameters: Any) -> IterationTime:
        values = [float(value * unit) for value, unit in zip(parameters[:4], scale, strict=True)]
        return IterationTime(
            compute=values[0],
            per_sample=values[1],
            latency=values[2],
            per_byte=values[3],
            overlap=float(parameters[4]),
        )

    def errors(parameters: Any) -> Any:
        candidate = model(parameters)
        return np.array([candidate.seconds(batch, message=m) for batch, m, _ in samples]) / times - 1

    bounds = ([0, 0, 0, 0, 1], [10, 10, 10, 10, 10])
    starts = [[0.3, 0.5, 0.3, 0.5, overlap] for overlap in (1.0, 2.0, 5.0)]
    fits = [least_squares(errors, start, bounds=bounds, xtol=1e-14, ftol=1e-14) for start in starts]
    return model(min(fits, key=lambda fit: float(fit.cost)).x)
