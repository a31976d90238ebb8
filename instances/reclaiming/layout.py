"""Layout: the servers and workers of an instance, built from server indices."""

from collections import Counter
from collections.abc import Iterable, Mapping

from gsopt.problems.reclaiming import Server

#: GPUs that a job uses on each server; servers are numbered from 0.
Placement = Mapping[int, int]


def eight_gpu_servers(count: int) -> tuple[Server, ...]:
    """Return servers s1, s2, ... with eight GPUs each."""
    return tuple(Server(name=server_name(number), gpus=8) for number in range(count))


def server_name(number: int) -> str:
    """Return the name of a server, given its index."""
    return f"s{number + 1}"


def named(placement: Placement) -> dict[str, int]:
    """Return a placement keyed by the servers' names instead of their indices, in the order of the indices."""
    return {server_name(number): placement[number] for number in sorted(placement)}


def crowd(placements: Iterable[Placement]) -> int:
    """Return the number of GPUs in use on the fullest server."""
    used: Counter[int] = Counter()
    for placement in placements:
        used.update(placement)
    return max(used.values(), default=0)
