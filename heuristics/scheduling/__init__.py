"""Published policies for scheduling over time, replayed on the instances of the exact methods."""

from heuristics.scheduling.replays import (
    efq,
    elastic_las,
    elastic_srtf,
    equal_share,
    fifo,
    las,
    srtf,
)

__all__ = ["efq", "elastic_las", "elastic_srtf", "equal_share", "fifo", "las", "srtf"]
