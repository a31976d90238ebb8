"""Types: deciders that only count GPUs say so."""

from gsopt.errors import Unsupported
from gsopt.simulation.policy import State


def refuse_types(state: State) -> None:
    """Raise Unsupported when a job that arrives is tied to a type of GPU: the queues only count GPUs."""
    if any(state.jobs[job].gpu_type for job in state.arrived):
        raise Unsupported("this policy counts GPUs and does not look at their types")
