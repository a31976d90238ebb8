"""Study: the description of a study in a JSON file."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from gsopt.core.budget import checked_time_limit
from gsopt.core.errors import InvalidInput
from gsopt.core.files import read_data
from gsopt.core.problem import Frozen, Many, Name, RuleBroken


def _time_limit(given: Any) -> float | None:
    try:
        return checked_time_limit(given)
    except InvalidInput as error:
        raise RuleBroken("time_limit", given, error.rule) from None


class Study(Frozen):
    """A grid of instances, methods, options and seeds.

    An instance or a method is a name, or an object with options. If an option is a list, each of its values is
    used, so one entry can span a grid. A value that is itself a list is written as a list within a list. The
    optional key ``label`` renames the object in tables; options with a list of values are added to this name.

    Attributes
    ----------
    study
        Name of the study. A folder holds the results of only one study.
    instances
        Names of instances, suites or files, or objects with one of the keys ``instance``, ``generator`` (of
        instances of a decision), ``reader`` (of a trace), ``workload`` (a generator of workloads, or a workload
        file), ``scenario`` (a function that creates whole scenarios) or ``space`` (a space of small instances).
    methods
        Names of methods or policies, such as ``greedy`` or ``package.module:function``, or objects with the key
        ``method`` or ``policy`` and the method's options. The optional key ``for`` restricts the method to the
        instances with the given label.
    seeds
        Seeds for each randomized method that does not set its own ``seed``. Other methods run once.
    time_limit
        Time limit per cell, in seconds or as a string such as ``"2min"``, for methods that accept a limit and
        do not set their own; None for no limit. If this field is given, it also limits the runs of policies:
        the cell of a run that takes longer fails.
    bound_evaluations
        The `evaluations` of `gsopt.schedule.bounds.mean_jct_bound`, which computes a lower bound on the mean
        JCT of every policy on an instance; None for the default of that function.

    Examples
    --------
    >>> Study(study="a", instances=["reclaiming/small"], methods=["greedy", {"method": "exact"}]).time_limit
    60.0
    """

    study: Name
    instances: Many[Any] = Field(min_length=1)
    methods: Many[Any] = Field(min_length=1)
    seeds: Many[int] = Field(default=(0,), min_length=1)
    time_limit: Annotated[float | None, BeforeValidator(_time_limit)] = 60.0
    bound_evaluations: Annotated[int, Field(ge=0, le=1_000_000)] | None = None

    @field_validator("instances", "methods", mode="after")
    @classmethod
    def _names_or_objects(cls, entries: tuple[Any, ...], info: Any) -> tuple[Any, ...]:
        for index, entry in enumerate(entries):
            if not isinstance(entry, str | dict):
                rule = "must be a name, or an object with options"
                raise RuleBroken(f"{info.field_name}[{index}]", entry, rule)
        return entries

    @field_validator("seeds", mode="after")
    @classmethod
    def _seeds_differ(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        for seed, count in Counter(seeds).items():
            if count > 1:
                raise RuleBroken("seeds", seed, "must not occur twice")
        return seeds


def read_study(path: str | Path) -> Study:
    """Read a study from a JSON file.

    Raises
    ------
    InvalidInput
        The file cannot be read or breaks a rule.

    Examples
    --------
    >>> read_study("no-such-file.json")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no-such-file.json: cannot be read: No such file or directory
    """
    return read_data(Study, path)
