"""Speeds that are not proportional."""

from instances.allocation.scaling import across_servers, imperfect, values


def test_imperfect_scaling_loses_ten_percent_per_step() -> None:
    """Beyond the middle 6 of a range 2 to 10 the speed is 90, 80, 70 and 60 % of the proportional one."""
    speed = imperfect(2, 10)
    assert [speed(w) / w for w in (2, 6, 7, 8, 9, 10)] == [1, 1, 0.9, 0.8, 0.7, 0.6]


def test_the_loss_stops_before_the_speed_is_gone() -> None:
    """However wide the range, a tenth of the speed is left."""
    assert imperfect(1, 101)(101) == 10.1


def test_a_server_more_costs_speed() -> None:
    """Eight workers of one GPU stand on one server; the ninth crosses to another and the job gets slower."""
    speed = across_servers(1, toll=0.25)
    assert speed(8) == 8
    assert speed(9) == 9 / 1.25 < speed(8)
    assert speed(16) == 16 / 1.25 > speed(8)


def test_values_can_be_negative() -> None:
    """A slower job takes longer than with its minimum, which is a negative reduction."""
    assert values(100, 8, 9, across_servers(1, toll=1.0)) == (-78.0,)
