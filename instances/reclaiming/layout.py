"""Layout: the servers and workers of an instance, from plain server numbers."""

from collections import Counter
from collections.abc import Iterable, Mapping

from gsopt.problems.reclaiming import Server

#: GPUs that a job uses on each server; servers are numbered from 0.
Placement = Mapping[int, int]


def eight_gpu_servers(count: int) -> tuple[Server, ...]:
    """Return servers s1, s2, ... of eight GPUs each."""
    return tuple(Server(name=server_name(number), gpus=8) for number in range(count))


def server_name(number: int) -> str:
    """Return the name of a server, given its number from 0 on."""
    return f"s{number + 1}"


def named(placement: Placement) -> dict[str, int]:
    """Return a placement with the names of servers, in the order of their numbers."""
    return {server_name(number): placement[number] for number in sorted(placement)}


def crowd(placements: Iterable[Placement]) -> int:
    """Count the GPUs in use on the fullest server."""
    used: Counter[int] = Counter()
    for placement in placements:
        used.update(placement)
    return max(used.values(), default=0)
