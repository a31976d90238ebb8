"""Scaling: values of extra workers for jobs whose speed-up is not linear."""

from collections.abc import Callable

#: Speed as a function of the number of workers; only ratios matter.
Speed = Callable[[int], float]

#: GPUs per server; workers on different servers communicate over the network.
SERVER_GPUS = 8


def values(time: float, least: int, most: int, speed: Speed) -> tuple[float, ...]:
    """Return the running time saved by each number of extra workers, rounded to whole seconds."""
    return tuple(
        float(round(time - time * speed(least) / speed(workers))) for workers in range(least + 1, most + 1)
    )


def imperfect(least: int, most: int) -> Speed:
    """Return a speed function that loses 10 % of linear speed with each worker beyond the middle of the range.

    The middle is rounded up, and the loss stops at 90 %.

    Source: Aryl, section 7.2, impact of imperfect scaling.
    """
    middle = (least + most) / 2

    def speed(workers: int) -> float:
        beyond = max(0, int(workers - middle))
        return round(workers * (1 - min(0.1 * beyond, 0.9)), 9)

    return speed


def across_servers(gpus_per_worker: int, toll: float) -> Speed:
    """Return a speed function that falls behind linear speed with every eight-GPU server beyond the first.

    Linear speed is divided by 1 plus `toll` times the number of servers beyond the first. The values of extra
    workers may therefore be neither concave nor monotone: the first worker on another server can prolong the
    job, and later workers may make up for it. Measured curves look like this when a job expands to another
    node.
    """

    def speed(workers: int) -> float:
        servers = -(-workers * gpus_per_worker // SERVER_GPUS)
        return workers / (1 + toll * (servers - 1))

    return speed
