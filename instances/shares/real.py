"""Real: instances with throughputs that Gavel measured on three GPU types, if its table is available."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import get_args

from gsopt.core.problem import About
from gsopt.problems.shares import Criterion, Shares, TypedJob
from instances.interference.gavel import FILE
from instances.suites import renamed
from instances.traces.throughputs import Throughputs, read_throughputs

#: Number of GPUs of each type, 64 in all, and number of jobs.
_GPUS, _JOBS = {"v100": 24, "p100": 20, "k80": 20}, 160


def from_data(folder: Path) -> Iterator[Shares]:
    """Yield an instance for each criterion: 160 jobs with Gavel's configurations on 64 GPUs of three types.

    Without Gavel's table there are no instances.
    """
    file = folder / FILE
    if file.is_file():
        rates = read_throughputs(file)
        for criterion in get_args(Criterion):
            yield renamed(measured(rates, criterion=criterion), f"real/gavel-{criterion.replace('_', '-')}")


def measured(
    rates: Throughputs,
    *,
    criterion: Criterion,
    jobs: int = _JOBS,
    gpus: Mapping[str, int] = _GPUS,
    largest: int = 8,
    seed: int = 0,
) -> Shares:
    """Create an instance with measured configurations, and random ages and remaining steps.

    A job has at most `largest` GPUs. With ``largest=1``, and a quarter as many GPUs of each type as jobs, this
    is the setting of Figure 2 of POP (SOSP 2021), except that jobs cannot share GPUs.
    """
    random = Random(seed)
    ran = sorted(key for key, own in rates.items() if any(own.values()) and _gpus(key) <= largest)

    def job(number: int) -> TypedJob:
        key = random.choice(ran)
        seconds, age = 10 ** random.uniform(3, 5), round(random.uniform(0, 50_000))
        return TypedJob(
            name=f"j{number}",
            gpus=_gpus(key),
            throughputs=rates[key],
            steps=float(max(1, round(seconds * max(rates[key].values())))),
            age=float(age),
            isolated=float(round(age * random.random())),
        )

    source = "configurations of Gavel's simulation_throughputs.json, ages and steps made up"
    return Shares(
        name="measured",
        about=About(source=source, seed=seed),
        gpus=gpus,
        jobs=[job(number) for number in range(1, jobs + 1)],
        criterion=criterion,
    )


def _gpus(key: str) -> int:
    """Return the number of GPUs of a measured configuration."""
    return int(key.rstrip(")").rsplit(", ", 1)[1])
