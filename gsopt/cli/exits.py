"""Exits: what the exit code of the command says."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes.

    Examples
    --------
    >>> int(Exit.BAD_INPUT)
    2
    """

    SOLUTION = 0
    FAILED = 1  # a rule of the judge is broken, a method failed, or two methods contradict each other
    BAD_INPUT = 2
    NO_SOLUTION = 3
    INFEASIBLE = 4
    INTERRUPTED = 130
