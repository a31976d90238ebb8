"""What a page holds."""

from gsopt.studies import report
from gsopt.studies.page.content import content
from tests.gsopt.studies.samples import found, row


def test_a_large_study_is_cut() -> None:
    """Of thousands of groups the first are shown, and all are in the file of the table."""
    rows = [row({"objective": 1}, group=f"g{number}") for number in range(2005)]
    results = found(*rows)
    page = content(
        results,
        report(results),
        spec='{"study": "test"}',
        runs=[],
        sources=[],
        pictures=[],
        gantts=[],
        options={},
    )
    assert (len(page.headline.lines), page.headline.total) == (2000, 2005)
    (decision,) = page.decisions
    assert (len(decision.by_instance().lines), decision.by_instance().total) == (1000, 2005)
    assert (len(decision.by_cell().lines), decision.by_cell().total) == (1000, 2005)
    assert page.spec == ("{", ' "study": "test"', "}")
