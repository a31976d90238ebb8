"""GPUs that jobs hold for good."""

import pytest

from gsopt.core.errors import Unsupported
from gsopt.scenario.job import Job
from gsopt.simulation import Decider, State, simulate
from heuristics.policies.allox.reserved import Reserved
from heuristics.policies.gavel.ledger import Portions
from heuristics.policies.gavel.rounds import Rounds
from tests.gsopt.simulation.scenarios import bundle


def divisions(*durations: float, gpus: int, wide: int = 1, gangs: bool = False) -> list[Portions]:
    """Run jobs that are all there at 0, and give what each had every time."""
    found: list[Portions] = []

    def watched(state: State) -> Decider:
        reserved = Reserved(gangs=gangs)

        def divide(*given: object) -> Portions:
            found.append(reserved(*given))  # type: ignore[arg-type]
            return found[-1]

        return Rounds(state, divide, form="port")

    jobs = bundle(Job(name=f"j{i}", release_date=0, duration=d, gpus=wide) for i, d in enumerate(durations))
    simulate(jobs, watched, cluster=gpus)
    return found


def test_whoever_is_first_holds_its_gpu_to_the_end() -> None:
    """The shortest of three jobs has all the time until it is complete, and then the next one."""
    found = divisions(900, 360, 500, gpus=1)
    assert [[job for job, own in each.items() if own] for each in found] == [[1], [2], [2], [0], [0], [0]]
    assert all(own in ({}, {"gpu": 1.0}) for each in found for own in each.values())


def test_a_gang_counts_as_one() -> None:
    """Two jobs of two GPUs hold two GPUs."""
    first = divisions(360, 360, 360, gpus=2, wide=2, gangs=True)[0]
    assert sum(bool(own) for own in first.values()) == 2
    with pytest.raises(Unsupported, match="demands 2 GPUs"):
        divisions(360, gpus=2, wide=2)
