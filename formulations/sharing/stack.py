"""Stack: the nodes of a search from the root to the one at hand, as arrays for kernels."""

from typing import Any, NamedTuple

import numpy as np

from formulations.sharing.jobs import Jobs
from gsopt.compiled import compiled

Array = np.ndarray[Any, Any]

#: States of a job.
PENDING, RUNNING, ENDED = 0, 1, 2


class Stack(NamedTuple):
    """The nodes from the root to the one at hand, a row of each array for each.

    Attributes
    ----------
    depth
        Row of the node at hand, in an array of one; -1 when all is searched.
    cursor
        The job of which starts are tried; the number of jobs when time is to pass, one more when it has.
    fresh
        Whether no start of that job has been tried.
    time, cost
        The time, and the sum of the ends of the jobs that have ended.
    free
        GPUs that nobody holds.
    state, left
        State of each job and seconds of work that are left of it.
    own
        GPUs that each job holds alone.
    shared
        GPUs that two jobs share.
    taken
        GPUs of the start being tried: those of each job that it shares, and last the free ones.
    start
        When each job started.
    """

    depth: Array
    cursor: Array
    fresh: Array
    time: Array
    cost: Array
    free: Array
    state: Array
    left: Array
    own: Array
    shared: Array
    taken: Array
    start: Array


def new_stack(jobs: Jobs) -> Stack:
    """Give the stack with the root: nothing has started at the first arrival."""
    count = len(jobs.demand)
    rows = 3 * count + 2
    stack = Stack(
        depth=np.zeros(1, dtype=np.int64),
        cursor=np.zeros(rows, dtype=np.int64),
        fresh=np.ones(rows, dtype=np.bool_),
        time=np.zeros(rows),
        cost=np.zeros(rows),
        free=np.zeros(rows, dtype=np.int64),
        state=np.zeros((rows, count), dtype=np.int64),
        left=np.zeros((rows, count)),
        own=np.zeros((rows, count), dtype=np.int64),
        shared=np.zeros((rows, count, count), dtype=np.int64),
        taken=np.zeros((rows, count, count + 1), dtype=np.int64),
        start=np.zeros((rows, count)),
    )
    stack.free[0] = jobs.gpus[0]
    stack.left[0] = jobs.duration
    return stack


@compiled
def copy_node(stack: Stack, depth: int) -> None:
    """Write the node behind one as it is, but for what has been tried."""
    child = depth + 1
    stack.time[child] = stack.time[depth]
    stack.cost[child] = stack.cost[depth]
    stack.free[child] = stack.free[depth]
    count = stack.state.shape[1]
    for job in range(count):  # assigning rows would compile the words of an error as well
        stack.state[child, job] = stack.state[depth, job]
        stack.left[child, job] = stack.left[depth, job]
        stack.own[child, job] = stack.own[depth, job]
        stack.start[child, job] = stack.start[depth, job]
        stack.taken[child, job, count] = stack.taken[depth, job, count]
        for other in range(count):
            stack.shared[child, job, other] = stack.shared[depth, job, other]
            stack.taken[child, job, other] = stack.taken[depth, job, other]


@compiled
def pending(stack: Stack, depth: int) -> int:
    """Count the jobs that have not started."""
    total = 0
    for state in stack.state[depth]:
        total += state == PENDING
    return total


@compiled
def is_whole(stack: Stack, depth: int) -> bool:
    """Tell whether all jobs have ended."""
    ended = 0
    for state in stack.state[depth]:
        ended += state == ENDED
    return bool(ended == stack.state.shape[1])
