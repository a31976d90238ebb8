"""How far heuristics get is summarised by suite."""

from gsopt.evaluation.catalogue import names
from gsopt.evaluation.tables import text_of
from gsopt.studies.suites import Families, Family, families
from gsopt.studies.suites.families import Member
from tests.gsopt.studies.suites.test_best_known import row


def member(values: dict[str, float], solved: set[str], objective: float = 2, bound: float = 2) -> Member:
    """Return an instance of some size and what heuristics find on it."""
    return Member(row("a/one", objective, bound, size={"jobs": objective}), dict(values), frozenset(solved))


def test_gaps_are_to_the_optimum_or_the_bound() -> None:
    """A heuristic's gap is that to the proven optimum, else to the bound; 0 where it finds the optimum."""
    proven = member({"good": 2.0000001, "bad": 3}, {"good"})
    challenge = member({"good": 6}, set(), objective=5, bound=4)

    assert (proven.gap("good"), proven.gap("bad"), proven.gap("other")) == (0.0, 0.5, None)
    assert challenge.gap("good") == 0.5
    family = Family("a", (proven, challenge))
    assert (family.solved, family.gaps, family.sizes) == (0.5, {"good": 0.25, "bad": 0.5}, "jobs 2 to 5")


def test_the_table_names_the_heuristics_at_both_ends() -> None:
    """The least and the largest mean gap stand with their heuristics; a suite without gaps has none."""
    found = Families(
        (Family("a", (member({"good": 2, "bad": 3}, {"good"}),)), Family("b", (member({}, set()),)))
    )

    assert found.to_markdown().splitlines()[2:] == [
        "| a | 1 | jobs 2 | 100.0 % | 0.0 % (good) | 50.0 % (bad) |",
        "| b | 1 | jobs 2 | 0.0 % | - | - |",
    ]
    assert "50.0 % (bad)" in text_of(found.table())
    assert found.records()[0]["mean_gaps"] == {"good": 0.0, "bad": 0.5}


def test_every_instance_with_a_solution_is_a_member() -> None:
    """Instances are told one by one; those without solution are no members."""
    told: list[str] = []
    wanted = ["allocation/small/cannot-start", "allocation/small/steps", "reclaiming/aryl-figure-5"]

    found = families(*wanted, on_instance=told.append)

    assert told == wanted
    assert [(each.suite, len(each.members)) for each in found] == [("allocation/small", 1), ("reclaiming", 1)]
    assert set(wanted) <= set(names())
    assert found[1].gaps["greedy"] == 0.0
