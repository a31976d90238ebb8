"""The table of the synthetic year: it follows from the stored rows, which do not contradict each other."""

from tests.docs.scripts import DOCS, script

YEAR = script("year")


def test_the_table_follows_from_the_rows() -> None:
    """The page shows the table that the program makes of the stored rows."""
    assert f"\n\n{YEAR.table(YEAR.stored())}\n" in (DOCS / "suites.md").read_text("utf-8")


def test_no_policy_beats_the_bound() -> None:
    """Every row has both policies, which agree on rigid jobs, and a bound that is not above them."""
    rows = [row for row in YEAR.stored() if row["values"].keys() == YEAR.STEPS.keys()]
    assert rows
    for row in rows:
        assert row["values"]["bound"] <= row["values"]["srsf"] == row["values"]["marginal"]
        assert row["seconds"].keys() == {"making", *YEAR.STEPS}
