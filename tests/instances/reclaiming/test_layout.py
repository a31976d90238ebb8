"""Servers and workers from server numbers."""

from instances.reclaiming.layout import crowd, eight_gpu_servers, named


def test_servers_are_numbered_from_one() -> None:
    """Names count from s1, and every server has eight GPUs."""
    assert [(server.name, server.gpus) for server in eight_gpu_servers(3)] == [("s1", 8), ("s2", 8), ("s3", 8)]


def test_placements_are_named_in_the_order_of_numbers() -> None:
    """Names follow the numbers of the servers, not the order of placement."""
    assert list(named({9: 1, 2: 8}).items()) == [("s3", 8), ("s10", 1)]


def test_crowd_is_the_fullest_server() -> None:
    """GPUs of all placements on one server are added; nothing placed is 0."""
    assert crowd([{0: 4, 1: 2}, {1: 3}, {2: 1}]) == 5
    assert crowd([]) == 0
