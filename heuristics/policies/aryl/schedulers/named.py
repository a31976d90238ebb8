"""Named: a scheduler by its name and options."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from heuristics.policies.aryl.epoch import Scheduler


def scheduler_named(name: str, options: Mapping[str, Any] | None = None) -> Scheduler:
    """Make a new scheduler of this package.

    Raises
    ------
    InvalidInput
        There is no such scheduler, it has no such option, or an option is out of its range.
    """
    from heuristics.policies.aryl import schedulers  # which holds them all, as soon as it is loaded

    if name not in schedulers.__all__:
        rule = f"must be two_phase, or one of {', '.join(schedulers.__all__)}"
        raise InvalidInput("", "scheduler", shorten(name), rule)
    factory = getattr(schedulers, name)
    known = signature(factory).parameters
    for option in options or {}:
        if option not in known:
            rule = f"is no option of {name}; it has {', '.join(known)}"
            raise InvalidInput("", "scheduler_options", shorten(option), rule)
    made: Scheduler = factory(**(options or {}))
    return made
