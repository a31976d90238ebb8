"""Exchange: pairs of jobs whose order can be fixed by an exchange argument."""

from itertools import permutations

from formulations.scheduling.instance import Instance
from gsopt.core.numbers.grid import decimal


def exchange_orders(instance: Instance) -> frozenset[tuple[int, int]]:
    """Return pairs of jobs; some best schedule completes the first job of every pair no later than the second.

    Both jobs of a pair may run on the same numbers of GPUs, at proportional rates. The first job has an earlier
    or equal release date, takes no longer on equal numbers of GPUs, and has no later deadline. If a schedule
    completes the second job first, there is a time at which the remaining work of both would take equally long.
    From then on, their allocations can be swapped, so that each job completes when the other one did before.
    """
    pairs = permutations(range(len(instance)), 2)
    return frozenset((first, second) for first, second in pairs if _precedes(instance, first, second))


def _precedes(instance: Instance, first: int, second: int) -> bool:
    one, other = instance.modes[first], instance.modes[second]
    if [mode.gpus for mode in one] != [mode.gpus for mode in other]:
        return False
    rates, others = ([decimal(mode.rate) for mode in modes] for modes in (one, other))
    if any(rate * others[0] != other_rate * rates[0] for rate, other_rate in zip(rates, others, strict=True)):
        return False
    least, most = decimal(instance.work[first]) * others[0], decimal(instance.work[second]) * rates[0]
    mine = (least, instance.release[first], instance.deadline[first])
    theirs = (most, instance.release[second], instance.deadline[second])
    dominates = all(a <= b for a, b in zip(mine, theirs, strict=True))
    return dominates and (mine != theirs or first < second)
