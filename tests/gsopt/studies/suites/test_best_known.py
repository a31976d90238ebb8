"""The best-known table has every committed instance, as its file says."""

from csv import DictReader
from dataclasses import replace
from datetime import date
from io import StringIO

from gsopt.evaluation.catalogue import load, names
from gsopt.evaluation.tables import text_of
from gsopt.problems.reader import problem_types
from gsopt.studies.suites import BestKnown, Known, Standing, best_known

#: Decisions whose optimum can take time that grows with more than a power of the size.
HARD = (
    "allocation",
    "batching",
    "consolidation",
    "placement",
    "reclaiming",
    "scheduling",
    "sharing",
    "waiting",
)


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
    assert open_ones >= set(HARD)


def test_bounds_are_on_the_right_side() -> None:
    """No committed value is better than its bound, by more than the values' own resolution."""
    for each in best_known("waiting", "scheduling", "allocation/small"):
        problem = load(each.instance)
        if each.objective is not None and each.bound is not None:
            beyond = each.bound - each.objective if each.sense == "minimize" else each.objective - each.bound
            assert float(beyond) <= problem.resolution(each.objective)


def test_the_table_groups_suites_and_fits_a_page() -> None:
    """Names lose their suite to a line above; what does not fit is left out, and named."""
    found = BestKnown(
        (
            row("b/three"),
            row("b/four", unit="cost"),
            row("b/five"),  # among those of its unit
            row("a/two", 1234.5678901234, 1000),
        )
    )

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
    assert (second["instance"], second["size"], second["since"]) == (
        "a/two",
        "demand 2, mode packed",
        "2026-11-20",
    )
    assert found.to_markdown().splitlines()[3] == ("| a/two | demand 2 | 3 | 3 | proven | exact | 2026-11-20 |")
    assert BestKnown(()).to_csv() == ""
