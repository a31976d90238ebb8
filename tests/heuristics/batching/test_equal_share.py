"""Equal shares up to the caps."""

from gsopt.problems.batching import Batching
from heuristics.batching import equal_share
from tests.strategies.batching import THREE, gpus_of


def test_seven_gpus_by_hand() -> None:
    """Two each are six, and the shorter of the two that may have more gets the seventh."""
    assert gpus_of(equal_share(Batching(gpus=7, jobs=THREE))) == {"long": 2, "short": 2, "middle": 3}


def test_fewer_gpus_than_jobs_go_to_the_shortest() -> None:
    """On two GPUs the two shortest jobs have one each."""
    assert gpus_of(equal_share(Batching(gpus=2, jobs=THREE))) == {"short": 1, "middle": 1}
