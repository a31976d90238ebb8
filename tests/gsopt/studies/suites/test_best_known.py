"""What files say of the committed instances: read, listed, and how far heuristics get on them."""

from csv import DictReader
from dataclasses import replace
from datetime import date
from io import StringIO

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.problem import About
from gsopt.evaluation.catalogue import load, names
from gsopt.evaluation.tables import text_of
from gsopt.problems.reader import problem_types
from gsopt.studies.suites import BestKnown, Families, Family, Known, Standing, best_known, families
from gsopt.studies.suites.families import Member
from gsopt.studies.suites.selection import select
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


def test_whatever_is_named_stands_for_its_instances() -> None:
    """A decision has all its instances, a suite those of its folder, and each is given once."""
    assert select([]) == names()
    assert select(["reclaiming"]) == names("reclaiming/")
    assert select(["reclaiming/small/"]) == names("reclaiming/small/")
    assert select(["reclaiming/small/graph", "reclaiming/small"])[0] == "reclaiming/small/graph"
    assert sorted(select(["reclaiming/small/graph", "reclaiming/small"])) == names("reclaiming/small/")


@pytest.mark.parametrize("wanted", ["reclaiming/sm", "", "/", "../reclaiming", "reclaiming/small/graph.json"])
def test_what_is_no_instance_is_refused(wanted: str) -> None:
    """Half a name, nothing, a root, a path or a file is named in one line."""
    with pytest.raises(InvalidInput, match="is not a decision, suite or committed instance"):
        select(["reclaiming", wanted])


#: Decisions whose optimum can take time that grows with more than a power of the size.
HARD = {
    "batching",
    "consolidation",
    "placement",
    "reclaiming",
    "scheduling",
    "sharing",
    "waiting",
}


def row(instance: str, objective: float | None = 3, bound: float | None = 3, **changes: object) -> Known:
    """Return a row of a table."""
    known = Known(
        instance=instance,
        decision="reclaiming",
        size={"demand": 2, "mode": "packed"},
        unit="preemptions",
        sense="minimize",
        objective=objective,
        bound=bound,
        standing=Standing.PROVEN if objective == bound else Standing.CHALLENGE,
        by="exact",
        since=date(2026, 11, 20),
    )
    return replace(known, **changes)  # type: ignore[arg-type]  # fields by name


def test_every_committed_instance_is_known() -> None:
    """Of every decision something is proven; each file says since when, and by whom."""
    found = best_known()
    assert [each.instance for each in found] == names()
    assert {each.decision for each in found if each.standing is Standing.PROVEN} == problem_types().keys()
    assert all(each.by and each.since for each in found)
    assert Standing.UNKNOWN not in {each.standing for each in found}


def test_decisions_have_challenges() -> None:
    """Of every decision that is hard to solve some instance is open; colocation is a matching, and has none."""
    open_ones = {each.decision for each in best_known() if each.standing is Standing.CHALLENGE}
    assert "colocation" not in open_ones
    assert open_ones >= HARD


def test_bounds_are_on_the_right_side() -> None:
    """No committed value is better than its bound, by more than the values' own resolution."""
    for each in best_known("waiting", "scheduling", "allocation/small"):
        problem = load(each.instance)
        if each.objective is not None and each.bound is not None:
            beyond = each.bound - each.objective if each.sense == "minimize" else each.objective - each.bound
            assert float(beyond) <= problem.resolution(each.objective)


def test_the_table_groups_suites_and_fits_a_page() -> None:
    """Names lose their suite to a line above; what does not fit is left out, and named."""
    rows = (row("b/three"), row("b/four", unit="cost"), row("b/five"), row("a/two", 1234.5678901234, 1000))
    found = BestKnown(rows)
    lines = str(found).splitlines()
    assert [line for line in lines if line.startswith("  ") is False and "(" in line] == [
        "a  (preemptions, minimize)",
        "b  (cost, minimize)",
        "b  (preemptions, minimize)",
    ]
    assert "challenge, 23.5 %" in str(found)
    assert "1,234.56789" in str(found)
    assert "demand 2 " in str(found)
    assert max(map(len, lines)) <= 80
    assert "2026-11-20" in text_of(found.table(200), 200)


def test_the_summary_counts_standings() -> None:
    """A suite has its instances counted by standing, and the widest of its gaps."""
    found = BestKnown((row("a/one"), row("a/two", 9, 6), row("a/three", 5, 4), row("b/four", None, None)))
    lines = [line.split() for line in text_of(found.summary()).splitlines()]
    assert ["a", "3", "1", "-", "2", "50.0", "%"] in lines
    assert len(found.having(Standing.CHALLENGE)) == 2


def test_the_table_in_other_forms_is_complete() -> None:
    """CSV and Markdown have every column and every row, CSV with all digits."""
    found = BestKnown((row("a/one", 0.1 + 0.2, 0.3), row("a/two")))
    first, second = DictReader(StringIO(found.to_csv()))
    assert float(first["objective"]) == 0.1 + 0.2
    figures = (second["instance"], second["size"], second["since"])
    assert figures == ("a/two", "demand 2, mode packed", "2026-11-20")
    assert found.to_markdown().splitlines()[3] == ("| a/two | demand 2 | 3 | 3 | proven | exact | 2026-11-20 |")
    assert BestKnown(()).to_csv() == ""


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
