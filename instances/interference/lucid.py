"""Lucid: relative speeds of 1,388 pairs of configurations on one GPU, and resource use of single jobs."""

from pathlib import Path

from gsopt.core.errors import InvalidInput, shorten
from gsopt.performance.interference import Couple, Profile
from instances.interference.reading import PairReading, assemble
from instances.traces.reading import TraceRow, find, read_whole_table

#: Paths of the tables of pairs and of single jobs in the folder of public traces.
FILE, ALONE = Path("lucid/data/colocate_info.csv.gz"), Path("lucid/analyzer/single_data.csv")

#: Columns that name a configuration.
_KEYS = ("model", "dataset", "batchsize", "amp")

#: Columns of the features in the table of single jobs, by the name of the feature.
_FEATURES = {
    "batch size": "batchsize",
    "mixed precision": "amp",
    "samples per second": "speed",
    "GPU utilisation (%)": "gpu_util",
    "memory utilisation (%)": "gmem_util",
    "memory (MiB)": "gmem",
}

_PAIR = tuple(f"{key}{job}" for job in (1, 2) for key in (*_KEYS, "gpu_num", "speed"))


def lucid(path: str | Path, *, alone: str | None = None) -> PairReading:
    """Read the pairs of jobs on one GPU that were measured for Lucid.

    A configuration is named by model, data set, batch size and, with mixed precision, ``amp``. The table of
    pairs contains the speed of each job relative to its speed alone. The files do not say that speeds are
    relative, but the values show it: the largest speed of a job in all its pairs is about 1, regardless of its
    throughput. Jobs that are faster in a pair than alone get a slowdown of 1. Pairs with a speed of 0 are left
    out. The features of a configuration come from the table of single jobs: batch size, mixed precision (0 or
    1), samples per second, GPU utilization, memory utilization, and memory.

    Source: the public repository of Lucid (ASPLOS 2023), which is licensed for non-commercial use.

    Parameters
    ----------
    path
        The table of pairs, or the folder of all traces or of Lucid.
    alone
        The table of single jobs. By default, ``analyzer/single_data.csv``, relative to the parent of the folder
        that holds the table of pairs.

    Raises
    ------
    InvalidInput
        A file cannot be read, is not such a table, or has a row that breaks a rule, or a configuration in the
        table of pairs is missing from the table of single jobs. Measurements are not repaired.

    Examples
    --------
    >>> lucid("no/such/colocate_info.csv")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/colocate_info.csv: cannot be read: No such file or directory
    """
    file = find(path, FILE)
    pairs = _pairs(file)
    single = file.parent.parent / Path(*ALONE.parts[1:]) if alone is None else Path(alone)
    profiles = _profiles(single)
    used = {name for couple, _ in pairs for name in couple}
    for name in sorted(used - profiles.keys()):
        raise InvalidInput(
            "", shorten(name), f"must be in it, as {file.name} has pairs of it", source=str(single)
        )
    return assemble("lucid", [profile for name, profile in profiles.items() if name in used], pairs)


def _pairs(file: Path) -> list[tuple[Couple, tuple[float, float] | None]]:
    found = read_whole_table(file, _PAIR, _pair, str(file))
    seen: set[frozenset[str]] = set()
    for row, (couple, _) in found:
        if frozenset(couple) in seen:
            raise InvalidInput(
                f"row {row.line}", " beside ".join(couple), "must be there only once", source=str(file)
            )
        seen.add(frozenset(couple))
    return [pair for _, pair in found]


def _pair(row: TraceRow) -> tuple[Couple, tuple[float, float] | None]:
    for column in ("gpu_num1", "gpu_num2"):
        if (gpus := row.whole_number(column)) != 1:
            raise InvalidInput(column, str(gpus), "must be 1")
    speeds = _speed(row, "speed1"), _speed(row, "speed2")
    return (_name(row, "1"), _name(row, "2")), speeds if all(speeds) else None


def _speed(row: TraceRow, column: str) -> float:
    if (speed := row.number(column)) < 0:
        raise InvalidInput(column, str(speed), "must be at least 0")
    return speed


def _profiles(file: Path) -> dict[str, Profile]:
    columns = tuple({*_KEYS, *_FEATURES.values()})
    return {profile.name: profile for _, profile in read_whole_table(file, columns, _profile, str(file))}


def _profile(row: TraceRow) -> Profile:
    features = {feature: row.number(column) for feature, column in _FEATURES.items()}
    return Profile(name=_name(row, ""), features=features)


def _name(row: TraceRow, job: str) -> str:
    model, dataset, batch, amp = (row.values[f"{key}{job}"] for key in _KEYS)
    precision = ", amp" if amp == "1" else ""
    return f"{model} on {dataset} (batch size {batch}{precision})"
