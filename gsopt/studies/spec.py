"""Study: what is to be computed, as a JSON file."""

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
    """A grid of instances, methods, parameters and seeds.

    An instance or a method is a name, or an object with options; an option that is a list stands for each of
    its values in turn, so that one entry spans a grid of its own. An option whose value is a list by itself is
    written as a list in a list.

    Attributes
    ----------
    study
        Name of the study; a folder holds the results of one study.
    instances
        A name, a suite or a file; or an object with the key ``instance``, ``generator`` (an instance of a
        decision), ``reader`` (a trace), ``workload`` (a generator of workloads, or a workload file) or
        ``scenario`` (a maker of whole scenarios).
    methods
        The name of a method or policy, which may be ``package.module:function``; or an object with the key
        ``method`` or ``policy``, its options, and perhaps ``for``, the label of the instances that it meets.
    seeds
        Given to each method that draws at random; the others run once.
    time_limit
        Seconds, or text such as ``"2min"``, per cell, for the methods that take a limit; None for no limit. A
        policy whose run takes longer has failed; it has no limit unless this is given.
    bound_evaluations
        How many prices of GPU time are tried to bound what any policy does on each workload, once for all
        policies; None for a share that takes less time than a simulation, 0 for formulas alone.

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
                raise RuleBroken("seeds", seed, "must not stand there twice")
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
