"""Best: the best known schedules for public workloads of Pollux and Sia, in the setting of the authors.

In this setting, policies decide once a minute. Each schedule has a file ``solutions/scenarios/NAME.csv``. The
file ``known.json`` in the same folder lists their values, bounds and origins.
"""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from gsopt.core.errors import InvalidInput, require, require_one_of, shorten
from gsopt.core.files import read_data, read_text, write, write_text
from gsopt.core.problem import Frozen, Many
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.schedule.judge import judged
from instances.scenarios.pollux import pollux
from instances.scenarios.sia import sia

#: Folder of the schedules.
FOLDER = Path(__file__).parents[1] / "solutions" / "scenarios"

#: Seconds between two decisions.
ROUND = 60

#: Numbers of the workloads by trace.
_NUMBERS = {"pollux": (1, 2, 3, 4, 6), "philly": (1, 2), "saturn": (1, 2), "newtrace": (1,)}

#: The workloads: names of their traces, and their numbers.
NAMES = tuple(f"{trace}-{number}" for trace, numbers in _NUMBERS.items() for number in numbers)


class BestSchedule(Frozen):
    """The value of the best known schedule for a workload, and the best lower bound for all schedules.

    Attributes
    ----------
    name
        Name of the workload.
    mean_jct
        Mean job completion time of the best known schedule, in seconds.
    bound
        The best proven lower bound on the mean job completion time of all schedules in which jobs start, and
        change their GPUs or mode, only at whole minutes.
    found_by
        The method that found the schedule.
    since
        The day on which the schedule was found.
    version, digest
        The version of gsopt that judged the last submitted schedule or certificate, and the SHA-256 of that
        file. Empty if nothing was submitted.

    Examples
    --------
    >>> {known.name for known in best_schedules()} <= set(NAMES)
    True
    """

    name: str
    mean_jct: float
    bound: float
    found_by: str
    since: date
    version: str = ""
    digest: str = ""


class _Known(Frozen):
    schedules: Many[BestSchedule] = ()


def scenario(name: str, path: str | Path | None = None) -> Scenario:
    """Create the scenario of a workload with a name such as ``philly-1``; `path` is as in `pollux`."""
    require_one_of("name", name, NAMES)
    trace, _, number = name.rpartition("-")
    if trace == "pollux":
        return pollux(path, number=int(number))
    return sia(path, trace=trace, number=int(number), gpu="rtx", nodes=8)


def best_schedules(folder: Path = FOLDER) -> tuple[BestSchedule, ...]:
    """Return the best known value and bound of each workload for which a schedule is stored."""
    file = folder / "known.json"
    return tuple(read_data(_Known, file).schedules) if file.exists() else ()


def best_schedule(name: str, folder: Path = FOLDER) -> Schedule:
    """Return the best known schedule of a workload.

    Examples
    --------
    >>> {segment.start % ROUND for segment in best_schedule("philly-1").segments}
    {0.0}
    """
    require_one_of("name", name, [known.name for known in best_schedules(folder)])
    return Schedule.from_csv(read_text(folder / f"{name}.csv"))


def value_of(schedule: Schedule, given: Scenario) -> float:
    """Return the mean job completion time of a schedule.

    Raises
    ------
    InvalidInput
        A job starts, or changes its GPUs or mode, at a time that is not a whole minute.
    InvalidSolution
        The schedule breaks a rule of the scenario.
    """
    odd = next((each for each in schedule.segments if each.start % ROUND), None)
    require(odd is None, "schedule", odd, f"must start and change jobs at multiples of {ROUND} s")
    return float(judged(schedule, given, fairness=False).mean_jct or 0)


def bracket(name: str) -> tuple[float, float]:
    """Return the best known mean job completion time of a workload, and the best lower bound, in seconds.

    Examples
    --------
    >>> value, bound = bracket("philly-1")
    >>> bound < value
    True
    """
    row = _row(name)
    return row.mean_jct, row.bound


def entry(
    name: str, *, by: str, day: date, value: float | None = None, bound: float | None = None, **file: str
) -> dict[str, Any]:
    """Return a workload's entry in ``known.json`` with a new value or, if `value` is None, with a new bound.

    `file` contains the version of gsopt, and the digest of the schedule or certificate. `by` and `day` are
    stored only with a value.
    """
    better: dict[str, Any] = {"mean_jct": value, "found_by": by, "since": day}
    known = _row(name).model_copy(update={"bound": bound} if value is None else better)
    return known.model_dump(mode="json") | file


def _row(name: str) -> BestSchedule:
    known = {row.name: row for row in best_schedules()}
    require_one_of("name", name, known)
    return known[name]


def keep(
    name: str,
    schedule: Schedule,
    given: Scenario,
    *,
    bound: float,
    found_by: str,
    folder: Path = FOLDER,
    today: date | None = None,
) -> BestSchedule:
    """Judge a schedule, store it if it is better than the stored one, and return the workload's entry.

    Parameters
    ----------
    name
        Name of the workload.
    schedule, given
        The schedule, and the scenario of the workload.
    bound
        A proven lower bound on the mean job completion time of all schedules in which jobs start and change
        only at whole minutes. The larger of this bound and the stored one is kept.
    found_by
        The method that found the schedule.
    folder
        The folder of the files.
    today
        The date of the schedule; the current date if None.

    Raises
    ------
    InvalidInput
        The workload is unknown, the value is below the bound, or a job starts, or changes its GPUs or mode, at
        a time that is not a whole minute.
    InvalidSolution
        The schedule breaks a rule of the scenario.
    """
    require_one_of("name", name, NAMES)
    value = value_of(schedule, given)
    known = {each.name: each for each in best_schedules(folder)}
    before = known.get(name)
    best = max(bound, before.bound if before else bound)
    if not best <= value:
        raise InvalidInput("bound", shorten(best), f"must be at most the value {value}")
    if before is None or value < before.mean_jct:
        write_text(folder / f"{name}.csv", schedule.to_csv())
        day = today or datetime.now(UTC).date()
        before = BestSchedule(name=name, mean_jct=value, bound=best, found_by=found_by, since=day)
    known[name] = before.model_copy(update={"bound": best})
    write(_Known(schedules=tuple(known[each] for each in NAMES if each in known)), folder / "known.json")
    return known[name]
