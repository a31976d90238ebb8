"""Queue: the order in which pending jobs choose."""

from collections.abc import Sequence
from typing import Literal, get_args

from gsopt.core.errors import require_one_of
from gsopt.problems.colocation import Colocation, Pending

#: What a job is short by: its seconds, or its number of GPUs.
Key = Literal["seconds", "gpus"]


def shortest_first(problem: Colocation, key: Key) -> Sequence[Pending]:
    """Order the pending jobs by seconds or by GPUs; equal ones stay in the order of the instance.

    Raises
    ------
    InvalidInput
        The key is neither.
    """
    require_one_of("key", key, get_args(Key))
    return sorted(problem.pending, key=lambda job: job.seconds if key == "seconds" else job.gpus)
