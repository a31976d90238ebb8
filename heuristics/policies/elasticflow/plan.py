"""Plan: the shares of all admitted jobs, and who gets the GPUs that are left over now."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf

from gsopt.simulation.parts.ties import settled
from heuristics.policies.elasticflow.profile import PlannedShare, SlotProfile
from heuristics.policies.elasticflow.wish import Wish


def shares(
    wishes: Sequence[Wish], gpus: int, length: float, before: Mapping[int, PlannedShare] | None = None
) -> dict[int, PlannedShare]:
    """Grant every job its minimum satisfactory share, by deadline; none to those that would be late.

    What jobs have got beyond their shares may let one of them do with a lower level for longer, so that another
    is late, one that was not or a newcomer. Where that is so, and with at least the levels of the plan before
    more of them are in time, they have these.

    Parameters
    ----------
    wishes
        The jobs.
    gpus, length
        All GPUs, and the seconds of a slot.
    before
        The plan before, if there was one.
    """
    found = _served(wishes, gpus, length, {})
    if before and len(found) < len(wishes):
        other = _served(wishes, gpus, length, before)
        if len(other) > len(found):
            return other
    return found


def _served(
    wishes: Sequence[Wish], gpus: int, length: float, before: Mapping[int, PlannedShare]
) -> dict[int, PlannedShare]:
    profile = SlotProfile(gpus, length)
    found: dict[int, PlannedShare] = {}
    for wish in by_deadline(wishes):
        least = before[wish.number].level if wish.number in before else 0
        share = profile.serve(wish, least)
        if share is not None:
            found[wish.number] = share
    return found


def keeps_all(
    wishes: Sequence[Wish], gpus: int, length: float, before: Mapping[int, PlannedShare] | None = None
) -> bool:
    """Check whether minimum satisfactory shares, taken by deadline, keep the deadlines of all jobs.

    Source: ElasticFlow (ASPLOS 2023), section 4.1, Algorithm 1. Parameters as of `shares`.
    """
    return len(shares(wishes, gpus, length, before)) == len(wishes)


def by_deadline(wishes: Iterable[Wish]) -> list[Wish]:
    """Sort jobs by deadline, those without one last; ties go to the lower number."""
    return sorted(wishes, key=lambda wish: (inf if wish.slots is None else wish.slots, wish.number))


def with_spare(wishes: Sequence[Wish], planned: Mapping[int, PlannedShare], gpus: int) -> dict[int, int]:
    """Find the GPUs of every job now: its share, and what is left over by the GPU time that it costs or saves.

    Jobs that would get nothing now come first, by deadline, with their lowest level. Then one level at a time
    goes to the job whose GPU time until it is complete rises the least for each GPU, or falls: in this slot it
    holds more, and what it does more it has not to do later, at the level of its share. Ties go to the job
    that stands first.

    Source: ElasticFlow (ASPLOS 2023), section 4.2, Algorithm 2.

    Parameters
    ----------
    wishes
        The jobs, by deadline.
    planned
        Shares of those that have any.
    gpus
        All GPUs.
    """
    given = {wish.number: planned[wish.number].now if wish.number in planned else 0 for wish in wishes}
    left = gpus - sum(given.values())
    for wish in wishes:
        if not given[wish.number] and wish.levels[0] <= left:
            given[wish.number] = wish.levels[0]
            left -= wish.levels[0]
    while True:
        best: tuple[float, int, Wish] | None = None
        for wish in wishes:
            held = given[wish.number]
            rung = wish.levels.index(held) + 1 if held else len(wish.levels)
            if rung < len(wish.levels) and wish.levels[rung] - held <= left:
                level = planned[wish.number].level if wish.number in planned else wish.levels[0]
                cost = _cost(wish, rung, level)
                if best is None or cost < best[0]:
                    best = (cost, rung, wish)
        if best is None:
            return given
        _, rung, wish = best
        left -= wish.levels[rung] - given[wish.number]
        given[wish.number] = wish.levels[rung]


def _cost(wish: Wish, rung: int, level: int) -> float:
    """Return by how much the GPU time of a job rises, for each GPU of its step to a rung, in a second of it."""
    more = wish.levels[rung] - wish.levels[rung - 1]
    faster = wish.speeds[rung] - wish.speeds[rung - 1]
    gain = faster * level / wish.speed(level) / more
    return 1 - float(settled(gain))  # jobs of linear speed tie
