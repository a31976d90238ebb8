"""Instances of measured throughputs, where these are at hand: Gavel's configurations on three types of GPUs."""

from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any, get_args

from gsopt.errors import InvalidInput, shorten
from gsopt.files import parse_json
from gsopt.problem import About
from gsopt.problems.shares import Criterion, Shares, TypedJob
from instances.interference.gavel import FILE
from instances.suites import renamed
from instances.traces.reading import content

#: GPUs of each type, 64 in all, and jobs.
_GPUS, _JOBS = {"v100": 24, "p100": 20, "k80": 20}, 160

_ALONE = "null"

#: Iterations per second of each configuration, model and number of GPUs, on each type.
Measured = Mapping[str, Mapping[str, float]]


def from_data(folder: Path) -> Iterator[Shares]:
    """Build an instance of each criterion: 160 jobs of Gavel's configurations on 64 GPUs of three types.

    Nothing where Gavel's table is not there.

    Raises
    ------
    InvalidInput
        The file cannot be read.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or all(len(problem.jobs) == 160 for problem in from_data(folder))
    True
    """
    file = folder / FILE
    if file.is_file():
        rates = read_throughputs(file)
        for criterion in get_args(Criterion):
            yield renamed(measured(rates, criterion=criterion), f"real/gavel-{criterion.replace('_', '-')}")


def read_throughputs(file: Path) -> dict[str, dict[str, float]]:
    """Read the iterations per second of each configuration alone, its workers close together.

    Raises
    ------
    InvalidInput
        The file cannot be read, or is no such table.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> text = '''{"v100": {"('LM (batch size 5)', 2)": {"null": 7.5}}, "k80_unconsolidated": {}}'''
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.json")
    ...     _ = path.write_text(text)
    ...     read_throughputs(path)
    {"('LM (batch size 5)', 2)": {'v100': 7.5}}
    """
    try:
        tables = parse_json(str(file), content(file).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidInput(str(file), "", f"byte {error.start}", "must be UTF-8 text") from None
    found: dict[str, dict[str, float]] = {}
    for kind in _GPUS.keys() & tables.keys():
        for key, rate in _rows(str(file), kind, tables[kind]):
            found.setdefault(key, {})[kind] = rate
    return found


def _rows(file: str, kind: str, rows: Any) -> Iterator[tuple[str, float]]:
    if not isinstance(rows, dict):
        raise InvalidInput(file, kind, shorten(rows), "must be an object of throughputs for each configuration")
    for key, row in rows.items():
        rate = row.get(_ALONE) if isinstance(row, dict) else None
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not isfinite(rate) or rate < 0:
            raise InvalidInput(
                file, f"{kind}.{key}.{_ALONE}", shorten(rate), "must be iterations per second, at least 0"
            )
        yield key, float(rate)


def measured(rates: Measured, *, criterion: Criterion, jobs: int = _JOBS, seed: int = 0) -> Shares:
    """Draw jobs of measured configurations; their ages and the steps they have left are made up.

    Parameters
    ----------
    rates
        Iterations per second by configuration, whose name ends with its number of GPUs, and type.
    criterion
        What counts.
    jobs
        Number of jobs.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> rates = {"('LM (batch size 5)', 2)": {"v100": 7.5, "k80": 1.0}}
    >>> measured(rates, criterion="fifo", jobs=3).jobs[2].gpus
    2
    """
    random = Random(seed)
    ran = sorted(key for key, own in rates.items() if any(own.values()))

    def job(number: int) -> TypedJob:
        key = random.choice(ran)
        seconds, age = 10 ** random.uniform(3, 5), round(random.uniform(0, 50_000))
        return TypedJob(
            name=f"j{number}",
            gpus=int(key.rstrip(")").rsplit(", ", 1)[1]),
            throughputs=rates[key],
            steps=float(max(1, round(seconds * max(rates[key].values())))),
            age=float(age),
            isolated=float(round(age * random.random())),
        )

    source = "configurations of Gavel's simulation_throughputs.json, ages and steps made up"
    return Shares(
        name="measured",
        about=About(source=source, seed=seed),
        gpus=_GPUS,
        jobs=[job(number) for number in range(1, jobs + 1)],
        criterion=criterion,
    )
