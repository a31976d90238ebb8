"""The order of pending jobs."""

from gsopt.problems.colocation import Colocation, Pending
from heuristics.colocation.queue import shortest_first


def test_equal_jobs_keep_their_order() -> None:
    """Jobs of one length, or of one number of GPUs, stand as in the instance."""
    sizes = {"a": (2, 5.0), "b": (1, 9.0), "c": (2, 3.0), "d": (1, 5.0)}
    jobs = [Pending(name=name, gpus=gpus, seconds=seconds) for name, (gpus, seconds) in sizes.items()]
    problem = Colocation(running=[], pending=jobs)
    assert [job.name for job in shortest_first(problem, "seconds")] == ["c", "a", "d", "b"]
    assert [job.name for job in shortest_first(problem, "gpus")] == ["b", "d", "a", "c"]
