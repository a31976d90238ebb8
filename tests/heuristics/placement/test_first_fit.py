"""First fit."""

from typing import Any

from gsopt.problems.placement import Placement, Resources, Server, Workers
from heuristics.placement import first_fit
from tests.strategies.placement import gpu_line


def where(problem: Placement, **options: Any) -> list[str]:
    """Return the server of each worker, of which every line has one."""
    solution = first_fit(problem, **options).solution
    assert solution is not None
    return [server for server, _, _ in sorted(solution.placed, key=lambda entry: entry.workers)]


def test_the_first_server_with_room_is_taken() -> None:
    """Workers of 5, 4, 3 and 4 GPUs in this order go to the first, second, first and second server."""
    assert where(gpu_line(5, 4, 3, 4)) == ["s[0]", "s[1]", "s[0]", "s[1]"]


def test_servers_in_use_have_no_precedence() -> None:
    """The first server is taken even if it is empty and a later one in use."""
    servers = (
        Server(name="empty", capacity=Resources(gpu=8)),
        Server(name="used", capacity=Resources(gpu=8), used=Resources(gpu=1)),
    )
    problem = Placement(servers=servers, workers=(Workers(job="a", demand=Resources(gpu=1)),))

    assert where(problem) == ["empty"]


def test_decreasing_order_is_an_option() -> None:
    """Workers of 2, 2, 6 and 6 GPUs take three servers as they come, two with the largest first."""
    problem = gpu_line(2, 2, 6, 6)

    assert first_fit(problem).objective == 3
    assert where(problem, decreasing=True) == ["s[0]", "s[1]", "s[0]", "s[1]"]
