"""Stack: the nodes of a search from the root to the current one, as arrays for kernels."""

from typing import Any, NamedTuple

import numpy as np

from formulations.sharing.jobs import Jobs
from gsopt.core.numbers.compiled import inner

Array = np.ndarray[Any, Any]

#: The states of a job.
PENDING, RUNNING, ENDED = 0, 1, 2


class Stack(NamedTuple):
    """The nodes of the search tree from the root to the current one.

    Row i of an array belongs to the node at depth i; `depth` and `doubt` have a single element. Rows of greater
    depth than the current node are unused.
    """

    depth: Array  # row of the current node, in an array of one; -1 when the search is complete
    # whether floats cannot tell what follows the current node when time passes, in an array of one
    doubt: Array
    # the job whose starts are tried; the number of jobs if time passes next, and one more once it has passed
    cursor: Array
    fresh: Array  # whether no start of that job has been tried
    # time, cost: the time, and the sum of the ends of the jobs that have ended
    time: Array
    cost: Array
    slip: Array  # possible errors of the time and of any future end; 0 for fractions
    steps: Array  # how many times time has passed
    free: Array  # GPUs that nobody holds
    # state, due, left: state of each job; when it ends if nothing changes, or when it ended; and its
    # remaining work
    state: Array
    due: Array
    left: Array
    worst: Array  # the partner that slows each job most; the number of jobs if there is none
    own: Array  # GPUs that each job holds alone
    shared: Array  # GPUs that two jobs share
    taken: Array  # GPUs of the start being tried: how many it shares with each job, and last the free ones
    begun: Array  # how many times time had passed when each job started
    # time_rest, cost_rest, due_rest: `time`, `cost` and `due` as remainders
    time_rest: Array
    cost_rest: Array
    due_rest: Array


def new_stack(jobs: Jobs) -> Stack:
    """Return a stack with the root node, at the time of the first arrival and with nothing started."""
    count, primes, kind = len(jobs.demand), len(jobs.primes), jobs.release.dtype
    rows = 3 * count + 2
    stack = Stack(
        depth=np.zeros(1, dtype=np.int64),
        doubt=np.zeros(1, dtype=np.bool_),
        cursor=np.zeros(rows, dtype=np.int64),
        fresh=np.ones(rows, dtype=np.bool_),
        time=np.zeros(rows, dtype=kind),
        cost=np.zeros(rows, dtype=kind),
        slip=np.zeros((rows, 2), dtype=kind),
        steps=np.zeros(rows, dtype=np.int64),
        free=np.zeros(rows, dtype=np.int64),
        state=np.zeros((rows, count), dtype=np.int64),
        due=np.zeros((rows, count), dtype=kind),
        left=np.zeros((rows, count), dtype=kind),
        worst=np.full((rows, count), count, dtype=np.int64),
        own=np.zeros((rows, count), dtype=np.int64),
        shared=np.zeros((rows, count, count), dtype=np.int64),
        taken=np.zeros((rows, count, count + 1), dtype=np.int64),
        begun=np.zeros((rows, count), dtype=np.int64),
        time_rest=np.zeros((rows, primes), dtype=np.int64),
        cost_rest=np.zeros((rows, primes), dtype=np.int64),
        due_rest=np.zeros((rows, count, primes), dtype=np.int64),
    )
    stack.free[0] = jobs.gpus[0]
    stack.left[0] = jobs.duration
    return stack


@inner
def copy_node(stack: Stack, depth: int) -> None:
    """Copy a node to its child, without the starts already tried."""
    child = depth + 1
    stack.time[child] = stack.time[depth]
    stack.cost[child] = stack.cost[depth]
    stack.slip[child, 0], stack.slip[child, 1] = stack.slip[depth, 0], stack.slip[depth, 1]
    stack.steps[child] = stack.steps[depth]
    stack.free[child] = stack.free[depth]
    count = stack.state.shape[1]
    for job in range(count):  # assigning rows would compile the words of an error as well
        stack.state[child, job] = stack.state[depth, job]
        stack.due[child, job] = stack.due[depth, job]
        stack.left[child, job] = stack.left[depth, job]
        stack.worst[child, job] = stack.worst[depth, job]
        stack.own[child, job] = stack.own[depth, job]
        stack.begun[child, job] = stack.begun[depth, job]
        stack.taken[child, job, count] = stack.taken[depth, job, count]
        for other in range(count):
            stack.shared[child, job, other] = stack.shared[depth, job, other]
            stack.taken[child, job, other] = stack.taken[depth, job, other]
    for rest in range(stack.time_rest.shape[1]):
        stack.time_rest[child, rest] = stack.time_rest[depth, rest]
        stack.cost_rest[child, rest] = stack.cost_rest[depth, rest]
        for job in range(count):
            stack.due_rest[child, job, rest] = stack.due_rest[depth, job, rest]


@inner
def has_come(jobs: Jobs, stack: Stack, depth: int, job: int) -> bool:
    """Check whether a job has been released by a node's time, up to the rounding error."""
    slip = stack.slip[depth, 0] + jobs.rounding[0] * jobs.release[job]
    return bool(jobs.release[job] <= stack.time[depth] + slip)


@inner
def pending(stack: Stack, depth: int) -> int:
    """Return the number of jobs that have not started."""
    total = 0
    for state in stack.state[depth]:
        total += state == PENDING
    return total


@inner
def is_whole(stack: Stack, depth: int) -> bool:
    """Check whether all jobs have ended."""
    ended = 0
    for state in stack.state[depth]:
        ended += state == ENDED
    return bool(ended == stack.state.shape[1])
