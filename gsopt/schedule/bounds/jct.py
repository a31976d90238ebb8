"""JCT: a lower bound on the mean job completion time of a scenario, and the way in which it is proven."""

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.grid import float_below
from gsopt.core.numbers.tolerances import TERM, ULPS
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.best import lower_bound, total_jct
from gsopt.schedule.bounds.far_apart import far_apart
from gsopt.schedule.bounds.places import places
from gsopt.schedule.bounds.relaxation import Relaxation

if TYPE_CHECKING:
    from gsopt.schedule.bounds.prices import PriceBound

#: Minimum number of jobs for which prices are tried by default; for fewer jobs, formulas are as good.
FEWEST_PRICED = 10

#: Default numbers of price vectors to try. For 1,500 rigid jobs, this takes a fraction of a second, about as
#: long as a simulation. Elastic jobs need more vectors for the same gap; without compiled kernels, they take
#: a hundred times as long.
_EVALUATIONS, _EVALUATIONS_ELASTIC, _EVALUATIONS_IN_PYTHON = 60, 180, 15

#: Number of rigid jobs below which numpy tries this many price vectors in less time than a compiled kernel
#: takes to load; and number of elastic jobs below which neither a kernel nor many price vectors pay off.
_FEW_RIGID, _FEW_ELASTIC = 5_000, 30


@dataclass(frozen=True)
class MeanBound:
    """A lower bound on the mean job completion time of every schedule.

    Attributes
    ----------
    mean_jct
        The bound, in seconds.
    proof
        How the bound is proven: ``formulas``, ``prices``, or ``given`` for a bound from the user. If it ends
        with ``in rounds``, the bound holds only for policies that decide in rounds of the length for which it
        was computed.

    Examples
    --------
    >>> MeanBound(2.5, "given").mean_jct
    2.5
    """

    mean_jct: float
    proof: str


def mean_jct_bound(
    given: Workload | Scenario,
    *,
    cluster: Cluster | int | str | None = None,
    evaluations: int | None = None,
    round_length: float | None = None,
    **physics: Any,
) -> MeanBound | None:
    """Return a lower bound on the mean job completion time of every policy, or None if there are no jobs.

    The bound is the better of two: that of formulas (`gsopt.schedule.bounds.lower_bound`), and that from prices
    of GPU time (`gsopt.schedule.bounds.prices.price_bound`), which more evaluations may improve. Groups of jobs
    that arrive far apart (`gsopt.schedule.bounds.far_apart`) are bounded separately. Each job is assumed to run
    on the best network tier that its number of GPUs allows. The slowdowns of jobs that share GPUs are taken
    into account as explained in `gsopt.schedule.bounds.places`.

    Parameters
    ----------
    given, cluster, physics
        The workload or scenario, the cluster and the physics, as for `gsopt.simulate`.
    evaluations
        Largest number of price vectors to try, for each group if jobs are far apart. With 0, only formulas are
        used. With None, the number is chosen so that trying them takes at most about as long as a simulation;
        for a group of fewer than 10 jobs, it is 0.
    round_length
        Seconds between decisions, as for `gsopt.simulation.simulate`. The bound then holds only for policies
        in rounds of that length, as its attribute `proof` says. If None, it holds for every policy.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=str(i), release_date=i, duration=1 + 10 * (i % 3), gpus=1) for i in range(20)]
    >>> found = mean_jct_bound(Workload(jobs=jobs), cluster=4)
    >>> found.proof, 16.1 < found.mean_jct < 16.3
    ('prices', True)
    """
    scenario = Scenario.of(given, cluster, **physics)
    if not scenario.workload.jobs:
        return None
    relaxation = Relaxation.of(scenario, round_length)
    workload = relaxation.scenario.workload
    gpus = _most_gpus(relaxation.scenario)
    total, proof = relaxation.delayed(), "formulas"
    for jobs in far_apart(workload):
        part = relaxation if len(jobs) == len(workload.jobs) else relaxation.part(jobs)
        own = part.scenario.workload
        found = total_jct(lower_bound(own, gpus), own)
        if part.times:  # other jobs count with their heights in every formula
            found = max(found, part.heights())
        priced = _priced(part, evaluations)
        if priced > found:
            found, proof = priced, "prices"
        total += found
    rounds = "" if round_length is None else " in rounds"
    return MeanBound(float_below(total / len(workload.jobs)), proof + rounds)


def _priced(relaxation: Relaxation, evaluations: int | None) -> Fraction:
    """Return a bound on the total JCT from prices, with the given or an affordable number of evaluations.

    The bound is 0 if the number of evaluations is 0.
    """
    compiled = None
    if evaluations is None:
        evaluations, compiled = _affordable(relaxation.scenario)
    if not evaluations:
        return Fraction(0)
    from gsopt.schedule.bounds.prices.bound import relaxed_bound

    return Fraction(relaxed_bound(relaxation, evaluations=evaluations, compiled=compiled).total_jct)


def _most_gpus(scenario: Scenario) -> float:
    """Return the largest available capability, divided by the smallest number of places that a job takes up.

    If no GPU is ever available, all GPUs of the cluster count. The result is never rounded down.
    """
    from gsopt.schedule.bounds.prices.supply import GpuSupply

    most = GpuSupply.of(scenario).most or float(scenario.cluster.gpus * scenario.share_limit)
    place = min(places(scenario))
    is_exact = place == 1 and not scenario.speed.gpu_types
    return most if is_exact else most / place * (1 + TERM * (ULPS + len(scenario.cluster.machines)))


def _affordable(scenario: Scenario) -> tuple[int, bool | None]:
    """Return how many price vectors to try, and whether to use compiled kernels (None to choose by size).

    The result does not depend on elapsed time, so that bounds are reproducible.
    """
    from gsopt.core.numbers.compiled import is_installed

    jobs = scenario.workload.jobs
    if len(jobs) < FEWEST_PRICED:
        return 0, None
    if all(len(job.menu) <= 1 and not job.modes for job in jobs):
        return _EVALUATIONS, False if len(jobs) < _FEW_RIGID else None
    if len(jobs) < _FEW_ELASTIC:
        return _EVALUATIONS_IN_PYTHON, False
    return (_EVALUATIONS_ELASTIC if is_installed() else _EVALUATIONS_IN_PYTHON), None


def known_bound(bound: "MeanBound | PriceBound | float | None", scenario: Scenario) -> MeanBound | None:
    """Convert a bound given by the user into a bound on the mean job completion time.

    A number is taken as such a bound, in seconds. None and a `MeanBound` are returned unchanged.

    Raises
    ------
    InvalidInput
        The bound is not finite, was computed for a different number of jobs, or has weights other than 1.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Workload
    >>> known_bound(2.5, Scenario(workload=Workload(jobs=[]), cluster=Cluster.plain(4)))
    MeanBound(mean_jct=2.5, proof='given')
    """
    if bound is None or isinstance(bound, MeanBound):
        return bound
    if isinstance(bound, int | float):
        if not isfinite(bound):
            raise InvalidInput("bound", shorten(bound), "must be a finite number of seconds")
        return MeanBound(float(bound), "given")
    jobs = len(scenario.workload.jobs)
    if bound.jobs != jobs or bound.is_weighted:
        rule = f"must be that of the {jobs} jobs, each of weight 1"
        raise InvalidInput("bound", f"a bound for {bound.jobs} jobs", rule)
    return MeanBound(bound.mean_jct, "prices" if bound.round_length is None else "prices in rounds")
