"""Plan: the shares of all admitted jobs, and the jobs that get spare GPUs now."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf

from gsopt.simulation.parts.ties import settled
from heuristics.policies.elasticflow.profile import PlannedShare, ProfileRequest, SlotProfile


def shares(
    requests: Sequence[ProfileRequest],
    gpus: int,
    length: float,
    before: Mapping[int, PlannedShare] | None = None,
) -> dict[int, PlannedShare]:
    """Grant jobs their minimum satisfactory shares, earliest deadline first; late jobs get nothing.

    The level of a share is the limit on its number of GPUs in any slot. A minimum satisfactory share has the
    lowest level with which the job meets its deadline (`SlotProfile.serve`). If some job is late, shares are
    also computed without lowering any level of the previous plan (`before`), and used if fewer jobs are late
    with them.
    """
    found = _served(requests, gpus, length, {})
    if before and len(found) < len(requests):
        other = _served(requests, gpus, length, before)
        if len(other) > len(found):
            return other
    return found


def _served(
    requests: Sequence[ProfileRequest], gpus: int, length: float, before: Mapping[int, PlannedShare]
) -> dict[int, PlannedShare]:
    profile, found = SlotProfile(gpus, length), dict[int, PlannedShare]()
    for request in by_deadline(requests):
        least = before[request.number].level if request.number in before else 0
        if (share := profile.serve(request, least)) is not None:
            found[request.number] = share
    return found


def keeps_all(
    requests: Sequence[ProfileRequest],
    gpus: int,
    length: float,
    before: Mapping[int, PlannedShare] | None = None,
) -> bool:
    """Check whether minimum satisfactory shares, granted earliest deadline first, meet all deadlines.

    Source: ElasticFlow (ASPLOS 2023), section 4.1, Algorithm 1.
    """
    return len(shares(requests, gpus, length, before)) == len(requests)


def by_deadline(requests: Iterable[ProfileRequest]) -> list[ProfileRequest]:
    """Return the requests in order of deadline, those without one last. Ties go to the lower job number."""
    return sorted(
        requests, key=lambda request: (inf if request.slots is None else request.slots, request.number)
    )


def with_spare(
    requests: Sequence[ProfileRequest], planned: Mapping[int, PlannedShare], gpus: int
) -> dict[int, int]:
    """Return how many GPUs each job gets now: its share, plus spare GPUs where they raise GPU time least.

    `requests` must be in order of deadline. A level is a number of GPUs on which a job can run. Jobs that would
    get nothing now first get their lowest level, if enough GPUs are left. Then, repeatedly, the job whose GPU
    time until completion rises least (or falls most) per GPU goes up one level. Work done in this slot saves
    GPU time in later slots, in which the job is assumed to run at the level of its share. Ties go to the first
    job.

    Source: ElasticFlow (ASPLOS 2023), section 4.2, Algorithm 2.
    """
    given = {
        request.number: planned[request.number].now if request.number in planned else 0 for request in requests
    }
    left = gpus - sum(given.values())
    for request in requests:
        if not given[request.number] and request.levels[0] <= left:
            given[request.number] = request.levels[0]
            left -= request.levels[0]
    while True:
        best: tuple[float, int, ProfileRequest] | None = None
        for request in requests:
            held = given[request.number]
            rung = request.levels.index(held) + 1 if held else len(request.levels)
            if rung < len(request.levels) and request.levels[rung] - held <= left:
                level = planned[request.number].level if request.number in planned else request.levels[0]
                cost = _cost(request, rung, level)
                if best is None or cost < best[0]:
                    best = (cost, rung, request)
        if best is None:
            return given
        _, rung, request = best
        left -= request.levels[rung] - given[request.number]
        given[request.number] = request.levels[rung]


def _cost(request: ProfileRequest, rung: int, level: int) -> float:
    """Return how much a step up to level `rung` raises a job's GPU time, per second and additional GPU."""
    more = request.levels[rung] - request.levels[rung - 1]
    faster = request.speeds[rung] - request.speeds[rung - 1]
    gain = faster * level / request.speed(level) / more
    return 1 - float(settled(gain))  # jobs of linear speed tie
