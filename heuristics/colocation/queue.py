"""Queue: the order in which pending jobs choose their partners."""

from collections.abc import Sequence
from typing import Literal, get_args

from gsopt.core.errors import require_one_of
from gsopt.problems.colocation import Colocation, Pending

#: The sort key of pending jobs: their expected seconds, or their numbers of GPUs.
Key = Literal["seconds", "gpus"]


def shortest_first(problem: Colocation, key: Key) -> Sequence[Pending]:
    """Return the pending jobs in ascending order of expected time or of number of GPUs, as `key` states.

    Ties keep the order of the instance.
    """
    require_one_of("key", key, get_args(Key))
    return sorted(problem.pending, key=lambda job: job.seconds if key == "seconds" else job.gpus)
