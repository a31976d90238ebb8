"""Castor: workloads like those of the paper's simulations, from the busiest periods of two public traces."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Literal, Unpack

from gsopt.core.errors import require_one_of
from gsopt.scenario.job import Job
from instances.arguments import fractions
from instances.traces.helios import helios
from instances.traces.philly import philly
from instances.traces.reading import Reading
from instances.traces.selection import Selection

#: Number of jobs to draw. Source: Castor, section 9.1.
JOBS = 240

#: Length in seconds of the busiest period of each trace. For Philly it is that of Pollux, whose settings the
#: paper follows. For Venus it is two days, because the busiest single day has fewer jobs than the 480 of the
#: highest load.
PERIODS: Mapping[str, float] = {"philly": 8 * 3600.0, "venus": 48 * 3600.0}

#: Share of the jobs with more than 8 GPUs, and their numbers of GPUs. Source: Castor, section 9.1.
LARGE, LARGE_DEMANDS = 0.34, (16, 32)

#: Configurations of the jobs, by their names in Gavel's table of pairs.
MODELS = (
    "ResNet-18 (batch size 128)",
    "ResNet-50 (batch size 64)",
    "Transformer (batch size 64)",
    "LM (batch size 20)",
    "Recommendation (batch size 2048)",
    "CycleGAN",
)

#: Assumptions where the paper is silent or its data are not public, for printing with results.
ASSUMPTIONS = (
    "The paper does not name the busy period of its 240 jobs; here it is the 8 hours of Philly with most jobs.",
    "Venus is the September slice of two of its virtual clusters; the busiest two days of it, for 480 jobs.",
    "Models are drawn evenly from six configurations; neither trace records them, and the paper's are others.",
    "Interference is that of Gavel's public table: V100, pairs on one GPU, its six configurations of ours.",
    "Slowdowns on one GPU hold for jobs on several; the worst partner sets the pace of all.",
    "All pairs of the six fit one GPU together with whole batches, so no sub-batch is ever needed.",
    "The paper has 34 % of jobs on 16 or 32 GPUs; in Philly's busiest period no job has more than 8.",
    "So 34 % of Philly's jobs are drawn to have 16 or 32 GPUs, and keep their GPU time; Venus is as recorded.",
    "Loads of 0.5 to 2 are 120 to 480 jobs in the same period, as the paper counts them.",
    "Durations are the recorded ones, not iterations of a model; nothing is lost to network, starts or stops.",
)

_TRACES: Mapping[str, Callable[..., Reading]] = {"philly": philly, "venus": helios}


def castor(
    path: str | Path,
    *,
    trace: Literal["philly", "venus"] = "philly",
    large: float = 0.0,
    **selection: Unpack[Selection],
) -> Reading:
    """Draw a workload of Castor, 240 jobs of six models, from the busiest hours of a trace.

    Rows are dropped as in the readers `philly` and `helios`. `ASSUMPTIONS` lists what is unknown or differs
    from the paper.

    Parameters
    ----------
    path
        The file of the trace, plain or gzipped, or the folder of all traces.
    trace
        ``philly`` or ``venus``.
    large
        Probability that a job demands 16 or 32 GPUs instead of the recorded number, as far as `max_gpus` allows
        this. Such a job keeps its GPU time. `LARGE` is the share of such jobs in the paper.
    selection
        Window, GPU cap and sample; see `Selection`. By default, `JOBS` jobs are drawn from the busiest period,
        whose length is in `PERIODS`. `seed` is also the seed for models and demands.

    Raises
    ------
    InvalidInput
        The file cannot be read or is not of this trace, or an option is out of range.

    Notes
    -----
    Y. Luo et al., Castor: Optimizing deep learning job scheduling in multi-tenant GPU clusters via intelligent
    colocation, section 9.1.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(castor(folder, trace="venus").workload.jobs) == 240
    True
    """
    require_one_of("trace", trace, _TRACES)
    fractions(large=large)
    chosen: Selection = {"sample": JOBS, **selection}
    if chosen.get("window") is None and chosen.get("busiest") is None:
        chosen["busiest"] = PERIODS[trace]
    reading = _TRACES[trace](path, **chosen)
    most = chosen.get("max_gpus")
    demands = [demand for demand in LARGE_DEMANDS if most is None or demand <= most]
    random = Random(chosen.get("seed", 0))
    jobs = tuple(_drawn(job, large, demands, random) for job in reading.workload.jobs)
    return reading.model_copy(
        update={"workload": reading.workload.model_copy(update={"name": "castor", "jobs": jobs})}
    )


def _drawn(job: Job, large: float, demands: list[int], random: Random) -> Job:
    """Return a job with a random model and, with probability `large`, a large demand.

    The demand is drawn for every job, even if it is not used, so that options do not change later draws.
    """
    model, is_large, place = random.choice(MODELS), random.random() < large, random.random()
    if not (is_large and demands):
        return job.model_copy(update={"model": model})
    gpus = demands[int(place * len(demands))]
    return job.model_copy(update={"model": model, "gpus": gpus, "duration": job.duration * job.gpus / gpus})
