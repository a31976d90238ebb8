"""Tiny instances on which a search that leaves out one state too many misses the optimum."""

from typing import NamedTuple

from gsopt.job import Job
from gsopt.problems.sharing import Sharing


class Tiny(NamedTuple):
    """Jobs as release date, seconds and GPUs, and the slowdown of each beside each other."""

    gpus: int
    jobs: tuple[tuple[int, int, int], ...]
    slowdowns: tuple[tuple[float, ...], ...]

    @property
    def problem(self) -> Sharing:
        """The instance."""
        names = "abcde"[: len(self.jobs)]
        return Sharing(
            gpus=self.gpus,
            jobs=[
                Job(name=name, release_date=release, duration=seconds, gpus=gpus, model=name)
                for name, (release, seconds, gpus) in zip(names, self.jobs, strict=True)
            ],
            interference={
                name: dict(zip(names, row, strict=True))
                for name, row in zip(names, self.slowdowns, strict=True)
            },
        )


#: A rule of the search that is a little too strong has been seen to miss the optimum of at least one of these.
TINY = (
    Tiny(
        4,
        ((0, 5, 4), (1, 5, 4), (0, 4, 2), (0, 3, 1)),
        (
            (1.0, 1.5, 2.5, 2.5),
            (2.5, 1.0, 1.25, 1.5),
            (1.25, 2.5, 1.0, 1.25),
            (2.5, 1.5, 1.5, 1.0),
        ),
    ),
    Tiny(
        2,
        ((0, 2, 2), (1, 8, 2), (0, 2, 2), (0, 7, 2)),
        (
            (1.0, 1.25, 2.5, 1.5),
            (1.5, 1.0, 2.5, 1.25),
            (2.5, 1.25, 1.0, 1.5),
            (1.25, 1.25, 1.25, 1.0),
        ),
    ),
    Tiny(
        3,
        ((0, 7, 2), (0, 2, 1), (0, 7, 3), (0, 1, 1)),
        (
            (1.0, 2.5, 1.5, 1.5),
            (1.25, 1.0, 1.25, 1.5),
            (1.25, 1.25, 1.0, 2.5),
            (1.5, 1.5, 1.25, 1.0),
        ),
    ),
    Tiny(
        3,
        ((0, 3, 1), (5, 1, 2), (2, 8, 3), (0, 6, 3)),
        (
            (1.0, 2.5, 1.25, 2.5),
            (1.5, 1.0, 1.25, 2.5),
            (1.5, 2.5, 1.0, 1.5),
            (1.25, 1.25, 1.25, 1.0),
        ),
    ),
    Tiny(
        3,
        ((5, 3, 3), (0, 3, 1), (5, 3, 1), (0, 9, 1)),
        (
            (1.0, 1.5, 1.25, 1.5),
            (1.25, 1.0, 2.5, 2.5),
            (1.25, 1.5, 1.0, 1.25),
            (1.25, 1.5, 1.5, 1.0),
        ),
    ),
    Tiny(
        3,
        ((0, 4, 1), (0, 5, 3), (0, 5, 2), (1, 3, 1)),
        (
            (1.0, 2.0, 1.0, 3.0),
            (1.0, 1.0, 3.0, 2.0),
            (2.0, 1.0, 1.0, 2.0),
            (1.5, 1.0, 2.0, 1.0),
        ),
    ),
    Tiny(
        4,
        ((5, 2, 1), (0, 8, 3), (0, 3, 3), (0, 5, 3)),
        (
            (1.0, 2.5, 1.5, 1.5),
            (2.5, 1.0, 1.5, 1.25),
            (2.5, 1.25, 1.0, 2.5),
            (1.5, 1.25, 1.5, 1.0),
        ),
    ),
    Tiny(
        4,
        ((2, 7, 3), (0, 9, 4), (0, 1, 4), (0, 1, 4)),
        (
            (1.0, 1.2, 3.0, 3.0),
            (1.0, 1.0, 1.2, 2.0),
            (3.0, 1.2, 1.0, 1.2),
            (1.2, 1.5, 1.5, 1.0),
        ),
    ),
    Tiny(
        3,
        ((0, 8, 3), (0, 4, 2), (0, 2, 2)),
        (
            (1.0, 3.0, 1.5),
            (2.0, 1.0, 1.5),
            (1.5, 2.0, 1.0),
        ),
    ),
    Tiny(
        3,
        ((0, 8, 2), (1, 6, 2), (0, 4, 2), (0, 3, 2)),
        (
            (1.0, 1.2, 1.5, 2.0),
            (1.2, 1.0, 1.5, 1.5),
            (1.5, 2.0, 1.0, 2.0),
            (1.2, 1.2, 1.5, 1.0),
        ),
    ),
)

#: At nodes on the way through these, losses that are counted too often make a bound too high.
NODES = (
    Tiny(
        3,
        ((0, 1, 3), (1, 6, 1), (2, 5, 1), (0, 5, 3)),
        (
            (1.0, 1.1, 1.1, 1.0),
            (1.4, 1.0, 1.0, 1.1),
            (1.4, 1.4, 1.0, 1.0),
            (1.1, 1.4, 1.1, 1.0),
        ),
    ),
    Tiny(
        4,
        ((2, 5, 1), (0, 1, 2), (2, 1, 1), (0, 5, 4), (0, 4, 4)),
        (
            (1.0, 1.4, 1.0, 1.4, 1.0),
            (1.0, 1.0, 1.4, 1.4, 1.0),
            (1.0, 1.0, 1.0, 1.1, 1.4),
            (1.4, 1.1, 1.1, 1.0, 1.0),
            (1.4, 1.4, 1.0, 1.1, 1.0),
        ),
    ),
    Tiny(
        5,
        ((0, 6, 5), (1, 2, 2), (2, 1, 1), (0, 7, 4)),
        (
            (1.0, 3.0, 3.0, 2.0),
            (1.0, 1.0, 2.0, 1.5),
            (2.0, 1.2, 1.0, 1.0),
            (1.0, 1.2, 1.0, 1.0),
        ),
    ),
)
