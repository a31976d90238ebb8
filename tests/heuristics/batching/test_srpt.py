"""The shortest remaining time first."""

from gsopt.problems.batching import Batching
from heuristics.batching import srpt
from tests.strategies.batching import THREE, gpus_of


def test_seven_gpus_by_hand() -> None:
    """Each has one, then the short job its cap of two, and the middle one what is left."""
    assert gpus_of(srpt(Batching(gpus=7, jobs=THREE))) == {"long": 1, "short": 2, "middle": 4}


def test_fewer_gpus_than_jobs_go_to_the_shortest() -> None:
    """On two GPUs the two shortest jobs have one each."""
    assert gpus_of(srpt(Batching(gpus=2, jobs=THREE))) == {"short": 1, "middle": 1}


def test_nobody_forced_the_shortest_has_its_cap() -> None:
    """Where nobody must run the shortest job has its cap, the next one what is left, the others wait."""
    assert gpus_of(srpt(Batching(gpus=7, jobs=THREE, forced="none"))) == {"short": 2, "middle": 5}
