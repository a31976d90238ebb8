"""Scaling: value tables of jobs whose speed is not proportional to their workers."""

from collections.abc import Callable

#: Speed with a number of workers; only ratios matter.
Speed = Callable[[int], float]

#: GPUs of a server: workers beyond them talk over the network.
SERVER_GPUS = 8


def values(time: float, least: int, most: int, speed: Speed) -> tuple[float, ...]:
    """Return the reduction of a running time with each number of extra workers, to the second."""
    return tuple(
        float(round(time - time * speed(least) / speed(workers))) for workers in range(least + 1, most + 1)
    )


def imperfect(least: int, most: int) -> Speed:
    """Return a speed that loses 10 % of the proportional one for each worker beyond the middle of the range.

    Source: Aryl, section 7.2, impact of imperfect scaling. The loss stops at 90 %.
    """
    middle = (least + most) / 2

    def speed(workers: int) -> float:
        beyond = max(0, int(workers - middle))
        return round(workers * (1 - min(0.1 * beyond, 0.9)), 9)

    return speed


def across_servers(gpus_per_worker: int, toll: float) -> Speed:
    """Return a speed that drops by a toll for every server of eight GPUs that a job spans beyond its first.

    The drop makes the values neither concave nor rising: the first worker on a further server can cost time,
    and those after it make up for it. Measured curves look like this where a job crosses to another node.
    """

    def speed(workers: int) -> float:
        servers = -(-workers * gpus_per_worker // SERVER_GPUS)
        return workers / (1 + toll * (servers - 1))

    return speed
