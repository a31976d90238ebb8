"""Spaces: finite sets of small placement problems for `gsopt.worst`."""

from collections.abc import Sequence

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.placement import Placement, Resources, Server, Workers
from instances.arguments import at_least

__all__ = ["tiny"]


def tiny(*, workers: int = 6, gpus: int = 8) -> Space:
    """Return the space of all problems of placing a few workers on as many empty servers.

    Parameters
    ----------
    workers
        Maximum number of workers, each of which is a separate job.
    gpus
        Maximum number of GPUs per server. A worker needs at least one GPU and at most all GPUs of a server.

    Examples
    --------
    >>> tiny(workers=2, gpus=2).size
    7
    """
    at_least(1, workers=workers, gpus=gpus)
    about = f"at most {workers} workers on servers with at most {gpus} GPUs each"
    return Space("placement", about, tuple(_setting(size) for size in range(1, gpus + 1)), workers)


def _setting(gpus: int) -> Setting:
    def make(sizes: Sequence[int]) -> Placement:
        return Placement(
            servers=[Server(name="s", count=len(sizes), capacity=Resources(gpu=gpus))],
            workers=[Workers(job=f"j{place}", demand=Resources(gpu=size)) for place, size in enumerate(sizes)],
        )

    return Setting(tuple(range(1, gpus + 1)), make)
