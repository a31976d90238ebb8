"""What is known of an instance is read from what its file says."""

from datetime import date

import pytest

from gsopt.core.problem import About
from gsopt.studies.suites.known import Known, Standing
from instances.reclaiming import figure_5
from instances.suites import changed, with_about

DAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("facts", "standing", "gap"),
    [
        ({"objective": 3.0, "bound": 3.0, "proved_by": "a"}, Standing.PROVEN, 0.0),
        ({"objective": 3.0, "bound": 2.9999999, "proved_by": "a"}, Standing.PROVEN, 0.0),  # as floats tell
        ({"objective": 3.0, "bound": 2.0, "found_by": "a"}, Standing.CHALLENGE, 0.5),
        ({"objective": 3.0, "bound": None, "found_by": "a"}, Standing.CHALLENGE, None),
        ({"objective": None, "bound": 2.0, "found_by": "a"}, Standing.CHALLENGE, None),
        ({"objective": None, "bound": None, "proved_by": "a"}, Standing.INFEASIBLE, None),
        ({"objective": None, "bound": None}, Standing.UNKNOWN, None),
    ],
)
def test_the_standing_follows_from_value_bound_and_proof(
    facts: dict[str, float | str | None], standing: Standing, gap: float | None
) -> None:
    """An optimum is proven where somebody proved it; else value and bound are a challenge, if there are any."""
    known = Known.of(with_about(changed(figure_5(), about=None), {**facts, "since": DAY}))

    assert (known.standing, known.gap, known.since) == (standing, gap, DAY)
    assert known.by == ("" if standing is Standing.UNKNOWN else "a")


def test_nothing_is_known_of_an_instance_that_says_nothing() -> None:
    """Without a word about itself an instance is unknown."""
    assert Known.of(changed(figure_5(), about=None)).standing is Standing.UNKNOWN
    assert Known.of(changed(figure_5(), about=About())).as_dict()["since"] is None


def test_values_without_fraction_are_integers() -> None:
    """What is counted is written without a point, and in full otherwise."""
    known = Known.of(with_about(figure_5(), {"objective": 7.0, "bound": 6.5, "proved_by": "", "since": DAY}))

    assert known.as_dict() == {
        "instance": "aryl-figure-5",
        "decision": "reclaiming",
        "size": "demand 2",
        "unit": "preemptions",
        "sense": "minimize",
        "objective": 7,
        "bound": 6.5,
        "gap": 0.5 / 6.5,
        "standing": "challenge",
        "by": "",
        "since": "2026-11-20",
    }
    assert isinstance(known.objective, int)
